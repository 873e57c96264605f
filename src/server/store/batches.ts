import { type RawBuilder, sql } from 'kysely';

import type { Connection } from './dialects/dialect.ts';

/** A query whose rows are read in batches, in the order of its key. */
export interface Selection {
  columns: RawBuilder<unknown>;
  /** SQL for a table and any joins. */
  from: RawBuilder<unknown>;
  where?: RawBuilder<boolean> | undefined;
  /** Columns that together are unique and never change; empty for a table with one row. */
  key: readonly string[];
  rowsMax: number;
  after?: Readonly<Record<string, unknown>> | undefined;
}

/** Yields the rows of a selection in batches; other transactions may write in between. */
export async function* batchesOf<Row extends object>(
  db: Connection,
  selection: Selection,
): AsyncGenerator<Row[]> {
  let { after } = selection;
  for (;;) {
    const rows = await readBatch<Row>(db, { ...selection, after });
    if (rows.length > 0) yield rows;
    if (rows.length < selection.rowsMax) return;
    // Every row includes the columns of the key.
    after = rows.at(-1) as Selection['after'];
  }
}

export async function readBatch<Row extends object>(
  db: Connection,
  { columns, from, where = sql`TRUE`, key, rowsMax, after }: Selection,
): Promise<Row[]> {
  const values = key.map((column) => after?.[nameOf(column)]);
  const place = after ? sql`AND (${columnList(key)}) > (${sql.join(values)})` : sql``;
  const order = key.length > 0 ? sql`ORDER BY ${columnList(key)}` : sql``;
  const { rows } = await sql<Row>`
    SELECT ${columns} FROM ${from} WHERE ${where} ${place} ${order} LIMIT ${sql.lit(rowsMax)}`.execute(db);
  return rows;
}

export async function countRows(
  db: Connection,
  from: RawBuilder<unknown>,
  where = sql<boolean>`TRUE`,
): Promise<number> {
  const { rows } = await sql<{ count: number | string }>`
    SELECT COUNT(*) AS count FROM ${from} WHERE ${where}`.execute(db);
  return Number(rows[0]?.count);
}

/** Whether a table has a row that meets the condition `where`. */
export async function hasRow(
  db: Connection,
  from: RawBuilder<unknown>,
  where: RawBuilder<boolean>,
): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM ${from} WHERE ${where} LIMIT 1`.execute(db);
  return rows.length > 0;
}

export function columnList(columns: readonly string[]) {
  return sql.join(columns.map((column) => sql.ref(column)));
}

/** Returns the name under which a row has a column: `id` for `d.id`. */
const nameOf = (column: string) => column.slice(column.indexOf('.') + 1);
