import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

import { sql } from 'kysely';

import { UsageError } from '../../../errors.ts';
import { refuseDifferences } from '../backup/examine.ts';
import type { Engine } from '../engines/engine.ts';
import { migrate, planMigration, UNFINISHED_COPY_PREFIX } from '../migrations/migrate.ts';
import { schemaDifferences } from '../migrations/schema-check.ts';
import { batchesOf, columnList, countRows } from '../batches.ts';
import { writtenColumns, lastRow, type TableRow, selectionOf, STORED_TABLES } from '../stored-tables.ts';
import type { Table } from '../tables/table.ts';

export interface StoreCopying {
  signal: AbortSignal;
  onProgress: (step: 'copied' | 'verified', done: number, total: number) => void;
}

/**
 * Copies a whole store into an empty database of either engine, and compares the two. Nothing else must write to either of
 * them meanwhile. If interrupted, it continues when called again; until it is complete, no other command opens the
 * target.
 * @returns the number of rows.
 * @throws UsageError when the source isn't up to date, the target isn't empty, or the two differ at the end.
 */
export async function copyStore(
  source: Engine,
  target: Engine,
  copying: StoreCopying,
): Promise<{ rowCount: number }> {
  await refuseOutdated(source);
  refuseDifferences(await schemaDifferences(source), 'The source');
  const marker = `${UNFINISHED_COPY_PREFIX}${await digestOfCompanies(source)}`;
  await beginCopy(target, marker);
  refuseDifferences(await schemaDifferences(target), 'The target');
  if (await hasMarker(source, marker)) {
    await removeMarker(target, marker);
    throw new UsageError('The source and the target are the same database.');
  }
  let total = 0;
  for (const { name } of STORED_TABLES) total += await countRows(source.db, sql.table(name));
  const steps = { copied: 0, verified: 0 };
  const watch = async (step: keyof typeof steps, rows: number) => {
    steps[step] += rows;
    copying.onProgress(step, steps[step], total);
    // SQLite runs synchronously, so this gives signals a chance to be noticed.
    await turn();
    if (copying.signal.aborted)
      throw new UsageError(
        `Stopped by ${String(copying.signal.reason)}. Run the same command again to continue.`,
      );
  };
  for (const table of STORED_TABLES) await copyTable(source, target, table, (rows) => watch('copied', rows));
  for (const table of STORED_TABLES) {
    const digests = [
      await digestOf(source, table, (rows) => watch('verified', rows)),
      await digestOf(target, table),
    ];
    if (digests[0] !== digests[1])
      throw new UsageError(
        `The copy of ${table.name} differs from its source: something wrote to one of them. Stop all servers, workers and feeds, empty the target, and copy again.`,
      );
  }
  await removeMarker(target, marker);
  return { rowCount: total };
}

async function refuseOutdated(source: Engine): Promise<void> {
  const { migrations, outdated } = await planMigration(source);
  if (migrations.length > 0 || outdated.some(({ records }) => records > 0))
    throw new UsageError('The source is not up to date: run "fieldledger migrate" on it first.');
}

/** Returns a digest of the companies, by which a copy recognises its source. */
async function digestOfCompanies(source: Engine): Promise<string> {
  const companies = await source.db
    .selectFrom('companies')
    .select(['id', 'created_at'])
    .orderBy('id')
    .execute();
  return createHash('sha256').update(JSON.stringify(companies)).digest('hex').slice(0, 16);
}

/** Creates the target's tables, or continues an interrupted copy. */
async function beginCopy(target: Engine, marker: string): Promise<void> {
  if (await hasMarker(target, marker)) return;
  if (await hasMarker(target, `${UNFINISHED_COPY_PREFIX}%`))
    throw new UsageError(
      'The target has a part of a copy that was broken off, of another source, or of this one before its companies changed. Empty the target, and copy again.',
    );
  await migrate(target);
  for (const table of STORED_TABLES.filter(({ key }) => key.length > 0))
    if ((await lastRow(target, table)) !== undefined)
      throw new UsageError(
        `The target is not empty: its table ${table.name} has rows. Name an empty database.`,
      );
  const insertion = sql`INSERT INTO migrations (name) VALUES (${marker}) ON CONFLICT DO NOTHING`;
  const { numAffectedRows } = await target.transaction((transaction) => insertion.execute(transaction));
  if (numAffectedRows === 0n) throw new UsageError('Another copy has just begun to fill the target.');
}

/** Whether an unfinished copy is marked in a database. @param marker may end in `%`, which stands for any digest. */
async function hasMarker(engine: Engine, marker: string): Promise<boolean> {
  try {
    const { rows } = await sql`SELECT name FROM migrations WHERE name LIKE ${marker}`.execute(engine.db);
    return rows.length > 0;
  } catch {
    // A new database has no such table. Migrating it will report any other fault.
    return false;
  }
}

async function removeMarker(target: Engine, marker: string): Promise<void> {
  const deletion = sql`DELETE FROM migrations WHERE name = ${marker}`;
  await target.transaction((transaction) => deletion.execute(transaction));
}

async function copyTable(
  source: Engine,
  target: Engine,
  table: Table,
  onRows: (count: number) => Promise<void>,
): Promise<void> {
  const columns = writtenColumns(table);
  const after = await lastRow(target, table);
  // The baseline migration has inserted a row.
  if (table.name === 'served_clock') await target.run('DELETE FROM served_clock');
  if (after !== undefined) await onRows(await countRows(target.db, sql.table(table.name)));
  for await (const rows of batchesOf<TableRow>(source.db, { ...selectionOf(table, columns), after })) {
    const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
    await target.transaction(async (transaction) => {
      await sql`
        INSERT INTO ${sql.table(table.name)} (${columnList(columns)}) VALUES ${sql.join(values)}`.execute(
        transaction,
      );
    });
    await onRows(rows.length);
  }
}

/** Returns a digest of all rows of a table, which is equal on both engines. */
async function digestOf(
  engine: Engine,
  table: Table,
  onRows: (count: number) => Promise<void> = async () => undefined,
): Promise<string> {
  const columns = writtenColumns(table).sort();
  const digest = createHash('sha256');
  for await (const rows of batchesOf<TableRow>(engine.db, selectionOf(table, columns))) {
    for (const row of rows)
      digest.update(`${JSON.stringify(columns.map((column) => textOf(row[column])))}\n`);
    await onRows(rows.length);
  }
  return digest.digest('hex');
}

/** Returns a value as text. PostgreSQL's driver returns 64-bit integers as text, and SQLite's as numbers. */
function textOf(value: TableRow[string]): string | null {
  if (value === null || value === undefined) return null;
  return Buffer.isBuffer(value) ? value.toString('base64') : `${value as string | number}`;
}
