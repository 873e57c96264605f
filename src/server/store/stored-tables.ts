import { type RawBuilder, sql } from 'kysely';

import { resources } from '../../contract/records.ts';
import { columnList, type Selection } from './batches.ts';
import { dialectOf } from './dialects/dialect.ts';
import type { Engine, StoreTransaction } from './engines/engine.ts';
import { ofAllCompanies } from './machines.ts';
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
  table('hand_overs', ['company', 'id']),
  table('webhooks', ['company', 'id']),
  table('events', ['id']),
  table('deliveries', ['company', 'webhook', 'id']),
  table('delivery_attempts', ['company', 'webhook', 'delivery', 'number']),
  table('webhook_hours', ['company', 'webhook', 'hour']),
  table('administrators', ['id']),
  table('portal_sessions', ['token_sha256']),
  table('form_results', ['session', 'form']),
  table('portal_links', ['token_sha256']),
  table('audit_entries', ['company', 'id']),
  table('notices', ['company', 'id']),
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

/**
 * Removes rows of a company, or those of them that are old.
 * @returns how many were removed, at most `countMax`.
 */
export async function deleteSome(
  transaction: StoreTransaction,
  { name, key, ofCompany }: StoredTable,
  company: string,
  {
    countMax,
    isOld = sql`TRUE`,
    lock = sql``,
  }: { countMax: number; isOld?: RawBuilder<boolean>; lock?: RawBuilder<unknown> },
): Promise<number> {
  const isOwn = ofCompany?.(company) ?? sql`FALSE`;
  // On one machine the key alone finds the rows, however many the company has.
  const { isDistributed } = dialectOf(transaction);
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${sql.table(name)} WHERE ${isDistributed ? isOwn : sql`TRUE`} AND (${columnList(key)}) IN (
      SELECT ${columnList(key)} FROM ${sql.table(name)} WHERE ${isOwn} AND ${isOld}
      LIMIT ${sql.lit(countMax)} ${lock}
    )`.execute(transaction);
  return Number(numAffectedRows);
}

/** The tables whose rows grow old, with the column that says when. */
const AGES = {
  applied_changes: 'applied_at',
  key_hours: 'hour',
  notices: 'created_at',
  portal_links: 'expires_at',
  portal_sessions: 'expires_at',
  webhook_hours: 'hour',
} as const;

/** Rows of one transaction. SQLite answers no request meanwhile. */
const OLD_AT_ONCE = 250;

/**
 * Removes some of the rows from before a time, company by company.
 * @param before compares with the table's column.
 * @returns whether there may be more.
 */
export async function removeBefore(
  engine: Engine,
  name: keyof typeof AGES,
  before: string,
): Promise<boolean> {
  const table = STORED_TABLES.find((one) => one.name === name);
  if (!table) throw new Error(`${name} isn't kept.`);
  const isOld = sql<boolean>`${sql.ref(AGES[name])} < ${before}`;
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
