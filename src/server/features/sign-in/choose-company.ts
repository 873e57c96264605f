import { UsageError } from '../../../errors.ts';
import type { SecretBox } from '../../process/secret-box.ts';
import { type Administrator, findAccount } from '../../store/accounts/administrator-rows.ts';
import { deleteSessionRows, updateSession } from '../../store/accounts/session-rows.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { lockCompany } from '../../store/records/companies.ts';
import { meetBrowser } from './sign-in.ts';
import { knownBrowserOf } from './known-browsers.ts';
import { consumeSecondFactorCode, WRONG_CODE } from './second-factor.ts';
import {
  beginSession,
  type Entry,
  listBrowserSessions,
  recordFailedSignIn,
  recordSignIn,
} from './sessions.ts';
import type { SignInLimits } from '../../access/sign-in-limits.ts';

interface Choice extends Omit<Entry, 'formerTokens'> {
  tokens: readonly string[];
  company: string;
  /** Code of the account's second factor, if one was asked for. */
  code?: string | undefined;
}

interface Entered {
  /** The token of the chosen company's session, followed by the tokens of the browser's other sessions. */
  tokens: string[];
  administrator: Administrator;
  /** The new value of the known-browser cookie; set only when this completes the sign-in. */
  browser?: string;
}

/**
 * Switches a browser to the session of one company, among those that its sign-in began. On the first switch, the company's
 * audit trail records the sign-in, and an account with a second factor needs a code.
 * @throws UsageError when the browser has no session of the company; UsageError for the field `code` when that is wrong;
 *   AppError `rate_limited` after too many codes.
 */
export async function chooseCompany(
  engine: Engine,
  { limits, secrets }: { limits: SignInLimits; secrets: SecretBox },
  choice: Choice,
): Promise<Entered | 'code needed'> {
  const { administrator } = await findChosen(engine.db, choice);
  const counted =
    choice.code === undefined ? undefined : await countCode(engine, limits, choice, administrator);
  const entered = await engine.transaction((transaction) => enter(transaction, secrets, choice));
  if (entered === 'wrong code') {
    await recordFailedSignIn(engine, { ...choice, administrator }, { wrong: 'code, not password' });
    throw new UsageError(WRONG_CODE, { field: 'code' });
  }
  await counted?.forgive();
  return entered;
}

async function findChosen(db: Connection, { tokens, company, lengths, now }: Choice) {
  const sessions = await listBrowserSessions(db, tokens, lengths, now);
  const chosen = sessions.find(({ administrator }) => administrator.company === company);
  if (!chosen) throw new UsageError('You are no longer signed in to that company. Sign in again.');
  return chosen;
}

/** Counts a code like a password attempt. A browser that has completed a sign-in before has its own count. */
async function countCode(
  { db }: Engine,
  limits: SignInLimits,
  { browser, address, now }: Choice,
  { company, id, email }: Administrator,
): ReturnType<SignInLimits['count']> {
  const account = await findAccount(db, { company, id });
  const known = knownBrowserOf(browser, account, now);
  return limits.count({ email, address, browser: known });
}

async function enter(
  transaction: StoreTransaction,
  secrets: SecretBox,
  choice: Choice,
): Promise<Entered | 'code needed' | 'wrong code'> {
  const { tokens, company, code, now } = choice;
  await lockCompany(transaction, company);
  const { session, administrator } = await findChosen(transaction, choice);
  const others = tokens.filter((token) => token !== session.token);
  const same = { tokens: [session.token, ...others], administrator };
  if (!session.isWaiting) return same;
  const arrival = { ...choice, administrator };
  const { id } = administrator;
  const account = await findAccount(transaction, { company, id });
  if (!account?.secondFactor) {
    await updateSession(transaction, session, { isWaiting: false });
    await recordSignIn(transaction, arrival);
    return account ? { ...same, browser: await meetBrowser(transaction, account, choice) } : same;
  }
  if (code === undefined) return 'code needed';
  const taken = await consumeSecondFactorCode(transaction, secrets, account, { given: code, now });
  if (!taken) return 'wrong code';
  // An attacker may have begun the session and planted its cookie in this browser, hoping to be let in with it.
  await deleteSessionRows(transaction, { company, id }, { id: session.id });
  const token = await beginSession(transaction, { ...arrival, details: { code: taken } });
  const browser = await meetBrowser(transaction, account, choice);
  return { tokens: [token, ...others], administrator, browser };
}
