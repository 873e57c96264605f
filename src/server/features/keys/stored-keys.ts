import { type Selectable, sql } from 'kysely';

import { actorId } from '../../store/accounts/audit-trail.ts';
import type { AuthorisedTransaction } from '../../store/accounts/authorised-transaction.ts';
import type { Engine } from '../../store/engines/engine.ts';
import type { Counted } from '../../store/rate-counters.ts';
import type { SwitchColumns } from '../../store/records/companies.ts';
import { apiKeys } from '../../store/tables/keys.ts';
import { readRow, type RowOf, writeRow } from '../../store/tables/table.ts';
import type { Tables } from '../../store/tables/tables.ts';

export type ApiKey = RowOf<typeof apiKeys>;

export interface UsedKey extends ApiKey {
  /** Time of the key's last recorded use; null if there is none (see key-usage.ts). */
  usedAt: string | null;
}

/** Columns of a key, joined with its company's switches and time zone. */
export type KeyRow = SwitchColumns &
  Pick<Selectable<Tables['api_keys']>, 'secret_sha256' | 'scopes' | 'revoked_at' | 'ends_at'> &
  Pick<Selectable<Tables['companies']>, 'time_zone'>;

/** Cap on a key's stored count of requests before one is added, so that the integer column can't overflow. */
const COUNTED_MAX = 2 ** 31 - 2;

/** The parts of an API key sent with a request. */
interface GivenKey {
  company: string;
  id: string;
  /** SHA-256 of the secret, in hex. */
  secretSha256: string;
}

/**
 * Looks up a key and its company in a single statement, because every request does this. Where processes share the counts,
 * the statement also counts the request, which saves a round trip. Only the right secret of an active key counts, so that
 * nobody else can use up the key's allowance.
 */
export async function findKey(
  engine: Engine,
  given: GivenKey,
  window: { nowMs: number; windowSeconds: number },
): Promise<FoundKey | undefined> {
  const { db, dialect } = engine;
  if (!dialect.isShared) {
    const { rows } = await sql<KeyRow>`
      SELECT ${keyColumns} FROM ${keyTables} WHERE ${isGiven(given)}`.execute(db);
    return rows[0] && { key: rows[0], counted: undefined };
  }
  const found = await findAndCount(engine, given, window);
  const isFirst = found?.counted === undefined && isValid(found?.key, given, window.nowMs);
  if (!isFirst) return found;
  // The key's first request, or its first after a database crash, which empties the table.
  await sql`
    INSERT INTO key_counts (company, key_id, points, expire)
    SELECT company, id, 0, 0 FROM api_keys WHERE company = ${given.company} AND id = ${given.id}
    ON CONFLICT DO NOTHING`.execute(db);
  return findAndCount(engine, given, window);
}

interface FoundKey {
  key: KeyRow;
  /** The key's current count; undefined where this statement doesn't count requests. */
  counted: Counted | undefined;
}

const keyColumns = sql`k.secret_sha256, k.scopes, k.revoked_at, k.ends_at,
  c.api_enabled, c.subscription_active, c.invoicing_enabled, c.modules, c.time_zone`;

const keyTables = sql`api_keys AS k CROSS JOIN companies AS c`;

const isGiven = ({ company, id }: GivenKey) =>
  sql<boolean>`k.company = ${company} AND k.id = ${id} AND c.id = ${company}`;

const isValid = (key: KeyRow | undefined, { secretSha256 }: GivenKey, nowMs: number) =>
  key?.secret_sha256 === secretSha256 && !hasEnded(readRow(apiKeys, key), new Date(nowMs));

/** Whether a key was revoked, even at a time later than `now` by another machine's clock, or its last day is over. */
export function hasEnded({ revokedAt, endsAt }: Pick<ApiKey, 'revokedAt' | 'endsAt'>, now: Date): boolean {
  return revokedAt !== null || (endsAt !== null && endsAt <= now.toISOString());
}

const isActive = (now: Date) =>
  sql<boolean>`(revoked_at IS NULL AND (ends_at IS NULL OR ends_at > ${now.toISOString()}))`;

/** Looks a key up and counts the request. Each table is filtered by company id, so that Citus uses one machine only. */
async function findAndCount(
  { db }: Engine,
  given: GivenKey,
  { nowMs, windowSeconds }: { nowMs: number; windowSeconds: number },
): Promise<FoundKey | undefined> {
  const { company, id, secretSha256 } = given;
  const { rows } = await sql<KeyRow & { points: number | null; expire: string | null }>`
    WITH counted AS (
      UPDATE key_counts AS kept
      SET points = CASE WHEN kept.expire <= ${nowMs} THEN 1 ELSE least(kept.points, ${COUNTED_MAX}) + 1 END,
        expire = CASE WHEN kept.expire <= ${nowMs} THEN ${nowMs + windowSeconds * 1000} ELSE kept.expire END
      FROM api_keys AS k
      WHERE kept.company = ${company} AND kept.key_id = ${id} AND k.company = ${company} AND k.id = ${id}
        AND k.secret_sha256 = ${secretSha256} AND k.revoked_at IS NULL
        AND (k.ends_at IS NULL OR k.ends_at > ${new Date(nowMs).toISOString()})
      RETURNING kept.points, kept.expire
    )
    SELECT ${keyColumns}, counted.points, counted.expire
    FROM ${keyTables} LEFT JOIN counted ON TRUE WHERE ${isGiven(given)}`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { points, expire, ...key } = row;
  return { key, counted: points === null ? undefined : { points, msBeforeNext: Number(expire) - nowMs } };
}

