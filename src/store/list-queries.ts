import {
  type Compilable,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  type SqlBool,
} from 'kysely';

import type { Engine } from './engine.ts';
import type { ListedRow, Range, Selection } from './lists.ts';
import type { Tables } from './schema.ts';

/** Stand-ins for the values of a selection (see ./slots.ts), by the names that `bindings` gives them. */
export type Slots = Record<string, unknown>;
// The tables of records share the columns that a list reads, which Kysely's types can't express for a table that is
// known only when the program runs: such queries are built over an untyped table.
export type AnyTables = Record<string, Record<string, never>>;
export type Query = SelectQueryBuilder<AnyTables, string, object>;

/** The values of a selection by the names of their slots. */
export function bindings({ company, streams, ranges }: Selection): Record<string, unknown> {
  const values: Record<string, unknown> = { company };
  streams.forEach((stream, index) => {
    for (const [column, value] of Object.entries(stream)) values[streamSlot(index, column)] = value;
  });
  ranges.forEach(({ from, to }, index) => {
    values[`from${index}`] = from;
    values[`to${index}`] = to;
  });
  return values;
}

export const streamSlot = (index: number, column: string) => `stream${index}_${column}`;

/**
 * Walks the rows of a selection without ranges in id order, no further than the last row wanted: one index for each
 * stream, merged by the database, which reads no further than somebody asks.
 *
 * PostgreSQL plans each stream by itself. Without an order and a limit of its own it collects the whole stream and
 * sorts it. SQLite would sort what comes in order.
 */
export function walkQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  slot: Slots,
  rowsMax: number,
) {
  const columns = ['id', 'body', 'digest'];
  const streams = selection.streams.map((stream, index) => {
    let query = untyped(db)
      .selectFrom(selection.table)
      .select(columns)
      .where('company', '=', slot.company as never);
    for (const column of Object.keys(stream))
      query = query.where(column, '=', slot[streamSlot(index, column)] as never);
    query = query.where('id', '>', slot.after as never);
    if (engine.name === 'sqlite') return query;
    return untyped(db)
      .selectFrom(query.orderBy('id').limit(sql.lit(rowsMax)).as('stream'))
      .select(columns);
  });
  const [first, ...others] = streams;
  if (!first) throw new Error('A selection without a stream has no rows.');
  const union = others.reduce<Query>((walked, stream) => walked.unionAll(stream as never), first);
  return union.orderBy('id').limit(slot.limit as never) as unknown as Compilable<ListedRow>;
}

/**
 * The column as an expression that no index serves, where another index is to be used: a planner would rather walk by
 * id, or read all of another range. SQLite compiles this into the statement, where it would call a function thousands of
 * times for one list.
 */
export const unindexed = (column: string) => sql`COALESCE(${sql.ref(column)}, ${sql.ref(column)})`;

export const plain = (column: string) => sql.ref(column);

/** Whether a range is one of days; the others are of times. */
export const isOfDays = ({ column }: Range) => !column.endsWith('_at');

/** What a row has to fulfil to lie in a range. */
export function liesIn(
  { column, from, to }: Range,
  at: number,
  slot: Slots,
  refer: (column: string) => RawBuilder<unknown> = unindexed,
): RawBuilder<unknown>[] {
  return [
    ...(from === undefined ? [] : [sql`${refer(column)} >= ${slot[`from${at}`]}`]),
    ...(to === undefined ? [] : [sql`${refer(column)} <= ${slot[`to${at}`]}`]),
  ];
}

export function and(conditions: RawBuilder<unknown>[]): RawBuilder<SqlBool> {
  return sql.join(conditions, sql` AND `);
}

export function untyped(db: Kysely<Tables>): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>;
}
