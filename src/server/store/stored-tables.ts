import { type RawBuilder, sql } from 'kysely';

import { resources } from '../../contract/records.ts';
import { columnList, type Selection } from './batches.ts';
import { dialectOf } from './dialects/dialect.ts';
import type { Engine, StoreTransaction } from './engines/engine.ts';
import type { Tables } from './schema.ts';

/** A table as it is gone through: in the order of its key. */
export interface StoredTable {
  name: keyof Tables;
  /** Unique, and never changed; empty where the table has one row. */
  key: readonly string[];
  /** The rows that belong to a company; null where none do. */
  ofCompany: ((company: string) => RawBuilder<boolean>) | null;
}

export type Row = Record<string, unknown>;

const ownRows = (company: string) => sql<boolean>`company = ${company}`;

function table(
  name: keyof Tables,
  key: readonly string[],
  ofCompany: StoredTable['ofCompany'] = ownRows,
): StoredTable {
  return { name, key, ofCompany };
}

const sessionsOf = (company: string) =>
  sql<boolean>`administrator IN (SELECT id FROM administrators WHERE company = ${company})`;
const formsOf = (company: string) =>
  sql<boolean>`session IN (SELECT id FROM portal_sessions WHERE ${sessionsOf(company)})`;

/**
 * All that a store keeps: what a table refers to comes before it.
 * Migrations make `record_contracts`, the counts of rates live for a minute, and each store has a generation of its own.
 */
export const STORED_TABLES: readonly StoredTable[] = [
  table('erasures', ['id'], null),
  table('companies', ['id'], (company) => sql`id = ${company}`),
  // Before the keys: a server writes down uses of those that it finds, so these are erased after them.
  table('key_uses', ['company', 'key_id']),
  table('key_hours', ['company', 'hour', 'key_id']),
  table('api_keys', ['company', 'id']),
  ...resources.map((name) => table(name, ['company', 'id'])),
  table('company_clocks', ['company']),
  table('served_clock', [], null),
  table('number_series', ['company', 'series']),
  table('applied_changes', ['company', 'id']),
  table('feed_positions', ['company', 'source']),
  table('feed_tokens', ['id'], null),
  table('feed_token_companies', ['company', 'token']),
  table('logos', ['company', 'sha256']),
  table('documents', ['company', 'invoice']),
  table('webhooks', ['company', 'id']),
  table('events', ['id']),
  table('deliveries', ['company', 'webhook', 'id']),
  table('delivery_attempts', ['company', 'webhook', 'delivery', 'number']),
  table('webhook_hours', ['company', 'webhook', 'hour']),
  table('administrators', ['id']),
  table('portal_sessions', ['token_sha256'], sessionsOf),
  table('form_results', ['session', 'form'], formsOf),
  table('portal_links', ['token_sha256']),
  table('audit_entries', ['company', 'id']),
];

/** The columns of a table that the database doesn't compute itself. */
export async function columnsOf(engine: Engine, { name }: StoredTable): Promise<string[]> {
  const { rows } = await engine.dialect.columnsOf(name).execute(engine.db);
  return rows.map((row) => row.name);
}

/** The row with the greatest key; undefined where there is none, or no key. */
export async function lastRow(engine: Engine, { name, key }: StoredTable): Promise<Row | undefined> {
  if (key.length === 0) return undefined;
  const order = sql.join(key.map((column) => sql`${sql.ref(column)} DESC`));
  const { rows } = await sql<Row>`
    SELECT ${columnList(key)} FROM ${sql.table(name)} ORDER BY ${order} LIMIT 1`.execute(engine.db);
  return rows[0];
}

/** A PDF has some 30 kB, and every other row a few. */
const BATCH_ROWS = 500;
const BATCH_DOCUMENTS = 50;

/** A table as `batchesOf` reads it, with these columns and those of the key. */
export function selectionOf({ name, key }: StoredTable, columns: readonly string[]): Selection {
  return {
    columns: columnList([...new Set([...key, ...columns])]),
    from: sql.table(name),
    key,
    rowsMax: name === 'documents' ? BATCH_DOCUMENTS : BATCH_ROWS,
  };
}

/** @returns how many of the chosen rows were removed, at most `countMax`. */
export async function deleteSome(
  transaction: StoreTransaction,
  { name, key }: Pick<StoredTable, 'name' | 'key'>,
  {
    where,
    countMax,
    lock = sql``,
  }: { where: RawBuilder<boolean>; countMax: number; lock?: RawBuilder<unknown> },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${sql.table(name)} WHERE (${columnList(key)}) IN (
      SELECT ${columnList(key)} FROM ${sql.table(name)} WHERE ${where} LIMIT ${sql.lit(countMax)} ${lock}
    )`.execute(transaction);
  return Number(numAffectedRows);
}

/** Rows of one transaction. SQLite answers no request meanwhile. */
const HOURS_AT_ONCE = 250;

/** Removes counts of hours before one, a few at a time. @param before compares with the hours of the table. */
export async function removeOldHours(
  engine: Engine,
  name: 'key_hours' | 'webhook_hours',
  before: string,
): Promise<void> {
  const key = ['company', 'hour', name === 'key_hours' ? 'key_id' : 'webhook'];
  const where = sql<boolean>`hour < ${before}`;
  let removed = HOURS_AT_ONCE;
  while (removed === HOURS_AT_ONCE)
    removed = await engine.transaction((transaction) => {
      // Another process may be removing the same ones.
      const lock = dialectOf(transaction).forUpdateSkipLocked;
      return deleteSome(transaction, { name, key }, { where, countMax: HOURS_AT_ONCE, lock });
    });
}
