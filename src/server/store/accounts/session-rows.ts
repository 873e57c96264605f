import { sql } from 'kysely';

import { type AccountKey, type Administrator, toAdministrator } from './administrator-rows.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { portalSessions } from '../tables/accounts.ts';
import { readRow, type RowOf, writeRow } from '../tables/table.ts';

/** An administrator's session in the portal, without its token. */
export type Session = RowOf<typeof portalSessions>;

/** The limits to the duration of a session. */
export interface SessionLengths {
  /** Minutes without a request after which a session ends. */
  idleMinutes: number;
  /** Hours after sign-in after which a session ends, however much it is used. */
  hoursMax: number;
}

export interface ActiveSession extends Session {
  token: string;
}

/** The hash of a session's or link's token, and its company, for lookups. */
export interface HashedToken {
  company: string;
  sha256: string;
}

export async function insertSession(
  transaction: StoreTransaction,
  session: Session,
  tokenSha256: string,
): Promise<void> {
  await transaction
    .insertInto('portal_sessions')
    .values({ ...writeRow(portalSessions, session), token_sha256: tokenSha256 })
    .execute();
}

/** Returns the SQL condition for the row that has a token. */
export function isOfToken({ company, sha256 }: HashedToken, table = 'portal_sessions') {
  return sql<boolean>`${sql.ref(`${table}.company`)} = ${company} AND ${sql.ref(`${table}.token_sha256`)} = ${sha256}`;
}

/** Returns the session with a token, and its administrator; undefined if there is none or the administrator is disabled. */
export async function findSession(
  db: Connection,
  token: HashedToken,
): Promise<{ session: Session; administrator: Administrator } | undefined> {
  const row = await db
    .selectFrom('portal_sessions')
    .innerJoin('administrators', (join) =>
      join
        .onRef('administrators.company', '=', 'portal_sessions.company')
        .onRef('administrators.id', '=', 'portal_sessions.administrator'),
    )
    .selectAll('administrators')
    .select([
      'portal_sessions.id as session_id',
      'portal_sessions.client',
      'portal_sessions.created_at as session_created_at',
      'portal_sessions.seen_at',
      'portal_sessions.expires_at',
      'portal_sessions.is_waiting',
      'portal_sessions.proved_at',
    ])
    .where(isOfToken(token))
    .where('administrators.company', '=', token.company)
    .where('administrators.disabled_at', 'is', null)
    .executeTakeFirst();
  return (
    row && {
      session: readRow(portalSessions, {
        ...row,
        id: row.session_id,
        administrator: row.id,
        created_at: row.session_created_at,
      }),
      administrator: toAdministrator(row),
    }
  );
}

/**
 * Returns a session's administrator, and the time of its last proof of identity, for an authorised transaction. Returns
 * undefined when the session has ended, has expired or can't be used yet, or the administrator is disabled.
 */
export async function findSessionOwner(
  transaction: StoreTransaction,
  { company, session }: { company: string; session: string },
  now: string,
): Promise<(Administrator & Pick<Session, 'provedAt'>) | undefined> {
  const row = await transaction
    .selectFrom('portal_sessions')
    .innerJoin('administrators', 'administrators.id', 'portal_sessions.administrator')
    .selectAll('administrators')
    .select('portal_sessions.proved_at')
    .where('administrators.company', '=', company)
    .where('portal_sessions.company', '=', company)
    .where('portal_sessions.id', '=', session)
    .where('portal_sessions.expires_at', '>', now)
    .where('portal_sessions.is_waiting', '=', 0)
    .where('administrators.disabled_at', 'is', null)
    .executeTakeFirst();
  return row && { ...toAdministrator(row), provedAt: row.proved_at };
}

/** Returns an administrator's sessions, newest first. */
export async function listSessionRows(engine: Engine, { company, id }: AccountKey): Promise<Session[]> {
  const rows = await engine.db
    .selectFrom('portal_sessions')
    .selectAll()
    .where((row) => row.and({ company, administrator: id }))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => readRow(portalSessions, row));
}

/** Stores the time that a session was used, unless it expired because its last use was before `idleSince`. */
export async function touchSession(
  engine: Engine,
  token: HashedToken,
  { seenAt, idleSince }: { seenAt: string; idleSince: string },
): Promise<void> {
  await engine.write(
    sql`UPDATE portal_sessions SET seen_at = ${seenAt} WHERE ${isOfToken(token)} AND seen_at > ${idleSince}`,
  );
}

/** Marks a session as no longer waiting for a step of the sign-in, or stores the time of the latest proof of identity. */
export async function updateSession(
  transaction: StoreTransaction,
  { company, id }: Pick<Session, 'company' | 'id'>,
  changes: { isWaiting: false } | { provedAt: string },
): Promise<void> {
  await transaction
    .updateTable('portal_sessions')
    .set('provedAt' in changes ? { proved_at: changes.provedAt } : { is_waiting: 0 })
    .where((row) => row.and({ company, id }))
    .execute();
}

export async function deleteSession(engine: Engine, token: HashedToken): Promise<void> {
  await engine.write(sql`DELETE FROM portal_sessions WHERE ${isOfToken(token)}`);
}

/**
 * Ends an administrator's sessions: one by its id, all but one, or all.
 * @returns the number of sessions that ended.
 */
export async function deleteSessionRows(
  transaction: StoreTransaction,
  { company, id }: AccountKey,
  which: { id?: string; allBut?: string } = {},
): Promise<number> {
  let query = transaction
    .deleteFrom('portal_sessions')
    .where((row) => row.and({ company, administrator: id }));
  if (which.id !== undefined) query = query.where('id', '=', which.id);
  if (which.allBut !== undefined) query = query.where('id', '<>', which.allBut);
  const { numDeletedRows } = await query.executeTakeFirst();
  return Number(numDeletedRows);
}
