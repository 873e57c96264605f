import type { Selectable } from 'kysely';

import { type Administrator, toAdministrator } from './administrators.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { AdministratorsTable, SessionsTable } from '../portal-schema.ts';

/** A session, without its token. */
export interface Session {
  id: string;
  administrator: string;
  client: string;
  createdAt: string;
  seenAt: string;
  expiresAt: string;
}

/** A session that was found by its token, and its administrator. */
export interface FoundSession {
  session: Session;
  administrator: Administrator;
}

const EXPIRED_AT_ONCE = 100;

/** Adds a session, and removes some that have ended. */
export async function insertSession(
  transaction: StoreTransaction,
  session: Session,
  tokenSha256: string,
): Promise<void> {
  await removeExpired(transaction, session.createdAt);
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
    })
    .execute();
}

async function removeExpired(transaction: StoreTransaction, now: string): Promise<void> {
  await transaction
    .deleteFrom('portal_sessions')
    .where('token_sha256', 'in', (nested) =>
      nested
        .selectFrom('portal_sessions')
        .select('token_sha256')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(EXPIRED_AT_ONCE),
    )
    .execute();
}

/** Builds the look-up of a session by the hash of its token, for every page. Disabled administrators have no session. */
export function createSessionFinder(
  engine: Engine,
): (tokenSha256: string) => Promise<FoundSession | undefined> {
  type Row = Selectable<SessionsTable> & Omit<Selectable<AdministratorsTable>, 'password'> & SessionColumns;
  const find = engine.prepare<{ token: string }, Row>((db, value) =>
    db
      .selectFrom('portal_sessions')
      .innerJoin('administrators', 'administrators.id', 'portal_sessions.administrator')
      .select([
        'portal_sessions.id as session_id',
        'portal_sessions.client',
        'portal_sessions.created_at as session_created_at',
        'portal_sessions.seen_at',
        'portal_sessions.expires_at',
        'administrators.id',
        'administrators.company',
        'administrators.email',
        'administrators.name',
        'administrators.scopes',
        'administrators.may_invite',
        'administrators.made_by',
        'administrators.created_at',
        'administrators.signed_in_at',
        'administrators.disabled_at',
      ])
      .where('portal_sessions.token_sha256', '=', value.token)
      .where('administrators.disabled_at', 'is', null),
  );
  return async (token) => {
    const [row] = await find({ token });
    if (!row) return undefined;
    const session: Session = {
      id: row.session_id,
      administrator: row.id,
      client: row.client,
      createdAt: row.session_created_at,
      seenAt: row.seen_at,
      expiresAt: row.expires_at,
    };
    return { session, administrator: toAdministrator(row) };
  };
}

/**
 * The administrator of a session, in the transaction of a deed; undefined when the session has ended or expired, or the
 * administrator was disabled.
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
    .where('administrators.disabled_at', 'is', null)
    .executeTakeFirst();
  return row && toAdministrator(row);
}

interface SessionColumns {
  session_id: string;
  session_created_at: string;
}

/** The sessions of an administrator, the newest first. */
export async function listSessionRows(engine: Engine, administrator: string): Promise<Session[]> {
  const rows = await engine.db
    .selectFrom('portal_sessions')
    .select(['id', 'administrator', 'client', 'created_at', 'seen_at', 'expires_at'])
    .where('administrator', '=', administrator)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    administrator: row.administrator,
    client: row.client,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
  }));
}

/** Records that a session was used. */
export async function touchSession(engine: Engine, id: string, seenAt: string): Promise<void> {
  await engine.transaction(async (transaction) => {
    await transaction.updateTable('portal_sessions').set({ seen_at: seenAt }).where('id', '=', id).execute();
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
