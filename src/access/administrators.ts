import { isScope, type Scope, scopes } from '../contract/scopes.ts';
import { AppError, quote, UsageError } from '../errors.ts';
import {
  type Administrator,
  findAdministratorRow,
  findSignIn,
  listAdministratorRows,
  updateAdministratorRow,
} from '../store/portal/administrators.ts';
import type { Origin } from '../store/portal/audit.ts';
import { type Authority, doDeed, type SignedIn } from '../store/portal/deeds.ts';
import type { Engine, StoreTransaction } from '../store/engines/engine.ts';
import { deleteLinksOf } from '../store/portal/portal-links.ts';
import { deleteSessionRows } from '../store/portal/portal-sessions.ts';
import { lockCompany } from '../store/records/companies.ts';
import { getCompany } from './companies.ts';
import { knownBrowserOf, rememberBrowser } from './known-browsers.ts';
import { checkedLine } from './names.ts';
import { refuseWeakPassword } from './password-strength.ts';
import { hashPassword, isPassword } from './passwords.ts';
import { beginSession, recordFailedSignIn, type SessionLengths } from './sessions.ts';
import type { SignInLimits } from './sign-in-limits.ts';

const EMAIL_CHARACTERS_MAX = 254;
const NAME_CHARACTERS_MAX = 100;

/**
 * Signs an administrator in by e-mail address and password.
 * @returns the token of a new session, and the new value of the cookie that proves sign-ins from the browser.
 * @throws UsageError for a wrong address or a wrong password, in the same words and after the same time; AppError
 *   `rate_limited` after too many attempts.
 */
export async function signIn(
  engine: Engine,
  limits: SignInLimits,
  attempt: Origin & {
    email: string;
    password: string;
    /** The value of the browser's cookie with the proofs of former sign-ins; see known-browsers.ts. */
    browser?: string | undefined;
    now: Date;
    lengths: SessionLengths;
    /** Called with the account before the password is checked. */
    onAccount: (administrator: Administrator) => void;
  },
): Promise<{ token: string; administrator: Administrator; browser: string }> {
  const { password, address, client, now, lengths } = attempt;
  const email = canonicalEmail(attempt.email).slice(0, EMAIL_CHARACTERS_MAX);
  const found = await findSignIn(engine.db, email);
  if (found) attempt.onAccount(found.administrator);
  const account = found && { id: found.administrator.id, password: found.password };
  const browser = knownBrowserOf(attempt.browser, account, now);
  const counted = await limits.count({ email, address, browser });
  const isRight = await isPassword(password, found?.password, { isKnown: browser !== undefined });
  if (found && !isRight) await recordFailedSignIn(engine, found.administrator, { address, client }, now);
  if (!found || !isRight) throw new UsageError('The e-mail address or the password is wrong.');
  await counted.forgive();
  const { administrator } = found;
  const begun = await engine.transaction(async (transaction) => {
    if (!(await isStillPassword(engine, transaction, found)))
      throw new UsageError('The e-mail address or the password is wrong.');
    return beginSession(transaction, { administrator, address, client, now, lengths });
  });
  const remembered = { id: administrator.id, password: found.password };
  return { ...begun, browser: rememberBrowser(attempt.browser, remembered, now) };
}

/**
 * Changes an administrator's own password and ends their other sessions. Their other browsers have to prove themselves
 * anew.
 * @returns the new value of the cookie that proves sign-ins from the browser.
 * @throws UsageError when the present password is wrong, or the new one too weak; the errors of `doDeed`.
 */
export async function changePassword(
  engine: Engine,
  limits: SignInLimits,
  change: {
    administrator: Administrator;
    by: SignedIn;
    present: string;
    next: string;
    browser?: string | undefined;
    now: Date;
  },
): Promise<string> {
  const { administrator, by, present, next, now } = change;
  const counted = await limits.count({
    email: administrator.email,
    address: by.address,
    browser: by.session,
  });
  const found = await findSignIn(engine.db, administrator.email);
  const isRight = await isPassword(present, found?.password, { isKnown: true });
  const wrong = new UsageError('Your present password is not right.', { field: 'present' });
  if (!found || !isRight) throw wrong;
  await counted.forgive();
  const { name: companyName } = await getCompany(engine, administrator.company);
  await refuseWeakPassword(next, { ...administrator, companyName });
  const password = await hashPassword(next);
  await doDeed(engine, { company: administrator.company, by, now }, async (deed) => {
    if (!(await isStillPassword(engine, deed.transaction, found))) throw wrong;
    await updateAdministratorRow(deed.transaction, by.administrator, { password });
    await deleteSessionRows(deed.transaction, by.administrator, { allBut: by.session });
    await deed.record({ action: 'administrator.changed_password', subject: by.administrator });
  });
  return rememberBrowser(change.browser, { id: by.administrator, password }, now);
}

