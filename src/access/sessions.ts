import { randomUUIDv7 } from 'node:crypto';

import { AppError } from '../errors.ts';
import { type Administrator, updateAdministratorRow } from '../store/portal/administrators.ts';
import { countAuditRows, type Origin, recordEntry } from '../store/portal/audit.ts';
import { lockCompany } from '../store/records/companies.ts';
import { doDeed, type SignedIn } from '../store/portal/deeds.ts';
import type { Engine, StoreTransaction } from '../store/engines/engine.ts';
import {
  createSessionFinder,
  deleteSessionRows,
  insertSession,
  listSessionRows,
  type Session,
  touchSession,
} from '../store/portal/portal-sessions.ts';
import { isToken, mintToken, tokenHash } from './tokens.ts';

/** How long a session lasts. */
export interface SessionLengths {
  /** Without use. */
  idleMinutes: number;
  /** Even while it is used. */
  hoursMax: number;
}

/** A session that is in use. */
export interface ActiveSession extends Session {
  /** The value of its cookie. */
  token: string;
}

const MINUTE_MS = 60_000;
/** Failed sign-ins to one account that are recorded in a day, so that somebody who guesses can't fill the audit trail. */
const FAILED_SIGN_INS_RECORDED_MAX = 20;

/** Begins the session of an administrator who has proved who they are, and records it. */
export async function beginSession(
  transaction: StoreTransaction,
  options: Origin & { administrator: Administrator; now: Date; lengths: SessionLengths },
): Promise<{ token: string; administrator: Administrator }> {
  const { administrator, address, client, now, lengths } = options;
  const { company, id } = administrator;
  await updateAdministratorRow(transaction, id, { signedInAt: now.toISOString() });
  await recordEntry(transaction, {
    company,
    by: { id, name: administrator.name, address, client },
    action: 'administrator.signed_in',
    subject: id,
    now,
  });
  const token = mintToken();
  const session: Session = {
    id: randomUUIDv7(),
    administrator: id,
    client,
    createdAt: now.toISOString(),
    seenAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + lengths.hoursMax * 60 * MINUTE_MS).toISOString(),
  };
  await insertSession(transaction, session, tokenHash(token));
  return { token, administrator };
}

/**
 * Records a wrong password for an account in the audit trail, up to a number of times a day (UTC). The last entry of a
 * day says so.
 */
export async function recordFailedSignIn(
  engine: Engine,
  { company, id, name }: Administrator,
  { address, client }: Origin,
  now: Date,
): Promise<void> {
  const action = 'administrator.sign_in_failed';
  const dayStart = new Date(now.toISOString().slice(0, 10));
  await engine.transaction(async (transaction) => {
    // With the lock, attempts at the same moment count each other.
    await lockCompany(engine, transaction, company);
    const of = { company, administrator: id, action } as const;
    const present = await countAuditRows(transaction, of, dayStart, FAILED_SIGN_INS_RECORDED_MAX);
    if (present >= FAILED_SIGN_INS_RECORDED_MAX) return;
    const isLast = present === FAILED_SIGN_INS_RECORDED_MAX - 1;
    await recordEntry(transaction, {
      company,
      by: { id, name, address, client },
      action,
      subject: id,
      ...(isLast && { details: { note: 'Later ones of this day are not recorded.' } }),
      now,
    });
  });
}

/** Finds the session of a token and its administrator; undefined when there is none, or it has ended. */
export type FindSession = (
  token: string,
  now: Date,
) => Promise<{ session: ActiveSession; administrator: Administrator } | undefined>;

/** Builds the look-up for every page. It records the use once a minute at most, so that reading pages writes little. */
export function createSessionLookup(engine: Engine, { idleMinutes }: SessionLengths): FindSession {
  const find = createSessionFinder(engine);
  return async (token, now) => {
    if (!isToken(token)) return undefined;
    const found = await find(tokenHash(token));
    if (!found) return undefined;
    const { session, administrator } = found;
    const idleMs = now.getTime() - Date.parse(session.seenAt);
    if (session.expiresAt <= now.toISOString() || idleMs >= idleMinutes * MINUTE_MS) return undefined;
    if (idleMs >= MINUTE_MS) await touchSession(engine, session.id, now.toISOString());
    return { session: { ...session, token }, administrator };
  };
}

/** The sessions of an administrator that haven't ended, the newest first. */
export async function listSessions(
  engine: Engine,
  administrator: string,
  { idleMinutes }: SessionLengths,
  now: Date,
): Promise<Session[]> {
  const sessions = await listSessionRows(engine, administrator);
  const idleSince = new Date(now.getTime() - idleMinutes * MINUTE_MS).toISOString();
  return sessions.filter(({ seenAt, expiresAt }) => expiresAt > now.toISOString() && seenAt > idleSince);
}

/**
 * Ends an administrator's own sessions: one by its id, or all of them.
 * @throws AppError `not_found` when they have no session of that id; what `doDeed` throws.
 */
export async function endSessions(
  engine: Engine,
  { company, by, now, id }: { company: string; by: SignedIn; now: Date; id?: string },
): Promise<void> {
  await doDeed(engine, { company, by, now }, async ({ transaction }) => {
    const which = id === undefined ? {} : { id };
    const count = await deleteSessionRows(transaction, by.administrator, which);
    if (count === 0) throw new AppError('not_found', 'There is no such session.');
  });
}
