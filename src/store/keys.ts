import { type Kysely, type Selectable, sql } from 'kysely';

import type { Scope } from '../contract/scopes.ts';
import { lockCompany } from './companies.ts';
import type { Engine } from './engine.ts';
import { type Counted, counterOf } from './rate-counters.ts';
import type { Tables } from './schema.ts';

/** A key as administrators see it: never its secret. */
export interface ApiKey {
  id: string;
  company: string;
  name: string;
  scopes: Scope[];
  createdAt: string;
  revokedAt: string | null;
}

/** A key's row beside its company's switches. */
export interface KeyRow {
  secret_sha256: string;
  scopes: string;
  revoked_at: string | null;
  api_enabled: number;
  subscription_active: number;
  invoicing_enabled: number;
  modules: string;
  time_zone: string;
}

/** Builds the look-up of a key and its company, in one statement because every request makes it. */
export function createKeyFinder(
  engine: Engine,
): (key: { company: string; id: string }) => Promise<KeyRow | undefined> {
  const find = engine.prepare((db, value: { company: string; id: string }) => keyQuery(db, value));
  return async (key) => (await find(key))[0];
}

/** The same, and how often the key was used in the window that runs, this request included. */
export type CountingKeyFinder = (
  key: { company: string; id: string; secretSha256: string },
  window: { nowMs: number; windowMs: number },
) => Promise<{ key: KeyRow; counted: Counted | undefined } | undefined>;

/**
 * Builds the look-up that also counts the request, for PostgreSQL, where a statement of its own would be one more round
 * trip of every request. Counted is whoever has the right secret of a key that isn't revoked: nobody else may use up
 * its allowance.
 */
export function createCountingKeyFinder(engine: Engine): CountingKeyFinder {
  const find = engine.prepare<CountedValues, KeyRow & { points: number | null; expire: string | null }>(
    (db, value) => {
      const query = sql<KeyRow & { points: number | null; expire: string | null }>`
        WITH
          found AS ${keyQuery(db, value)},
          counted AS (
            INSERT INTO rate_counts AS kept (key, points, expire)
            SELECT ${value.counter}, 1, ${value.end}
            FROM found WHERE secret_sha256 = ${value.secretSha256} AND revoked_at IS NULL
            ON CONFLICT (key) DO UPDATE SET
              points = CASE WHEN kept.expire <= ${value.now} THEN 1 ELSE kept.points + 1 END,
              expire = CASE WHEN kept.expire <= ${value.now} THEN excluded.expire ELSE kept.expire END
            RETURNING points, expire
          )
        SELECT found.*, counted.points, counted.expire FROM found LEFT JOIN counted ON TRUE`;
      return { compile: () => query.compile(db) };
    },
  );
  return async ({ company, id, secretSha256 }, { nowMs, windowMs }) => {
    const counter = counterOf('key', `${company}.${id}`);
    const [row] = await find({ company, id, secretSha256, counter, now: nowMs, end: nowMs + windowMs });
    if (!row) return undefined;
    const { points, expire, ...key } = row;
    return { key, counted: points === null ? undefined : { points, msBeforeNext: Number(expire) - nowMs } };
  };
}

interface CountedValues {
  company: string;
  id: string;
  secretSha256: string;
  counter: string;
  now: number;
  end: number;
}

function keyQuery(db: Kysely<Tables>, value: { company: string; id: string }) {
  return db
    .selectFrom('api_keys')
    .innerJoin('companies', 'companies.id', 'api_keys.company')
    .select([
      'api_keys.secret_sha256',
      'api_keys.scopes',
      'api_keys.revoked_at',
      'companies.api_enabled',
      'companies.subscription_active',
      'companies.invoicing_enabled',
      'companies.modules',
      'companies.time_zone',
    ])
    .where('api_keys.company', '=', value.company)
    .where('api_keys.id', '=', value.id);
}

/** Adds a key unless the company has `activeMax` active ones; counted under the company's lock, so never one too many. */
export async function insertKey(
  engine: Engine,
  key: ApiKey,
  secretSha256: string,
  activeMax: number,
): Promise<'created' | 'no company' | 'limit reached'> {
  return engine.transaction(async (transaction) => {
    if (!(await lockCompany(engine, transaction, key.company))) return 'no company';
    const active = await transaction
      .selectFrom('api_keys')
      .select('id')
      .where('company', '=', key.company)
      .where('revoked_at', 'is', null)
      .execute();
    if (active.length >= activeMax) return 'limit reached';
    await transaction
      .insertInto('api_keys')
      .values({
        company: key.company,
        id: key.id,
        name: key.name,
        secret_sha256: secretSha256,
        scopes: JSON.stringify(key.scopes),
        created_at: key.createdAt,
      })
      .execute();
    return 'created';
  });
}

export async function listKeyRows(engine: Engine, company: string): Promise<ApiKey[]> {
  const rows = await engine.db
    .selectFrom('api_keys')
    .selectAll()
    .where('company', '=', company)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(toKey);
}

/** Marks a key revoked, unless it is already; undefined when there is no such key. */
export async function revokeKeyRow(
  engine: Engine,
  company: string,
  id: string,
  revokedAt: string,
): Promise<ApiKey | undefined> {
  return engine.transaction(async (transaction) => {
    await transaction
      .updateTable('api_keys')
      .set({ revoked_at: revokedAt })
      .where('company', '=', company)
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .execute();
    const row = await transaction
      .selectFrom('api_keys')
      .selectAll()
      .where('company', '=', company)
      .where('id', '=', id)
      .executeTakeFirst();
    return row && toKey(row);
  });
}

function toKey(row: Selectable<Tables['api_keys']>): ApiKey {
  return {
    id: row.id,
    company: row.company,
    name: row.name,
    // Written by `insertKey` from checked scopes.
    scopes: JSON.parse(row.scopes) as ApiKey['scopes'],
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
