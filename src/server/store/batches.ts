import { type RawBuilder, sql } from 'kysely';

import type { Connection } from './dialects/dialect.ts';

/** Rows that are read in the order of a key. */
export interface Selection {
  columns: RawBuilder<unknown>;
  /** A table, with what is joined to it. */
  from: RawBuilder<unknown>;
  where?: RawBuilder<boolean> | undefined;
  /** Names of columns that are unique together, never change, and are among the selected ones; none where there is one row. */
  key: readonly string[];
  rowsMax: number;
  /** The key after which the rows begin. */
  after?: Readonly<Record<string, unknown>> | undefined;
}

/** Reads a selection, some rows at a time; others may write meanwhile. */
export async function* batchesOf<Row extends object>(
  db: Connection,
  selection: Selection,
): AsyncGenerator<Row[]> {
  let { after } = selection;
  for (;;) {
    const rows = await readBatch<Row>(db, { ...selection, after });
    if (rows.length > 0) yield rows;
    if (rows.length < selection.rowsMax) return;
    // A row has the columns of the key, whatever else it has.
    after = rows.at(-1) as Selection['after'];
  }
}

/** Reads the first rows of a selection. */
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

/** How many rows a table has, or how many of them `where` chooses. */
export async function countRows(
  db: Connection,
  from: RawBuilder<unknown>,
  where = sql<boolean>`TRUE`,
): Promise<number> {
  const { rows } = await sql<{ count: number | string }>`
    SELECT COUNT(*) AS count FROM ${from} WHERE ${where}`.execute(db);
  return Number(rows[0]?.count);
}

export function columnList(columns: readonly string[]) {
  return sql.join(columns.map((column) => sql.ref(column)));
}

/** The name of a column in a row: `id` of `d.id`. */
const nameOf = (column: string) => column.slice(column.indexOf('.') + 1);