/**
 * Adds a key unless the company already has `activeMax` active ones. The transaction holds the company's lock, so concurrent
 * requests can't exceed the maximum.
 */
export async function insertKey(
  authorised: AuthorisedTransaction,
  key: Pick<ApiKey, 'id' | 'name' | 'scopes'> & Partial<Pick<ApiKey, 'endsAt'>>,
  secretSha256: string,
  activeMax: number,
): Promise<ApiKey | undefined> {
  const { transaction, company, by, now } = authorised;
  const active = await transaction
    .selectFrom('api_keys')
    .select('id')
    .where('company', '=', company)
    .where(isActive(now))
    .execute();
  if (active.length >= activeMax) return undefined;
  const row = await transaction
    .insertInto('api_keys')
    .values({
      ...writeRow(apiKeys, { company, ...key, createdAt: now.toISOString(), madeBy: actorId(by) }),
      secret_sha256: secretSha256,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return readRow(apiKeys, row);
}

/** Lists the active keys that an administrator made, oldest first. */
export async function listKeysMadeBy(
  { transaction, company, now }: AuthorisedTransaction,
  administrator: string,
): Promise<ApiKey[]> {
  const rows = await transaction
    .selectFrom('api_keys')
    .selectAll()
    .where((row) => row.and({ company, made_by: administrator }))
    .where(isActive(now))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => readRow(apiKeys, row));
}

export async function listKeyRows(engine: Engine, company: string): Promise<UsedKey[]> {
  const rows = await usedKeys(engine, company).orderBy('created_at').orderBy('id').execute();
  return rows.map(toUsedKey);
}

/** Lists a company's active keys, newest first, followed by the ended keys among `ids`. */
export async function listActiveKeys(
  engine: Engine,
  company: string,
  now: Date,
  ids: readonly string[] = [],
): Promise<UsedKey[]> {
  const rows = await usedKeys(engine, company)
    .where((key) => key.or([isActive(now), ...(ids.length > 0 ? [key('api_keys.id', 'in', ids)] : [])]))
    .orderBy(isActive(now), 'desc')
    .orderBy('api_keys.created_at', 'desc')
    .orderBy('api_keys.id')
    .execute();
  return rows.map(toUsedKey);
}

/**
 * Lists a company's ended keys, most recently ended first.
 * @param options.before the end and the id of the key after which the list goes on.
 */
export async function listEndedKeys(
  engine: Engine,
  company: string,
  { now, before, limit }: { now: Date; before: string | undefined; limit: number },
): Promise<UsedKey[]> {
  let query = usedKeys(engine, company)
    .where('api_keys.ends_at', 'is not', null)
    .where(sql<boolean>`NOT ${isActive(now)}`)
    .orderBy('api_keys.ends_at', 'desc')
    .orderBy('api_keys.id', 'desc')
    .limit(limit);
  const [endsAt = '', id = ''] = before?.split(' ') ?? [];
  if (before) query = query.where(sql<boolean>`(api_keys.ends_at, api_keys.id) < (${endsAt}, ${id})`);
  return (await query.execute()).map(toUsedKey);
}

function usedKeys(engine: Engine, company: string) {
  return engine.db
    .selectFrom('api_keys')
    .leftJoin('key_uses', (join) =>
      join.on('key_uses.company', '=', company).onRef('key_uses.key_id', '=', 'api_keys.id'),
    )
    .selectAll('api_keys')
    .select('key_uses.used_at')
    .where('api_keys.company', '=', company);
}

function toUsedKey(row: Selectable<Tables['api_keys']> & { used_at: string | null }): UsedKey {
  return { ...readRow(apiKeys, row), usedAt: row.used_at };
}

/** Updates an active key's name and end (or no end); returns undefined when the company has no such key. */
export async function updateKeyRow(
  { transaction, company, now }: AuthorisedTransaction,
  { id, name, endsAt }: Pick<ApiKey, 'id' | 'name' | 'endsAt'>,
): Promise<ApiKey | undefined> {
  const row = await transaction
    .updateTable('api_keys')
    .set({ name, ends_at: endsAt })
    .where((row) => row.and({ company, id }))
    .where(isActive(now))
    .returningAll()
    .executeTakeFirst();
  return row && readRow(apiKeys, row);
}

/** Marks a key as revoked, unless it already is. */
export async function revokeKeyRow(
  authorised: AuthorisedTransaction,
  id: string,
): Promise<{ key: ApiKey | undefined; isChanged: boolean }> {
  const { transaction, company, now } = authorised;
  const revoked = await transaction
    .updateTable('api_keys')
    .set({ revoked_at: now.toISOString(), ends_at: now.toISOString() })
    .where((row) => row.and({ company, id }))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  const row = await transaction
    .selectFrom('api_keys')
    .selectAll()
    .where((row) => row.and({ company, id }))
    .executeTakeFirst();
  return { key: row && readRow(apiKeys, row), isChanged: Number(revoked.numUpdatedRows) > 0 };
}
