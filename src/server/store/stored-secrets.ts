import { sql } from 'kysely';

import { batchesOf } from './batches.ts';
import type { Connection } from './dialects/dialect.ts';
import type { Engine } from './engines/engine.ts';
import { ofAllCompanies } from './machines.ts';

/** The tables and columns with encrypted secrets: webhooks' signing secrets and administrators' second factors. */
const PLACES = {
  webhooks: { column: 'secret', endedAt: 'deleted_at' },
  administrators: { column: 'second_factor', endedAt: 'disabled_at' },
} as const;

type SecretTable = keyof typeof PLACES;
const tables = Object.keys(PLACES) as SecretTable[];

/** A secret in its stored form, and the webhook or administrator that it belongs to. */
export interface StoredSecret {
  table: SecretTable;
  company: string;
  id: string;
  secret: string;
}

const SECRETS_AT_ONCE = 500;

/** Yields the stored secrets of every company, including those of deleted webhooks. */
export async function* storedSecrets(db: Connection): AsyncGenerator<StoredSecret> {
  for (const table of tables) {
    const column = sql.ref(PLACES[table].column);
    const selection = {
      columns: sql`company, id, ${column} AS secret`,
      from: sql.table(table),
      where: sql<boolean>`${column} IS NOT NULL`,
      key: ['company', 'id'],
      rowsMax: SECRETS_AT_ONCE,
    };
    for await (const rows of batchesOf<Omit<StoredSecret, 'table'>>(db, selection))
      yield* rows.map((row) => ({ ...row, table }));
  }
}

/** Characters of a sealed secret's prefix, which identifies its key; see ../process/secret-box.ts. */
const SEAL_LENGTH = 'sealed1.00000000'.length;

/** Returns the distinct prefixes of all sealed secrets, except those of deleted webhooks and disabled administrators. */
export async function listSeals(engine: Engine): Promise<string[]> {
  const seals = new Set<string>();
  for (const table of tables) {
    const column = sql.ref(PLACES[table].column);
    const rows = await ofAllCompanies(
      engine,
      (isReached) => sql<{ seal: string }>`
        SELECT DISTINCT substr(${column}, 1, ${sql.lit(SEAL_LENGTH)}) AS seal FROM ${sql.table(table)}
        WHERE ${sql.ref(PLACES[table].endedAt)} IS NULL AND ${column} IS NOT NULL AND ${isReached('company')}`,
    );
    for (const { seal } of rows) seals.add(seal);
  }
  return [...seals].sort();
}

/** Replaces the stored form of a secret, unless it has changed since it was read. */
export async function replaceStoredSecret(
  engine: Engine,
  { table, company, id, secret }: StoredSecret,
  sealed: string,
): Promise<void> {
  const column = sql.ref(PLACES[table].column);
  await engine.write(
    sql`UPDATE ${sql.table(table)} SET ${column} = ${sealed} WHERE company = ${company} AND id = ${id} AND ${column} = ${secret}`,
  );
}
