import { type Selectable, sql } from 'kysely';

import { type Administrator, toAdministrator } from './administrator-rows.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { SessionsTable } from '../accounts-schema.ts';

/** A session, without its token. */
export interface Session {
  id: string;
  administrator: string;
  client: string;
  createdAt: string;
  seenAt: string;
  expiresAt: string;
  /** Whether it can't be used yet, because its company isn't chosen. */
  isWaiting: boolean;
}

/** A session that was found by its token, and its administrator. */
export interface FoundSession {
  session: Session;
  tokenSha256: string;
  administrator: Administrator;
}

/** Adds a session, and removes some that have ended. */
export async function insertSession(
  transaction: StoreTransaction,
  session: Session,
  tokenSha256: string,
): Promise<void> {
  await removeExpired(transaction, 'portal_sessions', session.createdAt);
  await transaction
    .insertInto('portal_sessions')
    .values({
      token_sha256: tokenSha256,
      id: session.id,
      administrator: session.administrator,
      client: session.client,
      created_at: session.createdAt,
      seen_at: session.seenAt,
      expires_at: session.expiresAt,
      is_waiting: Number(session.isWaiting),
    })
    .execute();
}

const EXPIRED_AT_ONCE = 100;

/** Removes some of the sessions or links that have ended, the oldest first. */
export async function removeExpired(
  transaction: StoreTransaction,
  name: 'portal_links' | 'portal_sessions',
  now: string,
): Promise<void> {
  const table = sql.table(name);
  await sql`DELETE FROM ${table} WHERE token_sha256 IN (
    SELECT token_sha256 FROM ${table} WHERE expires_at <= ${now}
    ORDER BY expires_at LIMIT ${EXPIRED_AT_ONCE})`.execute(transaction);
}

/** The sessions with these tokens, in no order. Disabled administrators have none. */
export async function findSessions(
  db: Engine['db'] | StoreTransaction,
  tokensSha256: readonly string[],
): Promise<FoundSession[]> {
  if (tokensSha256.length === 0) return [];
  const rows = await db
    .selectFrom('portal_sessions')
    .innerJoin('administrators', 'administrators.id', 'portal_sessions.administrator')
    .selectAll('administrators')
    .select([
      'portal_sessions.token_sha256',
      'portal_sessions.id as session_id',
      'portal_sessions.client',
      'portal_sessions.created_at as session_created_at',
      'portal_sessions.seen_at',
      'portal_sessions.expires_at',
      'portal_sessions.is_waiting',
    ])
    .where('portal_sessions.token_sha256', 'in', tokensSha256)
    .where('administrators.disabled_at', 'is', null)
    .execute();
  return rows.map((row) => ({
    session: toSession({
      ...row,
      id: row.session_id,
      administrator: row.id,
      created_at: row.session_created_at,
    }),
    tokenSha256: row.token_sha256,
    administrator: toAdministrator(row),
  }));
}

function toSession(row: Omit<Selectable<SessionsTable>, 'token_sha256'>): Session {
  return {
    id: row.id,
    administrator: row.administrator,
    client: row.client,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
    isWaiting: row.is_waiting === 1,
  };
}

/**
 * The administrator of a session, in an authorised transaction; undefined when the session has ended, has expired or
 * waits, or the administrator was disabled.
 */
export async function findSessionOwner(
  transaction: StoreTransaction,
  session: string,
  now: string,
): Promise<Administrator | undefined> {
  const row = await transaction
    .selectFrom('portal_sessions')
    .innerJoin('administrators', 'administrators.id', 'portal_sessions.administrator')
    .selectAll('administrators')
    .where('portal_sessions.id', '=', session)
    .where('portal_sessions.expires_at', '>', now)
    .where('portal_sessions.is_waiting', '=', 0)
    .where('administrators.disabled_at', 'is', null)
    .executeTakeFirst();
  return row && toAdministrator(row);
}

/** The sessions of an administrator, the newest first. */
export async function listSessionRows(engine: Engine, administrator: string): Promise<Session[]> {
  const rows = await engine.db
    .selectFrom('portal_sessions')
    .selectAll()
    .where('administrator', '=', administrator)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toSession);
}

/** Records that the sessions of a browser were used, those of them that were used since `idleSince`. */
export async function touchSessions(
  engine: Engine,
  tokensSha256: readonly string[],
  { seenAt, idleSince }: { seenAt: string; idleSince: string },
): Promise<void> {
  await engine.transaction(async (transaction) => {
    await transaction
      .updateTable('portal_sessions')
      .set({ seen_at: seenAt })
      .where('token_sha256', 'in', tokensSha256)
      .where('seen_at', '>', idleSince)
      .execute();
  });
}

/** Lets a session that waits be used. */
export async function enterSession(transaction: StoreTransaction, id: string): Promise<void> {
  await transaction.updateTable('portal_sessions').set({ is_waiting: 0 }).where('id', '=', id).execute();
}

/** Ends the sessions with these tokens. */
export async function deleteSessionsByToken(engine: Engine, tokensSha256: readonly string[]): Promise<void> {
  if (tokensSha256.length === 0) return;
  await engine.transaction(async (transaction) => {
    await transaction.deleteFrom('portal_sessions').where('token_sha256', 'in', tokensSha256).execute();
  });
}

/**
 * Ends sessions of an administrator: one by its id, all but one, or all.
 * @returns the number of sessions that ended.
 */
export async function deleteSessionRows(
  transaction: StoreTransaction,
  administrator: string,
  which: { id?: string; allBut?: string } = {},
): Promise<number> {
  let query = transaction.deleteFrom('portal_sessions').where('administrator', '=', administrator);
  if (which.id !== undefined) query = query.where('id', '=', which.id);
  if (which.allBut !== undefined) query = query.where('id', '<>', which.allBut);
  const { numDeletedRows } = await query.executeTakeFirst();
  return Number(numDeletedRows);
}