/**
 * Whether the password that was checked is still the administrator's. It may have been reset or changed, and they may
 * have been removed, while the check waited for its turn. The company stays locked, so that neither happens until the
 * transaction ends.
 */
async function isStillPassword(
  engine: Engine,
  transaction: StoreTransaction,
  checked: { administrator: Administrator; password: string },
): Promise<boolean> {
  const { company, email } = checked.administrator;
  await lockCompany(engine, transaction, company);
  const current = await findSignIn(transaction, email);
  // The stored form has a salt of its own, so it tells that it is the same person too.
  return current?.password === checked.password;
}

/**
 * The administrators of a company, oldest first, former ones included.
 * @throws UsageError when there is no such company.
 */
export async function listAdministrators(engine: Engine, company: string): Promise<Administrator[]> {
  await getCompany(engine, company);
  return listAdministratorRows(engine.db, company);
}

/**
 * Takes an administrator's access away at once: their sessions end, and so do the links that they made. Their keys and
 * webhooks stay. An administrator needs the right to invite to remove others and can't remove themselves, so a company
 * always keeps one who may invite, also when two remove each other at once. An operator may remove the last one.
 * @throws AppError `not_found` when the company has no such administrator; UsageError when `by` may not do that; the
 *   errors of `doDeed`.
 */
export async function removeAdministrator(
  engine: Engine,
  options: { company: string; id: string; by: Authority; now: Date },
): Promise<Administrator> {
  const { company, id, by, now } = options;
  return doDeed(engine, { company, by, now }, async (deed) => {
    const { transaction } = deed;
    const administrator = await findAdministratorRow(transaction, company, id);
    if (!administrator || administrator.disabledAt !== null)
      throw new AppError('not_found', 'There is no such administrator.');
    const reason = whyNotRemove(administrator, deed.by);
    if (reason !== undefined) throw new UsageError(reason);
    await updateAdministratorRow(transaction, id, { disabledAt: now.toISOString() });
    await deleteSessionRows(transaction, id);
    await deleteLinksOf(transaction, id);
    await deed.record({
      action: 'administrator.removed',
      subject: id,
      details: { name: administrator.name, email: administrator.email },
    });
    return { ...administrator, disabledAt: now.toISOString() };
  });
}

/** The reason why somebody may not remove an administrator; undefined when they may. */
export function whyNotRemove(
  administrator: Administrator,
  by: Administrator | 'operator',
): string | undefined {
  if (by === 'operator') return undefined;
  if (by.id === administrator.id) return "You can't remove yourself; ask another administrator.";
  if (!by.mayInvite) return 'You are not allowed to invite or remove administrators.';
  const more = administrator.scopes.filter((scope) => !by.scopes.includes(scope));
  if (more.length > 0) return `${administrator.name} has access that you don't have: ${more.join(', ')}.`;
  return undefined;
}

/** The stored form of an e-mail address: capitals don't matter. */
function canonicalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** @throws UsageError naming the value when it isn't an e-mail address. */
export function checkedEmail(given: string): string {
  const email = canonicalEmail(given);
  // Only a message to the address could show more.
  if (
    email.length > EMAIL_CHARACTERS_MAX ||
    !/^[^\s@"<>(),:;\\[\]\p{C}]+@[^\s@"<>(),:;\\[\]\p{C}]+$/u.test(email)
  )
    throw new UsageError(`${quote(given)} is not an e-mail address such as jane@example.com.`);
  return email;
}

/** @throws UsageError when the name is empty, too long, not one line, or has a character that can't be seen. */
export function checkedName(given: string): string {
  return checkedLine(given, 'The name', NAME_CHARACTERS_MAX);
}

/**
 * Checks the scopes that somebody gives: they can give only their own (service.md, "Authentication").
 * @throws UsageError naming the scope that is refused, or when there is none.
 */
export function grantedScopes(
  given: readonly string[],
  by: Pick<Administrator, 'scopes'> | 'operator',
): Scope[] {
  const own = by === 'operator' ? scopes : by.scopes;
  if (given.length === 0) throw new UsageError(`Choose at least one scope of ${own.join(', ')}.`);
  for (const scope of given) {
    if (isScope(scope) && own.includes(scope)) continue;
    const rule =
      by === 'operator' ? 'is not a scope; the scopes are' : 'is not a scope that you can give; you have';
    throw new UsageError(`${quote(scope)} ${rule} ${own.join(', ')}.`);
  }
  return scopes.filter((scope) => given.includes(scope));
}
