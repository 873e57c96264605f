import {
  type Compilable,
  type ExpressionBuilder,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
} from 'kysely';

import type { Engine } from './engine.ts';
import type { ListedRow, Range, Selection } from './lists.ts';
import type { Tables } from './schema.ts';

/** Stand-ins for the values of a selection (see ./slots.ts), by the names that `bindings` gives them. */
export type Slots = Record<string, unknown>;
// The tables of records share the columns that a list reads, which Kysely's types can't express for a table that is
// known only when the program runs: inside this file queries are built over an untyped table.
type AnyTables = Record<string, Record<string, never>>;
type Query = SelectQueryBuilder<AnyTables, string, object>;

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

/** Counts the matches of one range, but no further than is asked for. */
export function countQuery(db: Kysely<Tables>, selection: Selection, index: number, slot: Slots) {
  const matches = rangeQuery(db, selection, index, slot).limit(slot.countMax as never);
  const count = untyped(db)
    .selectFrom(matches.as('counted'))
    .select(sql<number>`CAST(COUNT(*) AS INTEGER)`.as(`count${index}`));
  return count as unknown as Compilable<Record<string, number>>;
}

/** Finds the matches of one range by its own index and sorts those that the selection wants. */
export function sortQuery(db: Kysely<Tables>, selection: Selection, index: number, slot: Slots) {
  const ids = narrowed(rangeQuery(db, selection, index, slot), selection, index, slot, unindexed);
  return withBodies(db, selection, slot, ids.orderBy(unindexed('id')).limit(slot.limit as never));
}

/** The matches of one range, but no more than are asked for, with whatever else decides about them. */
export function matchesQuery(db: Kysely<Tables>, selection: Selection, index: number, slot: Slots): Query {
  const { streams, ranges } = selection;
  const columns = new Set([...streams.flatMap(Object.keys), ...ranges.map(({ column }) => column)]);
  return rangeQuery(db, selection, index, slot)
    .select([...columns])
    .limit(slot.countMax as never);
}

/** Those of the `matches` of a range that the selection wants, in no order. */
export function wantedQuery(
  db: Kysely<Tables>,
  selection: Selection,
  index: number,
  slot: Slots,
  matches: string,
): Query {
  return narrowed(untyped(db).selectFrom(matches).select('id'), selection, index, slot, plain);
}

/** Leaves the matches of one range that come after the cursor, and lie in a stream and in every other range. */
function narrowed(
  query: Query,
  { streams, ranges }: Selection,
  index: number,
  slot: Slots,
  refer: (column: string) => RawBuilder<unknown>,
): Query {
  const inStreams = query
    .where(refer('id'), '>', slot.after as never)
    .where((where) =>
      where.or(streams.map((stream, streamIndex) => inStream(where, stream, streamIndex, slot, refer))),
    );
  return ranges.reduce(
    (inRanges, range, rangeIndex) =>
      rangeIndex === index ? inRanges : withinRange(inRanges, range, rangeIndex, slot, refer),
    inStreams,
  );
}

/** The rows whose ids a query gives, in id order. Texts are read for these alone, whatever was passed on the way. */
function withBodies(db: Kysely<Tables>, { table }: Selection, slot: Slots, ids: Query) {
  const rows = untyped(db)
    .selectFrom(ids.as('wanted'))
    // SQLite would otherwise begin with the records.
    .leftJoin(`${table} as record`, (join) =>
      join.on('record.company', '=', slot.company as never).onRef('record.id', '=', 'wanted.id'),
    )
    .select(['wanted.id', 'record.body', 'record.digest'])
    .orderBy('wanted.id');
  return rows as unknown as Compilable<ListedRow>;
}

function inStream(
  where: ExpressionBuilder<AnyTables, string>,
  stream: Readonly<Record<string, string>>,
  index: number,
  slot: Slots,
  refer: (column: string) => RawBuilder<unknown>,
) {
  return where.and(
    Object.keys(stream).map((column) => where(refer(column), '=', slot[streamSlot(index, column)] as never)),
  );
}

/** The ids of the rows of one range, out of the index that begins with its column. */
function rangeQuery(
  db: Kysely<Tables>,
  { table, ranges, streams }: Selection,
  index: number,
  slot: Slots,
): Query {
  const range = ranges[index];
  if (!range) throw new Error(`The selection has no range ${index}.`);
  let query = untyped(db)
    .selectFrom(table)
    .select('id')
    .where('company', '=', slot.company as never);
  if (range.within && streams.length !== 1)
    throw new Error('A range within a stream needs exactly one stream.');
  for (const column of range.within ?? [])
    query = query.where(column, '=', slot[streamSlot(0, column)] as never);
  return withinRange(query, range, index, slot);
}

function withinRange(
  query: Query,
  { column, from, to }: Range,
  index: number,
  slot: Slots,
  refer: (column: string) => RawBuilder<unknown> = plain,
): Query {
  let bounded = query;
  if (from !== undefined) bounded = bounded.where(refer(column), '>=', slot[`from${index}`] as never);
  if (to !== undefined) bounded = bounded.where(refer(column), '<=', slot[`to${index}`] as never);
  return bounded;
}

/**
 * The column as an expression that no index serves, where another index is to be used: a planner would rather walk by
 * id, or read all of another range. SQLite compiles this into the statement, where it would call a function thousands of
 * times for one list.
 */
export const unindexed = (column: string) => sql`COALESCE(${sql.ref(column)}, ${sql.ref(column)})`;

const plain = (column: string) => sql.ref(column);

function untyped(db: Kysely<Tables>): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>;
}
