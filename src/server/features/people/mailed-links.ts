import { randomUUIDv7 } from 'node:crypto';

import { DAY_MS, HOUR_MS } from '../../../contract/durations.ts';
import { UsageError } from '../../../errors.ts';
import { type Administrator, findAccount, findAccountsOf } from '../../store/accounts/administrator-rows.ts';
import { countAuditRows, type Origin } from '../../store/accounts/audit-trail.ts';
import type { AuthorisedTransaction } from '../../store/accounts/authorised-transaction.ts';
import { insertLink, listInvitations, type PortalLink } from '../../store/accounts/link-rows.ts';
import { addNotice, type Notice } from '../../store/accounts/notice-rows.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { lockCompany } from '../../store/records/companies.ts';
import { OPENED_MAX } from '../sign-in/sign-in.ts';
import { recordArrival } from '../sign-in/sessions.ts';
import { mintTokenOf, tokenHash } from '../../access/tokens.ts';

const MAILED_RESET_HOURS = 1;
/** Invitations that one administrator makes in a day if they are mailed: the addresses are confirmed by nobody. */
const MAILED_INVITATIONS_MAX = 20;

/** Lets an invitation be mailed. @throws UsageError after too many of a day. */
export async function mailInvitation(authorised: AuthorisedTransaction, { id }: PortalLink): Promise<void> {
  const { transaction, company, by, now } = authorised;
  if (by === 'operator') return;
  const of = { company, administrator: by.id, action: 'invitation.created' } as const;
  const since = new Date(now.getTime() - DAY_MS);
  if ((await countAuditRows(transaction, of, since, MAILED_INVITATIONS_MAX + 1)) > MAILED_INVITATIONS_MAX)
    throw new UsageError(
      `You can let ${MAILED_INVITATIONS_MAX} invitations be mailed in a day. Take the link instead.`,
    );
  const details = { link: id, by: by.name, maker: by.id };
  await addNotice(transaction, { company, kind: 'invitation.created', administrator: null, details, now });
}

/**
 * The link that a mail brings. Its code is in no database, so each attempt to send the mail makes another, which ends the one
 * before. Undefined when the link was withdrawn, or its administrator removed.
 */
export async function linkForMail(
  transaction: StoreTransaction,
  { company, kind, administrator: id, details, createdAt }: Notice,
  now: Date,
): Promise<{ token: string; link: PortalLink } | undefined> {
  // Somebody who asked for a link and changed their password meanwhile must not get one days later.
  const askedMs = now.getTime() - Date.parse(createdAt);
  if (kind === 'reset.asked' && askedMs > MAILED_RESET_HOURS * HOUR_MS) return undefined;
  // Two mails at once must not leave two links.
  await lockCompany(transaction, company);
  const token = mintTokenOf(company);
  const account = await findAccount(transaction, { company, id: id ?? '' });
  const own = account && { madeBy: id, hours: MAILED_RESET_HOURS, now };
  const link =
    kind === 'invitation.created'
      ? (await listInvitations(transaction, company, now)).find((one) => one.id === details.link)
      : own && resetLink(account.administrator, own);
  if (link) await insertLink(transaction, link, tokenHash(token));
  return link && { token, link };
}

/**
 * Asks for a link by mail that sets a new password, for each account of an e-mail address. It is called after the answer, so
 * that nobody learns whether there are any.
 */
export async function askForReset(
  engine: Engine,
  { email, ...origin }: Origin & { email: string; now: Date },
): Promise<void> {
  for (const { administrator } of (await findAccountsOf(engine, email)).slice(0, OPENED_MAX))
    await engine.transaction(async (transaction) => {
      if (await lockCompany(transaction, administrator.company))
        await recordArrival(transaction, { administrator, ...origin }, 'reset.asked');
    });
}

/** A link for an administrator to set a new password. @param options.madeBy themselves, or null for an operator. */
export function resetLink(
  { id, company, email }: Administrator,
  { madeBy, hours, now }: { madeBy: string | null; hours: number; now: Date },
): PortalLink {
  return {
    ...{ id: randomUUIDv7(), kind: 'reset', company, administrator: id, email, madeBy },
    ...{ scopes: [], mayInvite: false, createdAt: now.toISOString() },
    expiresAt: new Date(now.getTime() + hours * HOUR_MS).toISOString(),
  };
}
