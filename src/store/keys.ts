import type { Selectable } from 'kysely';

import type { Scope } from '../contract/scopes.ts';
import { lockCompany } from './companies.ts';
import type { Engine } from './engine.ts';
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
  const find = engine.prepare((db, value: { company: string; id: string }) =>
    db
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
      .where('api_keys.id', '=', value.id),
  );
  return async (key) => (await find(key))[0];
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
