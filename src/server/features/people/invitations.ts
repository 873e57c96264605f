import { randomUUIDv7 } from 'node:crypto';

import { HOUR_MS } from '../../../contract/durations.ts';
import { AppError, quote, UsageError } from '../../../errors.ts';
import {
  type Administrator,
  findAccount,
  findAccountsOf,
  insertAdministrator,
  listAdministratorRows,
  newAdministrator,
  updateAdministratorRow,
} from '../../store/accounts/administrator-rows.ts';
import { actorId, type Origin } from '../../store/accounts/audit-trail.ts';
import { getCompany, lockCompany } from '../../store/records/companies.ts';
import {
  type Act,
  type AuthorisedTransaction,
  authorisedTransaction,
} from '../../store/accounts/authorised-transaction.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import {
  deleteInvitation,
  deleteLinksOf,
  findLink,
  insertLink,
  listInvitations,
  type PortalLink,
  takeLink,
} from '../../store/accounts/link-rows.ts';
import { deleteSessionRows } from '../../store/accounts/session-rows.ts';
import { getByEmail } from './administrators.ts';
import {
  checkedEmail,
  checkedName,
  grantedScopes,
  refuseInviting,
  whyNotInvite,
} from '../../access/checked-input.ts';
import { rememberBrowser } from '../sign-in/known-browsers.ts';
import { mailInvitation, resetLink } from './mailed-links.ts';
import { refuseWeakPassword } from '../sign-in/password-strength.ts';
import { hashPassword } from '../sign-in/passwords.ts';
import { beginSession, endBrowserSessions, type Entry, recordArrival } from '../sign-in/sessions.ts';
import type { SignInLimits } from '../../access/sign-in-limits.ts';
import { hashedToken, mintTokenOf, tokenHash } from '../../access/tokens.ts';

const INVITATION_HOURS = 72;
const RESET_HOURS = 24;
/** Maximum number of open invitations per company. */
export const INVITATIONS_MAX = 20;
/** Maximum number of active administrators per company. */
const ADMINISTRATORS_MAX = 50;

/** Message for any link that can't be used. It gives no reason, because the link may be somebody else's. */
export const UNUSABLE =
  'This link no longer works: it was used, has expired, or was replaced. If you set your password with it, ' +
  'sign in with your email address and that password. Otherwise ask for a new link where you got it.';

/**
 * Invites a person to administer a company.
 * @param options.isMailed whether they are mailed a link, with a code of its own (`linkForMail`).
 * @returns the token of the link, which can't be shown again. A second invitation of the same person replaces the first,
 *   unless the first gives access that `by` doesn't have.
 * @throws UsageError naming the refused value, when `by` may not invite, and when there are too many; the errors of
 *   `authorisedTransaction`.
 */
export async function invite(
  engine: Engine,
  options: Act & { email: string; scopes: readonly string[]; mayInvite: boolean; isMailed?: boolean },
): Promise<{ token: string; invitation: PortalLink }> {
  const { company, now, mayInvite } = options;
  const email = checkedEmail(options.email);
  const token = mintTokenOf(company);
  return authorisedTransaction(engine, options, async (authorised) => {
    refuseInviting(authorised.by);
    const link: PortalLink = {
      id: randomUUIDv7(),
      kind: 'invitation',
      company,
      administrator: null,
      email,
      scopes: grantedScopes(options.scopes, authorised.by),
      mayInvite,
      madeBy: actorId(authorised.by),
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + INVITATION_HOURS * HOUR_MS).toISOString(),
    };
    await refuseInvitation(authorised, email);
    await insertLink(authorised.transaction, link, tokenHash(token));
    await authorised.record({
      action: 'invitation.created',
      subject: link.id,
      details: { email, scopes: link.scopes.join(' ') },
    });
    if (options.isMailed) await mailInvitation(authorised, link);
    return { token, invitation: link };
  });
}

/** @throws UsageError when the address can't be invited, or `by` may not invite it. */
async function refuseInvitation(
  { transaction, company, by, now }: AuthorisedTransaction,
  email: string,
): Promise<void> {
  const present = (await listAdministratorRows(transaction, company)).filter(
    ({ disabledAt }) => disabledAt === null,
  );
  if (present.some((one) => one.email === email))
    throw new UsageError(`${quote(email)} is already an administrator of this company.`);
  refuseAnother(present);
  const open = await listInvitations(transaction, company, now);
  const waiting = open.find((one) => one.email === email);
  if (!waiting && open.length >= INVITATIONS_MAX)
    throw new UsageError(`A company can have up to ${INVITATIONS_MAX} open invitations. Withdraw one first.`);
  const more = waiting && whyNotWithdraw(waiting, by);
  if (more !== undefined)
    throw new UsageError(
      `${quote(email)} is already invited, and a new invitation would replace that one. ${more}`,
    );
}

/** @throws UsageError when the company already has the maximum number of administrators. */
export function refuseAnother(active: readonly Administrator[]): void {
  if (active.length >= ADMINISTRATORS_MAX)
    throw new UsageError(`A company can have up to ${ADMINISTRATORS_MAX} administrators. Remove one first.`);
}

/** Explains why an administrator isn't allowed to withdraw an open invitation; undefined if allowed. */
export function whyNotWithdraw(
  { email, scopes }: Pick<PortalLink, 'email' | 'scopes'>,
  by: Pick<Administrator, 'mayInvite' | 'scopes'> | 'operator',
): string | undefined {
  if (by === 'operator') return undefined;
  const more = scopes.filter((scope) => !by.scopes.includes(scope));
  if (more.length === 0) return whyNotInvite(by);
  return `The invitation to ${email} gives access that you don't have: ${more.join(', ')}.`;
}

