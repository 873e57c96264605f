import { type RawBuilder, sql } from 'kysely';

import { columnList, type Selection } from './batches.ts';
import { dialectOf } from './dialects/dialect.ts';
import type { Engine, StoreTransaction } from './engines/engine.ts';
import { ofAllCompanies } from './machines.ts';
import type { Table } from './tables/table.ts';
import { allTables } from './tables/tables.ts';

/** The tables with a store's lasting data, in order of dependency: referenced tables come first. */
export const STORED_TABLES = allTables.filter(({ isOfDatabase, isCounter }) => !isOfDatabase && !isCounter);

export type TableRow = Record<string, unknown>;

/** Whether each row of a table belongs to a company. */
export const isOfCompanies = (table: Table) => table.name === 'companies' || 'company' in table.columns;

/** Returns the SQL condition for a table's rows that belong to a company. */
export function ownRows({ name }: Table, company: string): RawBuilder<boolean> {
  return name === 'companies' ? sql`id = ${company}` : sql`company = ${company}`;
}

/** Returns the names of a table's columns that the database doesn't compute. */
export function writtenColumns({ columns }: Table): string[] {
  return Object.keys(columns).filter((name) => !columns[name]?.isComputed);
}

/** Returns the row with the greatest key; undefined if the table has no rows or no key. */
export async function lastRow(engine: Engine, { name, key }: Table): Promise<TableRow | undefined> {
  if (key.length === 0) return undefined;
  const order = sql.join(key.map((column) => sql`${sql.ref(column)} DESC`));
  const { rows } = await sql<TableRow>`
    SELECT ${columnList(key)} FROM ${sql.table(name)} ORDER BY ${order} LIMIT 1`.execute(engine.db);
  return rows[0];
}

/** Maximum rows per batch: a PDF has about 30 kB, and any other row a few. */
const BATCH_ROWS = 500;
const BATCH_DOCUMENTS = 50;

/** Returns the selection with which `batchesOf` reads a table: the given columns and those of the key. */
export function selectionOf({ name, key }: Table, columns: readonly string[]): Selection {
  return {
    columns: columnList([...new Set([...key, ...columns])]),
    from: sql.table(name),
    key,
    rowsMax: name === 'documents' ? BATCH_DOCUMENTS : BATCH_ROWS,
  };
}

/**
 * Deletes a batch of a company's rows, optionally only old ones.
 * @returns how many were removed, at most `countMax`.
 */
export async function deleteSome(
  transaction: StoreTransaction,
  table: Table,
  company: string,
  {
    countMax,
    isOld = sql`TRUE`,
    lock = sql``,
  }: { countMax: number; isOld?: RawBuilder<boolean>; lock?: RawBuilder<unknown> },
): Promise<number> {
  const { name, key } = table;
  const isOwn = ownRows(table, company);
  // On one machine the key alone finds the rows quickly, however many the company has.
  const { isDistributed } = dialectOf(transaction);
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${sql.table(name)} WHERE ${isDistributed ? isOwn : sql`TRUE`} AND (${columnList(key)}) IN (
      SELECT ${columnList(key)} FROM ${sql.table(name)} WHERE ${isOwn} AND ${isOld}
      LIMIT ${sql.lit(countMax)} ${lock}
    )`.execute(transaction);
  return Number(numAffectedRows);
}

/** Maximum number of rows deleted per transaction, during which SQLite blocks all requests. */
const OLD_AT_ONCE = 250;

/**
 * Deletes a batch of rows older than a given time, company by company.
 * @param before the limit for the table's `age` column.
 * @returns whether there may be more.
 */
export async function removeBefore(engine: Engine, table: Table, before: string): Promise<boolean> {
  const { name, age } = table;
  if (age === undefined) throw new Error(`Rows of ${name} don't grow old.`);
  const isOld = sql<boolean>`${sql.ref(age)} < ${before}`;
  const found = await ofAllCompanies(
    engine,
    (isReached) => sql<{ company: string }>`
      SELECT DISTINCT company
      FROM (SELECT company FROM ${sql.table(name)} WHERE ${isOld} AND ${isReached('company')} LIMIT ${sql.lit(OLD_AT_ONCE)}) AS old`,
  );
  // Another process may be removing the same rows.
  const options = { isOld, countMax: OLD_AT_ONCE, lock: engine.dialect.forUpdateSkipLocked };
  let removed = 0;
  for (const { company } of found)
    removed += await engine.transaction((transaction) => deleteSome(transaction, table, company, options));
  return removed > 0;
}
