import { type RawBuilder, sql } from 'kysely';

import { columnList, type Selection } from './batches.ts';
import { dialectOf } from './dialects/dialect.ts';
import type { Engine, StoreTransaction } from './engines/engine.ts';
import { ofAllCompanies } from './machines.ts';
import type { Table } from './tables/table.ts';
import { allTables } from './tables/tables.ts';

/** All that a store keeps: what a table refers to comes before it. */
export const STORED_TABLES = allTables.filter(({ isOfDatabase, isCounter }) => !isOfDatabase && !isCounter);

export type TableRow = Record<string, unknown>;

/** Whether rows of a table belong to companies. */
export const isOfCompanies = (table: Table) => table.name === 'companies' || 'company' in table.columns;

/** Chooses the rows of a table that belong to a company. */
export function ownRows({ name }: Table, company: string): RawBuilder<boolean> {
  return name === 'companies' ? sql`id = ${company}` : sql`company = ${company}`;
}

/** The columns of a table that the database doesn't compute itself. */
export function writtenColumns({ columns }: Table): string[] {
  return Object.keys(columns).filter((name) => !columns[name]?.isComputed);
}

/** The row with the greatest key; undefined where there is none, or no key. */
export async function lastRow(engine: Engine, { name, key }: Table): Promise<TableRow | undefined> {
  if (key.length === 0) return undefined;
  const order = sql.join(key.map((column) => sql`${sql.ref(column)} DESC`));
  const { rows } = await sql<TableRow>`
    SELECT ${columnList(key)} FROM ${sql.table(name)} ORDER BY ${order} LIMIT 1`.execute(engine.db);
  return rows[0];
}

/** A PDF has some 30 kB, and every other row a few. */
const BATCH_ROWS = 500;
const BATCH_DOCUMENTS = 50;

/** A table as `batchesOf` reads it, with these columns and those of the key. */
export function selectionOf({ name, key }: Table, columns: readonly string[]): Selection {
  return {
    columns: columnList([...new Set([...key, ...columns])]),
    from: sql.table(name),
    key,
    rowsMax: name === 'documents' ? BATCH_DOCUMENTS : BATCH_ROWS,
  };
}

/**
 * Removes rows of a company, or those of them that are old.
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
  // On one machine the key alone finds the rows, however many the company has.
  const { isDistributed } = dialectOf(transaction);
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${sql.table(name)} WHERE ${isDistributed ? isOwn : sql`TRUE`} AND (${columnList(key)}) IN (
      SELECT ${columnList(key)} FROM ${sql.table(name)} WHERE ${isOwn} AND ${isOld}
      LIMIT ${sql.lit(countMax)} ${lock}
    )`.execute(transaction);
  return Number(numAffectedRows);
}

/** Rows of one transaction. SQLite answers no request meanwhile. */
const OLD_AT_ONCE = 250;

/**
 * Removes some of the rows from before a time, company by company.
 * @param before compares with the column that says when a row grew old.
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
  // Another process may be removing the same ones.
  const options = { isOld, countMax: OLD_AT_ONCE, lock: engine.dialect.forUpdateSkipLocked };
  let removed = 0;
  for (const { company } of found)
    removed += await engine.transaction((transaction) => deleteSome(transaction, table, company, options));
  return removed > 0;
}
