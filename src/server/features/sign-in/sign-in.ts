import { UsageError } from '../../../errors.ts';
import { canonicalEmail, EMAIL_CHARACTERS_MAX } from '../../access/checked-input.ts';
import type { SignInLimits } from '../../access/sign-in-limits.ts';
import {
  type Account,
  type Administrator,
  findAccountsOf,
  updateAdministratorRow,
} from '../../store/accounts/administrator-rows.ts';
import type { Origin } from '../../store/accounts/audit-trail.ts';
import { authorisedTransaction, type SignedIn } from '../../store/accounts/authorised-transaction.ts';
import { deleteLinksOf } from '../../store/accounts/link-rows.ts';
import { addNotice } from '../../store/accounts/notice-rows.ts';
import { deleteSessionRows } from '../../store/accounts/session-rows.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { getCompany } from '../../store/records/companies.ts';
import { knownBrowserOf, rememberBrowser } from './known-browsers.ts';
import { refuseWeakPassword } from './password-strength.ts';
import { arePasswords, hashPassword } from './passwords.ts';
import { reauthenticate, withSamePassword } from './proof.ts';
import { beginSession, endBrowserSessions, type Entry, recordFailedSignIn } from './sessions.ts';

/** Maximum number of accounts that one sign-in opens, oldest first: each lengthens the browser's cookie. */
export const OPENED_MAX = 20;

const WRONG = 'The email address or password is wrong.';

interface Attempt extends Entry {
  email: string;
  password: string;
  /** Receives the account before the password is checked, if the address has exactly one. */
  onAccount: (administrator: Administrator) => void;
  /** Runs work after the response, so that its duration reveals nothing. */
  afterwards: (work: () => Promise<void>) => void;
}

/**
 * Signs an administrator in by email address and password. They may open accounts of several companies; the sessions then
 * wait until one is chosen. The session of an account with a second factor waits until a code is given. Accounts that the
 * password doesn't open stay hidden: they affect neither messages, nor timing, nor counts.
 * @returns the tokens of the new sessions, whether they wait, and the new known-browser cookie.
 * @throws UsageError for a wrong address or password, with the same message and after the same time; AppError `rate_limited`
 *   after too many attempts.
 */
export async function signIn(
  engine: Engine,
  limits: SignInLimits,
  attempt: Attempt,
): Promise<{ tokens: string[]; isWaiting: boolean; browser: string }> {
  const { address, client, now, lengths, formerTokens = [] } = attempt;
  const { opened, isNewBrowser } = await openAccounts(engine, limits, attempt);
  // Sessions wait even if only one account remains, because another's password has just changed.
  let isWaiting = opened.length > 1;
  const tokens: string[] = [];
  for (const account of opened)
    await engine.transaction(async (transaction) => {
      const administrator = await withSamePassword(transaction, account);
      if (!administrator) return;
      isWaiting ||= administrator.hasSecondFactor;
      const begun = { administrator, address, client, now, lengths, isWaiting };
      // A waiting session is not yet signed in to its company.
      if (!isWaiting && isNewBrowser) await tellOfBrowser(transaction, begun);
      tokens.push(await beginSession(transaction, begun));
    });
  if (tokens.length === 0) throw new UsageError(WRONG);
  await endBrowserSessions(engine, formerTokens);
  const [own] = opened;
  return { tokens, isWaiting, browser: own && !isWaiting ? remember(attempt, own) : (attempt.browser ?? '') };
}

/** Computes the browser's cookie after a complete sign-in to an account. */
const remember = ({ browser, now }: Pick<Entry, 'browser' | 'now'>, account: Account) =>
  rememberBrowser(browser, account, now);

/** Notifies the account's owner of a sign-in from a new browser. @returns the new value of its cookie. */
export async function meetBrowser(
  transaction: StoreTransaction,
  account: Account,
  entry: Entry,
): Promise<string> {
  const { administrator } = account;
  if (knownBrowserOf(entry.browser, account, entry.now) === undefined)
    await tellOfBrowser(transaction, { ...entry, administrator });
  return remember(entry, account);
}

async function tellOfBrowser(
  transaction: StoreTransaction,
  { administrator, address, client, now }: Origin & { administrator: Administrator; now: Date },
): Promise<void> {
  const { company, id } = administrator;
  const details = { address, client, at: now.toISOString() };
  const kind = 'administrator.signed_in';
  await addNotice(transaction, { company, kind, administrator: id, details, now });
}

/**
 * Finds the accounts that an email address and a password open, and whether the browser is new to all accounts of the
 * address. If none opens, the failure is recorded in every company whose account was tried.
 */
async function openAccounts(
  engine: Engine,
  limits: SignInLimits,
  attempt: Attempt,
): Promise<{ opened: Account[]; isNewBrowser: boolean }> {
  const { password, address, client, now } = attempt;
  const email = canonicalEmail(attempt.email).slice(0, EMAIL_CHARACTERS_MAX);
  const accounts = await findAccountsOf(engine, email);
  const [first] = accounts;
  if (first && accounts.length === 1) attempt.onAccount(first.administrator);
  const numbers = (first ? accounts : [undefined]).map((account) =>
    knownBrowserOf(attempt.browser, account, now),
  );
  const browser = numbers.find((number) => number !== undefined);
  const counted = await limits.count({ email, address, browser });
  const tried = accounts.filter((_account, index) => counted.mayTryOthers || numbers[index] !== undefined);
  const stored = tried.map((account) => account.password);
  const areRight = await arePasswords(password, stored, { isKnown: browser !== undefined }).catch(
    async (error: unknown) => {
      await counted.forgive();
      throw error;
    },
  );
  const opened = tried.filter((_account, index) => areRight[index]).slice(0, OPENED_MAX);
  if (opened.length > 0) {
    await counted.forgive();
    return { opened, isNewBrowser: browser === undefined };
  }
  attempt.afterwards(async () => {
    for (const { administrator } of tried)
      await recordFailedSignIn(engine, { administrator, address, client, now });
  });
  throw new UsageError(WRONG);
}

/**
 * Changes an administrator's own password, and ends their other sessions and their reset links. Their other browsers stop
 * being known.
 * @returns the new value of the known-browser cookie.
 * @throws UsageError when the present password is wrong, or the new one too weak; the errors of `authorisedTransaction`.
 */
export async function changePassword(
  engine: Engine,
  limits: SignInLimits,
  change: {
    administrator: Administrator;
    by: SignedIn;
    present: string;
    next: string;
    serviceName: string;
    browser?: string | undefined;
    now: Date;
  },
): Promise<string> {
  const { administrator, by, present, next, serviceName, now } = change;
  const { company, email } = administrator;
  const own = { company, id: by.administrator };
  const account = await reauthenticate(engine, limits, {
    company,
    by,
    given: present,
    field: 'present',
    now,
  });
  const { name: companyName } = await getCompany(engine, company);
  await refuseWeakPassword(next, { ...administrator, companyName, serviceName });
  const password = await hashPassword(next, account.password);
  await limits.countNewPassword(email);
  await authorisedTransaction(engine, { company, by, now }, async (authorised) => {
    if (!(await withSamePassword(authorised.transaction, account)))
      throw new UsageError('Your current password is wrong.', { field: 'present' });
    await updateAdministratorRow(authorised.transaction, own, { password });
    await deleteSessionRows(authorised.transaction, own, { allBut: by.session });
    await deleteLinksOf(authorised.transaction, 'administrator', own);
    await authorised.record({ action: 'administrator.changed_password', subject: by.administrator });
  });
  return rememberBrowser(change.browser, { administrator, password }, now);
}