/**
 * Creates a password-reset link for an administrator. Only an operator can, after checking the identity of the person asking.
 * @throws UsageError when nobody of that email address administers the company.
 */
export async function inviteToReset(
  engine: Engine,
  { company, email, now }: { company: string; email: string; now: Date },
): Promise<{ token: string; administrator: Administrator }> {
  const administrator = await getByEmail(engine.db, company, email);
  const link = resetLink(administrator, { madeBy: null, hours: RESET_HOURS, now });
  const token = mintTokenOf(company);
  await authorisedTransaction(engine, { company, by: 'operator', now }, async (authorised) => {
    await insertLink(authorised.transaction, link, tokenHash(token));
    await authorised.record({
      action: 'reset.created',
      subject: administrator.id,
      details: { email: administrator.email },
    });
  });
  return { token, administrator };
}

/**
 * Finds a link without using it up.
 * @throws UsageError when it can't be used.
 */
export async function getLink(engine: Engine, token: string, now: Date): Promise<PortalLink> {
  const link = await findLink(engine, hashedToken(token), now.toISOString());
  if (!link) throw new UsageError(UNUSABLE);
  return link;
}

/**
 * Uses up a link: an invited person becomes an administrator, or an administrator gets a new password and all their sessions
 * end. They are then signed in, or their session waits for a second-factor code.
 * @param use.name the name of an invited person.
 * @throws UsageError when the link can't be used, or the name or the password is refused; after a refused name or password
 *   the link stays usable.
 */
export async function acceptLink(
  engine: Engine,
  limits: SignInLimits,
  use: Entry & { token: string; name: string; password: string; serviceName: string },
): Promise<{ token: string; administrator: Administrator; browser: string }> {
  const { address, client, now, lengths, serviceName, formerTokens = [] } = use;
  const { kind, company, email, vouched } = await getLink(engine, use.token, now);
  if (vouched) throw new UsageError(UNUSABLE);
  const accounts = await findAccountsOf(engine, email);
  const own = await findAccount(engine.db, { company, email });
  const name = kind === 'invitation' ? checkedName(use.name) : (own?.administrator.name ?? '');
  const { name: companyName } = await getCompany(engine, company);
  await refuseWeakPassword(use.password, { email, name, companyName, serviceName });
  const password = await hashPassword(use.password, accounts[0]?.password);
  await limits.countNewPassword(email);
  const begun = await engine.transaction(async (transaction) => {
    const isThere = await lockCompany(transaction, company);
    const link = isThere && (await takeLink(transaction, hashedToken(use.token), now.toISOString()));
    if (!link) throw new UsageError(UNUSABLE);
    const administrator =
      link.kind === 'invitation'
        ? await addInvited(transaction, { link, name, password, address, client, now })
        : await resetPassword(transaction, { link, password, address, client, now });
    const arrival = { administrator, address, client, now, lengths };
    const isWaiting = administrator.hasSecondFactor;
    const token = await beginSession(transaction, { ...arrival, isWaiting });
    return { token, administrator };
  });
  await endBrowserSessions(engine, formerTokens);
  // The browser counts as known even before a code is given. Otherwise other people's guesses could lock out a person who has
  // just proved that the mailbox is theirs.
  return { ...begun, browser: rememberBrowser(use.browser, { ...begun, password }, now) };
}

async function addInvited(
  transaction: StoreTransaction,
  use: Origin & { link: PortalLink; name: string; password: string; now: Date },
): Promise<Administrator> {
  const { link, name, password, now } = use;
  const administrator = newAdministrator({ ...link, name }, now);
  if (!(await insertAdministrator(transaction, administrator, password))) throw new UsageError(UNUSABLE);
  const { email } = administrator;
  await recordArrival(transaction, { ...use, administrator }, 'invitation.accepted', { email });
  return administrator;
}

async function resetPassword(
  transaction: StoreTransaction,
  use: Origin & { link: PortalLink; password: string; now: Date },
): Promise<Administrator> {
  const { link, password } = use;
  const account = await findAccount(transaction, { company: link.company, id: link.administrator ?? '' });
  if (!account) throw new UsageError(UNUSABLE);
  const found = account.administrator;
  await updateAdministratorRow(transaction, found, { password });
  await deleteSessionRows(transaction, found);
  await deleteLinksOf(transaction, 'administrator', found);
  await recordArrival(transaction, { ...use, administrator: found }, 'reset.used');
  return found;
}

/**
 * Withdraws an open invitation.
 * @throws AppError `not_found` when the company has no such invitation; UsageError when `by` may not invite, or lacks some of
 *   the access that it gives; the errors of `authorisedTransaction`.
 */
export async function withdrawInvitation(
  engine: Engine,
  { id, ...act }: Act & { id: string },
): Promise<PortalLink> {
  return authorisedTransaction(engine, act, async (authorised) => {
    refuseInviting(authorised.by);
    const link = await deleteInvitation(authorised.transaction, act.company, id);
    if (!link) throw new AppError('not_found', 'There is no invitation with this id.');
    const more = whyNotWithdraw(link, authorised.by);
    if (more !== undefined) throw new UsageError(more);
    await authorised.record({ action: 'invitation.withdrawn', subject: id, details: { email: link.email } });
    return link;
  });
}
