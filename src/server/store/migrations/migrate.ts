import { sql, type Transaction } from 'kysely';

import { UsageError } from '../../../errors.ts';
import type { Engine } from '../engines/engine.ts';
import { FIRST_MIGRATION, refuseForeign } from '../foreign.ts';
import { baseline } from './0001-baseline.ts';
import { addKeyRequests } from './0002-key-requests.ts';
import { extendWebhooks } from './0003-webhooks.ts';
import type { Migration } from './migration.ts';
import { findOutdated, type Outdated, refuseLater } from './record-contracts.ts';
import type { OnProgress } from './render-anew.ts';
import type { Tables } from '../tables/tables.ts';

export const migrations: readonly Migration[] = [baseline, addKeyRequests, extendWebhooks];

/**
 * Prefix of the name in `migrations` that marks an unfinished copy, so that nobody serves it. The source's digest follows.
 */
export const UNFINISHED_COPY_PREFIX = 'unfinished-copy-';

/** The steps that would bring a database up to date. */
export interface MigrationPlan {
  migrations: string[];
  /** The resources whose records would be rendered again. */
  outdated: Outdated[];
}

export interface MigrationResult {
  applied: string[];
  rendered: number;
}

/**
 * Returns what `migrate` would do, without changing anything.
 * @throws UsageError when the database is from a later version of the program, or this version can't render its records.
 */
export async function planMigration(
  engine: Engine,
  onProgress: OnProgress = () => undefined,
): Promise<MigrationPlan> {
  const present = await presentNames(engine);
  refuseUnknown(present);
  const outdated = await findOutdated(engine, present.includes(baseline.name));
  if (outdated.length > 0) {
    const { checkRecords } = await renderer();
    await checkRecords(engine, outdated, onProgress);
  }
  return {
    migrations: migrations.map(({ name }) => name).filter((name) => !present.includes(name)),
    outdated,
  };
}

/**
 * Brings the schema up to date, with one transaction for each missing migration, and re-renders records of an earlier
 * contract. Several processes may start at once: they take turns, and each returns when everything is done.
 * @throws UsageError for the same reasons as `planMigration`; then nothing was changed.
 */
export async function migrate(
  engine: Engine,
  onProgress: OnProgress = () => undefined,
): Promise<MigrationResult> {
  // Planning only reads, so a role without rights on the schema can run the program when the schema is up to date.
  const plan = await planMigration(engine, onProgress);
  const applied: string[] = [];
  for (const migration of migrations.filter(({ name }) => plan.migrations.includes(name)))
    applied.push(...(await applyMigration(engine, migration)));
  if (plan.outdated.length === 0) return { applied, rendered: 0 };
  const { renderAnew } = await renderer();
  return { applied, rendered: await renderAnew(engine, plan.outdated, onProgress) };
}

/** Loads the renderer on demand, because the contract's validators take a tenth of a short command's time to load. */
const renderer = () => import('./render-anew.ts');

/**
 * Runs a migration's statements in one transaction, unless it has been applied already. The baseline creates all tables as they are defined now, so a new database needs no later migration.
 * @returns the names of the migrations that were applied now.
 */
async function applyMigration(engine: Engine, migration: Migration): Promise<string[]> {
  const { administration } = engine.dialect;
  return engine.transaction(async (transaction) => {
    await administration.lockSchema(transaction);
    const names = await appliedNames(transaction);
    refuseUnknown(names);
    if (names.includes(migration.name)) return [];
    for (const statement of migration.statements(engine.dialect.name))
      await sql.raw(statement).execute(transaction);
    const applied = (migration === baseline ? migrations : [migration]).map(({ name }) => name);
    for (const name of applied)
      await sql`INSERT INTO migrations (name) VALUES (${name})`.execute(transaction);
    return applied;
  });
}

/**
 * Returns the names of a database's migrations without changing anything; empty for an empty database.
 * @throws UsageError when it belongs to another program.
 */
async function presentNames(engine: Engine): Promise<string[]> {
  // A single statement, because another process may create all tables between two.
  const [schema] = await engine.run(engine.dialect.administration.presentTables);
  // Selects all columns, because another program's table of that name may have different ones.
  const rows = schema?.has_migrations ? await engine.run('SELECT * FROM migrations') : [];
  if (schema?.has_migrations || typeof schema?.other === 'string')
    refuseForeign(typeof schema.other === 'string' ? [schema.other] : [], rows);
  return rows.map(({ name }) => String(name));
}

export const CREATE_MIGRATIONS = 'CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)';

async function appliedNames(transaction: Transaction<Tables>): Promise<string[]> {
  await sql.raw(CREATE_MIGRATIONS).execute(transaction);
  const { rows } = await sql<{ name: string }>`SELECT name FROM migrations ORDER BY name`.execute(
    transaction,
  );
  return rows.map(({ name }) => name);
}

/** Refuses a database that this version can't bring up to date, by the rows of `migrations`. @throws UsageError. */
export function refuseOthers(
  { migrations, contracts }: { migrations: { name: string }[]; contracts: Tables['record_contracts'][] },
  subject: string,
): void {
  const names = migrations.map(({ name }) => name);
  if (!names.includes(FIRST_MIGRATION)) throw new UsageError(`${subject} isn't a database of Fieldledger.`);
  refuseUnknown(names, subject);
  refuseLater(contracts, subject);
}

function refuseUnknown(names: string[], subject = 'The database'): void {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown?.startsWith(UNFINISHED_COPY_PREFIX))
    throw new UsageError(
      `${subject} is the target of a copy that was broken off. The same "fieldledger copy" goes on with it.`,
    );
  if (unknown) {
    throw new UsageError(
      `${subject} has the migration ${unknown}, which this version of Fieldledger doesn't know; run a later one.`,
    );
  }
}
