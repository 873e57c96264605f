import { sql, type Transaction } from 'kysely';

import { UsageError } from '../../errors.ts';
import type { Engine } from '../engines/engine.ts';
import { access } from './0001-access.ts';
import { records } from './0002-records.ts';
import { backOffice } from './0003-back-office.ts';
import { webhooks } from './0004-webhooks.ts';
import { documents } from './0005-documents.ts';
import { portal } from './0006-portal.ts';
import type { Dialect, Migration } from './migration.ts';
import type { Tables } from '../schema.ts';

const dialects: Record<Engine['name'], Dialect> = {
  sqlite: { name: 'sqlite', text: 'TEXT', json: 'TEXT', table: 'STRICT' },
  postgres: { name: 'postgres', text: 'TEXT COLLATE "C"', json: 'JSON', table: '' },
};

const migrations: readonly Migration[] = [access, records, backOffice, webhooks, documents, portal];

/** Any number does, as long as no other program locks the same one in this database. */
const POSTGRES_LOCK = 4_706_174;

/**
 * Brings the schema up to date, one transaction for each missing migration.
 * Several processes may start at once: each waits for its turn and finds the work done.
 * @param steps for tests, which need a database as an earlier version left it.
 * @returns the names of the migrations that were applied now.
 * @throws UsageError when the database was made by a later version of the program.
 */
export async function migrate(engine: Engine, steps = migrations): Promise<string[]> {
  // A role that may only read and write rows runs the program on a schema that is up to date.
  const present = await presentNames(engine);
  refuseUnknown(present);
  const applied: string[] = [];
  for (const migration of steps.filter(({ name }) => !present.includes(name))) {
    const isNew = await engine.transaction(async (transaction) => {
      await lockSchema(engine, transaction);
      const names = await appliedNames(transaction);
      refuseUnknown(names);
      if (names.includes(migration.name)) return false;
      for (const statement of migration.statements(dialects[engine.name]))
        await sql.raw(statement).execute(transaction);
      await sql`INSERT INTO migrations (name) VALUES (${migration.name})`.execute(transaction);
      return true;
    });
    if (isNew) applied.push(migration.name);
  }
  return applied;
}

/** The migrations that a database has, without changing anything. */
async function presentNames(engine: Engine): Promise<string[]> {
  const [found] = await engine.run(
    engine.name === 'sqlite'
      ? "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"
      : "SELECT 1 WHERE to_regclass('migrations') IS NOT NULL",
  );
  if (!found) return [];
  return (await engine.run('SELECT name FROM migrations')).map(({ name }) => String(name));
}

/** One process at a time changes the schema. */
async function lockSchema(engine: Engine, transaction: Transaction<Tables>): Promise<void> {
  if (engine.name === 'sqlite') return;
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(POSTGRES_LOCK)})`.execute(transaction);
}

async function appliedNames(transaction: Transaction<Tables>): Promise<string[]> {
  await sql`CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)`.execute(transaction);
  const { rows } = await sql<{ name: string }>`SELECT name FROM migrations ORDER BY name`.execute(
    transaction,
  );
  return rows.map(({ name }) => name);
}

/** @throws UsageError unless these are the migrations of a database that this version can bring up to date. */
export function refuseOthers(names: string[], subject: string): void {
  if (!names.includes(access.name)) throw new UsageError(`${subject} isn't a database of Fieldledger.`);
  refuseUnknown(names, subject);
}

function refuseUnknown(names: string[], subject = 'The database'): void {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown) {
    throw new UsageError(
      `${subject} has the migration ${unknown}, which this version of Fieldledger doesn't know; run a later one.`,
    );
  }
}
