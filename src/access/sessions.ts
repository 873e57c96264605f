import { randomUUIDv7 } from 'node:crypto';

import { type Administrator, updateAdministratorRow } from '../store/administrators.ts';
import { recordDeed } from '../store/audit.ts';
import type { Engine, StoreTransaction } from '../store/engine.ts';
import {
  createSessionFinder,
  deleteSessionRows,
  insertSession,
  listSessionRows,
  type Session,
  setFlash,
  takeFlash,
  touchSession,
} from '../store/portal-sessions.ts';
import { openSealed, seal } from './sealed-text.ts';
import { isToken, mintToken, tokenHash } from './tokens.ts';

/** How long a session lasts. */
export interface SessionLengths {
  /** Without use. */
  idleMinutes: number;
  /** However much it is used. */
  hoursMax: number;
}

/** A session that is in use. */
export interface ActiveSession extends Session {
  /** What its cookie holds. */
  token: string;
  /** What the last action left for the next page to say, as it is stored. */
  flash: string | null;
}

const MINUTE_MS = 60_000;
const CLIENT_CHARACTERS_MAX = 200;

/** Lets an administrator in: begins a session and notes it, in the unit of work of what shows who they are. */
export async function beginSession(
  transaction: StoreTransaction,
  options: { administrator: Administrator; client: string; now: Date; lengths: SessionLengths },
): Promise<{ token: string; administrator: Administrator }> {
  const { administrator, client, now, lengths } = options;
  const { company, id } = administrator;
  await updateAdministratorRow(transaction, id, { signedInAt: now.toISOString() });
  await recordDeed(transaction, {
    company,
    by: administrator,
    action: 'administrator.signed_in',
    subject: id,
    now,
  });
  const token = mintToken();
  const session: Session = {
    id: randomUUIDv7(),
    administrator: id,
    client: client.slice(0, CLIENT_CHARACTERS_MAX),
    createdAt: now.toISOString(),
    seenAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + lengths.hoursMax * 60 * MINUTE_MS).toISOString(),
  };
  await insertSession(transaction, session, tokenHash(token));
  return { token, administrator };
}

/** Finds the session of a token and whose it is; undefined when there is none, or it has ended. */
export type FindSession = (
  token: string,
  now: Date,
) => Promise<{ session: ActiveSession; administrator: Administrator } | undefined>;

/** Builds the look-up that every page makes. It notes the use at most once a minute, so that reading writes little. */
export function createSessionLookup(engine: Engine, { idleMinutes }: SessionLengths): FindSession {
  const find = createSessionFinder(engine);
  return async (token, now) => {
    if (!isToken(token)) return undefined;
    const found = await find(tokenHash(token));
    if (!found) return undefined;
    const { session, administrator, flash } = found;
    const idleMs = now.getTime() - Date.parse(session.seenAt);
    if (session.expiresAt <= now.toISOString() || idleMs >= idleMinutes * MINUTE_MS) return undefined;
    if (idleMs >= MINUTE_MS) await touchSession(engine, session.id, now.toISOString());
    return { session: { ...session, token, flash }, administrator };
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

/** Ends sessions of an administrator: one by its id, all but one, or all of them. Gives how many. */
export async function endSessions(
  engine: Engine,
  administrator: string,
  which: { id?: string; allBut?: string } = {},
): Promise<number> {
  return engine.transaction((transaction) => deleteSessionRows(transaction, administrator, which));
}

/**
 * Keeps what the next page of a session says once. It may hold a secret, so it is encrypted with the session's token,
 * which the database doesn't hold.
 */
export async function keepFlash(engine: Engine, session: ActiveSession, text: string): Promise<void> {
  await setFlash(engine, session.id, seal(text, session.token));
}

/** Takes what was kept; of several pages that ask at once, one gets it. */
export async function takeKeptFlash(engine: Engine, session: ActiveSession): Promise<string | undefined> {
  if (session.flash === null || !(await takeFlash(engine, session.id, session.flash))) return undefined;
  return openSealed(session.flash, session.token);
}
