import { maySeeEvent } from '../../../contract/withholding.ts';
import { AppError, UsageError } from '../../../errors.ts';
import {
  type Administrator,
  listAdministratorRows,
  NO_PASSWORD,
  updateAdministratorRow,
} from '../../store/accounts/administrator-rows.ts';
import {
  type Act,
  type AuthorisedTransaction,
  authorisedTransaction,
} from '../../store/accounts/authorised-transaction.ts';
import { deleteLinksOf } from '../../store/accounts/link-rows.ts';
import { listWebhookRows, webhookName } from '../webhooks/stored-webhooks.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { listKeysMadeBy } from '../keys/stored-keys.ts';
import { deleteIn } from '../webhooks/registration.ts';
import {
  type Access,
  accessText,
  goesBeyond,
  grantedScopes,
  whyNotInvite,
} from '../../access/checked-input.ts';
import { revokeIn } from '../keys/keys.ts';

/**
 * Changes an administrator's access, within the access of the person making the change. An operator can also readmit a
 * removed administrator, who then has no password until they use a reset link. If the access is reduced, the invitations
 * that the administrator made end.
 * @param options.revoke ids of keys and webhooks that they made, which end too if they go beyond the new access.
 * @returns the changed administrator, and the keys and webhooks of theirs beyond the new access: those ended now, and those
 *   that keep working.
 * @throws AppError `not_found` when the company has no such administrator; UsageError when `by` may not change them; the
 *   errors of `authorisedTransaction`.
 */
export async function changeAccess(
  engine: Engine,
  options: Act & {
    id: string;
    scopes: readonly string[];
    mayInvite: boolean;
    revoke: 'all' | readonly string[];
  },
): Promise<{ administrator: Administrator; ended: Made[]; left: Made[] }> {
  const { company, id, mayInvite, revoke } = options;
  return authorisedTransaction(engine, options, async (authorised) => {
    const { transaction } = authorised;
    const before = await getOther(authorised, id, { isRemovedToo: authorised.by === 'operator' });
    const scopes = grantedScopes(options.scopes, authorised.by);
    const administrator = { ...before, scopes, mayInvite, disabledAt: null };
    await updateAdministratorRow(transaction, before, { scopes, mayInvite, disabledAt: null });
    await endWiderInvitations(transaction, before, administrator);
    const isBack = before.disabledAt !== null;
    // A leaked password may be why they were removed.
    if (isBack) await updateAdministratorRow(transaction, before, { password: NO_PASSWORD });
    const details = {
      ...{ name: before.name, access: accessText(administrator), before: accessText(before) },
      ...(isBack && { 'let in again': 'yes' }),
    };
    // Saving unchanged access isn't recorded.
    if (isBack || details.access !== details.before)
      await authorised.record({ action: 'administrator.access_changed', subject: id, details });
    const [ended, left]: [Made[], Made[]] = [[], []];
    const mark = async (made: Made, end: () => Promise<unknown>) => {
      const isNamed = revoke === 'all' || revoke.includes(made.id);
      if (isNamed) await end();
      (isNamed ? ended : left).push(made);
    };
    for (const { id: key, name, scopes: held } of await listKeysMadeBy(authorised, id))
      if (held.some((scope) => !scopes.includes(scope)))
        await mark({ id: key, name }, () => revokeIn(authorised, key));
    for (const webhook of await listWebhookRows({ db: transaction }, company))
      if (webhook.madeBy === id && !webhook.events.every((kind) => maySeeEvent(scopes, kind)))
        await mark({ id: webhook.id, name: webhookName(webhook) }, () => deleteIn(authorised, webhook));
    return { administrator, ended, left };
  });
}

/** Ends all invitations that an administrator made, if their access has been reduced. */
export async function endWiderInvitations(
  transaction: StoreTransaction,
  before: Administrator,
  after: Access,
): Promise<void> {
  if (goesBeyond(before, after)) await deleteLinksOf(transaction, 'made_by', before);
}

/** A key or webhook, with the key's name or the webhook's host for display. */
interface Made {
  id: string;
  name: string;
}

/** Finds the administrator that an authorised transaction is about to change, and checks that its author may do so. */
export async function getOther(
  { transaction, company, by }: AuthorisedTransaction,
  id: string,
  { isRemovedToo = false } = {},
): Promise<Administrator> {
  const all = await listAdministratorRows(transaction, company);
  const found = all.find((one) => one.id === id && (one.disabledAt === null || isRemovedToo));
  if (!found) throw new AppError('not_found', 'There is no administrator with this id.');
  const reason = whyNotManage(found, by);
  if (reason !== undefined) throw new UsageError(reason);
  return found;
}

/** Explains why a person isn't allowed to remove an administrator or change their access; undefined if allowed. */
export function whyNotManage(
  administrator: Administrator,
  by: Administrator | 'operator',
): string | undefined {
  if (by === 'operator') return undefined;
  if (by.id === administrator.id)
    return "You can't change or remove your own access. Ask another administrator.";
  const reason = whyNotInvite(by);
  if (reason !== undefined) return reason;
  const more = administrator.scopes.filter((scope) => !by.scopes.includes(scope));
  if (more.length > 0) return `${administrator.name} has access that you don't have: ${more.join(', ')}.`;
  return undefined;
}
