import { randomUUIDv7 } from 'node:crypto';

import { MINUTE_MS } from '../../../contract/durations.ts';
import { AppError } from '../../../errors.ts';
import {
  type AccountKey,
  type Administrator,
  updateAdministratorRow,
} from '../../store/accounts/administrator-rows.ts';
import {
  type AuditAction,
  countAuditEntries,
  type Origin,
  recordEntry,
} from '../../store/accounts/audit-trail.ts';
import { lockCompany } from '../../store/records/companies.ts';
import {
  type Act,
  authorisedTransaction,
  type SignedIn,
} from '../../store/accounts/authorised-transaction.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import {
  type ActiveSession,
  deleteSessionRows,
  deleteSession,
  findSession,
  insertSession,
  listSessionRows,
  type Session,
  type SessionLengths,
  touchSession,
} from '../../store/accounts/session-rows.ts';
import { hashedToken, mintTokenOf, tokenHash } from '../../access/tokens.ts';

/** The browser in which a person is signing in. */
export interface Entry extends Origin {
  /** The cookie that proves the browser's earlier sign-ins; see known-browsers.ts. */
  browser?: string | undefined;
  /** Tokens of the browser's existing sessions, which end on entry. */
  formerTokens?: readonly string[];
  now: Date;
  lengths: SessionLengths;
}

interface BrowserSession {
  session: ActiveSession;
  administrator: Administrator;
}

/** Maximum number of failed sign-ins recorded per account and day, so that password guessing can't fill the audit trail. */
const FAILED_SIGN_INS_RECORDED_MAX = 20;

/**
 * Begins a session for an administrator who has proved their identity, and returns its token.
 * @param options.isWaiting whether the session stays unusable until its company is chosen and any code given; see
 *   choose-company.ts.
 * @param options.details details of the sign-in for the audit trail.
 */
export async function beginSession(
  transaction: StoreTransaction,
  options: Arrival & { lengths: SessionLengths; isWaiting?: boolean; details?: Record<string, string> },
): Promise<string> {
  const { administrator, client, now, lengths, isWaiting = false, details } = options;
  if (!isWaiting) await recordSignIn(transaction, options, details);
  const { company } = administrator;
  const token = mintTokenOf(company);
  const session: Session = {
    id: randomUUIDv7(),
    company,
    administrator: administrator.id,
    client,
    createdAt: now.toISOString(),
    seenAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + lengths.hoursMax * 60 * MINUTE_MS).toISOString(),
    isWaiting,
    provedAt: now.toISOString(),
  };
  await insertSession(transaction, session, tokenHash(token));
  return token;
}

type Arrival = Origin & { administrator: Administrator; now: Date };

/** Records an action of an administrator who has no session yet, such as a successful or failed sign-in. */
export async function recordArrival(
  transaction: StoreTransaction,
  { administrator: { company, id, name }, address, client, now }: Arrival,
  action: AuditAction,
  details: Record<string, string> = {},
): Promise<void> {
  const by = { id, name, address, client };
  await recordEntry(transaction, { company, by, action, subject: id, details, now });
}

export async function recordSignIn(
  transaction: StoreTransaction,
  arrival: Arrival,
  details?: Record<string, string>,
): Promise<void> {
  const { administrator, now } = arrival;
  await updateAdministratorRow(transaction, administrator, { signedInAt: now.toISOString() });
  await recordArrival(transaction, arrival, 'administrator.signed_in', details);
}

export async function endBrowserSessions(engine: Engine, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) await deleteSession(engine, hashedToken(token));
}

/**
 * Records a wrong password or code for an account in the audit trail, up to a daily limit (UTC). The day's last entry says
 * that later ones aren't recorded.
 */
export async function recordFailedSignIn(
  engine: Engine,
  arrival: Arrival,
  given: Record<string, string> = {},
): Promise<void> {
  const { administrator, now } = arrival;
  const { company, id } = administrator;
  const action = 'administrator.sign_in_failed';
  const ofDay = { administrator: id, action, from: new Date(now.toISOString().slice(0, 10)) } as const;
  await engine.transaction(async (transaction) => {
    // The lock ensures that simultaneous attempts are all counted.
    await lockCompany(transaction, company);
    const present = await countAuditEntries(transaction, company, ofDay, FAILED_SIGN_INS_RECORDED_MAX);
    if (present >= FAILED_SIGN_INS_RECORDED_MAX) return;
    const isLast = present === FAILED_SIGN_INS_RECORDED_MAX - 1;
    const details = isLast ? { ...given, note: 'Later ones of this day are not recorded.' } : given;
    await recordArrival(transaction, arrival, action, details);
  });
}

/** Lists a browser's sessions that haven't ended, in the order of its tokens; the first token is the one in use. */
export async function listBrowserSessions(
  db: Connection,
  tokens: readonly string[],
  lengths: SessionLengths,
  now: Date,
): Promise<BrowserSession[]> {
  const found: BrowserSession[] = [];
  for (const token of tokens) {
    const one = await findSession(db, hashedToken(token));
    if (one && !hasEnded(one.session, lengths, now))
      found.push({ session: { ...one.session, token }, administrator: one.administrator });
  }
  return found;
}

/**
 * Finds the session that a browser is using; undefined when it has none. Records the use of all the browser's sessions, at
 * most once a minute, so that reading pages causes few writes.
 */
export async function useSession(
  engine: Engine,
  tokens: readonly string[],
  lengths: SessionLengths,
  now: Date,
): Promise<BrowserSession | undefined> {
  const [first] = await listBrowserSessions(engine.db, tokens, lengths, now);
  if (!first || first.session.token !== tokens[0] || first.session.isWaiting) return undefined;
  if (now.getTime() - Date.parse(first.session.seenAt) >= MINUTE_MS) {
    const used = { seenAt: now.toISOString(), idleSince: idleSince(lengths, now) };
    for (const token of tokens) await touchSession(engine, hashedToken(token), used);
  }
  return first;
}

/** Computes the cut-off for idle sessions: a session last used at this time or earlier has ended. */
function idleSince({ idleMinutes }: SessionLengths, now: Date): string {
  return new Date(now.getTime() - idleMinutes * MINUTE_MS).toISOString();
}

function hasEnded({ seenAt, expiresAt }: Session, lengths: SessionLengths, now: Date): boolean {
  return expiresAt <= now.toISOString() || seenAt <= idleSince(lengths, now);
}

/** Lists an administrator's sessions that haven't ended, newest first. */
export async function listSessions(
  engine: Engine,
  administrator: AccountKey,
  lengths: SessionLengths,
  now: Date,
): Promise<Session[]> {
  const sessions = await listSessionRows(engine, administrator);
  return sessions.filter((session) => !hasEnded(session, lengths, now));
}

/**
 * Ends an administrator's own sessions: one by its id, or all of them. Ending the session in use needs no fresh proof of
 * identity.
 * @param options.tokens tokens of further sessions in the browser, which end too.
 * @throws AppError `not_found` when they have no session with that id; the errors of `authorisedTransaction`.
 */
export async function endSessions(
  engine: Engine,
  { id, tokens = [], ...act }: Act<SignedIn> & { id?: string | undefined; tokens?: readonly string[] },
): Promise<void> {
  const { company, by } = act;
  const isProofNeeded = id !== by.session;
  await authorisedTransaction(engine, { ...act, isProofNeeded }, async ({ transaction }) => {
    const which = id === undefined ? {} : { id };
    const count = await deleteSessionRows(transaction, { company, id: by.administrator }, which);
    if (count === 0) throw new AppError('not_found', 'There is no session with this id.');
  });
  await endBrowserSessions(engine, tokens);
}
