import { type ExpressionBuilder, type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';

import type { Engine, PreparedQuery } from './engine.ts';
import type { RecordTableName, Tables } from './schema.ts';

/** A condition on a column that no id-ordered index begins with: bounds are inclusive and compare as text. */
export interface Range {
  column: string;
  from?: string | undefined;
  to?: string | undefined;
  /** Columns of the selection's one stream that come before `column` in the range's index. */
  within?: readonly string[];
}

/**
 * What a list asks of a table: the rows of one company that lie in one of `streams` and in every range, in id order.
 *
 * A stream fixes the first columns of an index that ends with the id, so its rows come out of that index in order;
 * several streams are merged lazily. `[{}]` is the whole company by its ids, `[]` is nothing at all.
 */
export interface Selection {
  table: RecordTableName;
  company: string;
  streams: readonly Readonly<Record<string, string>>[];
  ranges: readonly Range[];
}

export interface ListedRow {
  id: string;
  body: string;
}

/** Reads at most `limit` rows, and never more than 101, of a selection whose ids come after `after` (`''`: from the beginning). */
export type ReadList = (selection: Selection, after: string, limit: number) => Promise<ListedRow[]>;

/**
 * Up to this many matches of a range are looked up one by one and sorted: a bounded alternative to walking past the
 * rows that don't match. More matches than this are dense enough to be met on a walk in id order.
 */
const SORTED_MATCHES_MAX = 1_000;

/** The most rows that a reader is asked for: a full page, and one more to see whether there is a next page. */
const ROWS_MAX = 101;

/** Builds the reader of lists; its statements are compiled once for each shape of selection and kept. */
export function createListReader(engine: Engine): ReadList {
  const walks = new Map<string, PreparedQuery<Record<string, unknown>, ListedRow>>();
  const probes = new Map<string, PreparedQuery<Record<string, unknown>, { matches: number }>>();
  const sorts = new Map<string, PreparedQuery<Record<string, unknown>, ListedRow>>();
  return async (selection, after, limit) => {
    if (selection.streams.length === 0) return [];
    const values = { ...bindings(selection), after, limit };
    const shape = shapeOf(selection);
    for (const [index] of selection.ranges.entries()) {
      const key = `${shape} ${index}`;
      const probe = remember(probes, key, () =>
        engine.prepare((db, slot) => probeQuery(db, selection, index, slot)),
      );
      const [counted] = await probe(values);
      if (counted && counted.matches <= SORTED_MATCHES_MAX) {
        const sort = remember(sorts, key, () =>
          engine.prepare((db, slot) => sortQuery(db, selection, index, slot)),
        );
        return sort(values);
      }
    }
    const walk = remember(walks, shape, () =>
      engine.prepare((db, slot) => walkQuery(engine, db, selection, slot)),
    );
    return walk(values);
  };
}

function remember<T>(cache: Map<string, T>, key: string, make: () => T): T {
  let value = cache.get(key);
  if (value === undefined) {
    value = make();
    cache.set(key, value);
  }
  return value;
}

/** Selections of one shape differ in their values only, so they share a statement. */
function shapeOf({ table, streams, ranges }: Selection): string {
  const columns = streams.map((stream) => Object.keys(stream).join('+')).join(' ');
  const bounds = ranges.map(
    ({ column, from, to }) => `${column}${from === undefined ? '' : '>'}${to === undefined ? '' : '<'}`,
  );
  return `${table} ${columns} ${bounds.join(' ')}`;
}

function bindings({ company, streams, ranges }: Selection): Record<string, unknown> {
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

const streamSlot = (index: number, column: string) => `stream${index}_${column}`;

type Slots = Record<string, unknown>;
// The tables of records share the columns that a list reads, which Kysely's types can't express for a table that is
// known only when the program runs: inside this file queries are built over an untyped table.
type AnyTables = Record<string, Record<string, never>>;
type Query = SelectQueryBuilder<AnyTables, string, object>;

/**
 * Walks the rows in id order: one index for each stream, merged by the database, which reads no further than the
 * last row wanted.
 *
 * PostgreSQL plans each stream by itself. Without an order and a limit of its own it collects the whole stream and
 * sorts it, which for a limit that isn't known yet looks cheaper than a walk. SQLite would sort what comes in order.
 */
export function walkQuery(engine: Engine, db: Kysely<Tables>, selection: Selection, slot: Slots) {
  const streams = selection.streams.map((_stream, index) => {
    const stream = streamQuery(db, selection, index, slot);
    if (engine.name === 'sqlite') return stream;
    return untyped(db)
      .selectFrom(stream.orderBy('id').limit(sql.lit(ROWS_MAX)).as('stream'))
      .select(['id', 'body']);
  });
  const [first, ...others] = streams;
  if (!first) throw new Error('A selection without a stream has no rows to walk.');
  const walk = others.reduce<Query>((union, other) => union.unionAll(other as never), first);
  const page = walk.orderBy('id').limit(slot.limit as never);
  return page as unknown as SelectQueryBuilder<Tables, never, ListedRow>;
}

function streamQuery(
  db: Kysely<Tables>,
  { table, streams, ranges }: Selection,
  index: number,
  slot: Slots,
): Query {
  let query = untyped(db)
    .selectFrom(table)
    .select(['id', 'body'])
    .where('company', '=', slot.company as never);
  for (const column of Object.keys(streams[index] ?? {})) {
    query = query.where(column, '=', slot[streamSlot(index, column)] as never);
  }
  query = query.where('id', '>', slot.after as never);
  ranges.forEach((range, rangeIndex) => {
    query = withinRange(query, range, rangeIndex, slot, unindexed);
  });
  return query;
}

/** Counts the matches of one range, but no further than the limit for sorting them. */
export function probeQuery(db: Kysely<Tables>, selection: Selection, index: number, slot: Slots) {
  return db
    .with('matches', () => rangeQuery(db, selection, index, slot).limit(sql.lit(SORTED_MATCHES_MAX + 1)))
    .selectFrom('matches')
    .select(sql<number>`CAST(COUNT(*) AS INTEGER)`.as('matches'));
}

/**
 * Finds the matches of one range by its own index, looks up by id which of them the selection wants, sorts those, and
 * reads the texts of one page. The look-ups are scalar subqueries because a planner can't turn them into anything else:
 * of a join PostgreSQL made a merge with the whole table.
 */
export function sortQuery(db: Kysely<Tables>, selection: Selection, index: number, slot: Slots) {
  const wanted = untyped(db)
    .with(
      (matches) => matches('matches').materialized(),
      () => rangeQuery(db, selection, index, slot),
    )
    .selectFrom('matches')
    .select('id' as never)
    .$if(hasFurtherConditions(selection, index), (query) =>
      query.where(sql`(${furtherConditions(db, selection, index, slot)})`, '=', sql.lit(1)),
    )
    .orderBy('id')
    .limit(slot.limit as never);
  const body = untyped(db)
    .selectFrom(`${selection.table} as record`)
    .select('body')
    .where('company', '=', slot.company as never)
    .whereRef('id', '=', 'wanted.id');
  const page = untyped(db)
    .selectFrom(wanted.as('wanted'))
    .select(['id', body.as('body') as never])
    .orderBy('id');
  return page as unknown as SelectQueryBuilder<Tables, never, ListedRow>;
}

/** Whether a match of one range can still be a row that the selection doesn't want. */
function hasFurtherConditions({ streams, ranges }: Selection, index: number): boolean {
  const within = ranges[index]?.within ?? [];
  const isInside = streams.some((stream) => Object.keys(stream).every((column) => within.includes(column)));
  return ranges.length > 1 || !isInside;
}

/** One row when the record of a match lies in one of the streams and in the other ranges, none otherwise. */
function furtherConditions(db: Kysely<Tables>, selection: Selection, index: number, slot: Slots) {
  const { table, streams, ranges } = selection;
  let query = untyped(db)
    .selectFrom(`${table} as record`)
    .select(sql.lit(1).as('found'))
    .where('record.company', '=', slot.company as never)
    .whereRef('record.id', '=', 'matches.id')
    .where((where) =>
      where.or(streams.map((stream, streamIndex) => inStream(where, stream, streamIndex, slot))),
    );
  ranges.forEach((range, rangeIndex) => {
    if (rangeIndex !== index) query = withinRange(query, range, rangeIndex, slot, unindexed);
  });
  return query;
}

/**
 * The column as an expression that no index serves, where another index is to be used: looking up one row by its id,
 * or walking in id order, a planner would rather read all of a range that it takes for short. No column holds an empty
 * text, so the value stays what it is.
 */
const unindexed = (column: string) => sql`NULLIF(${sql.ref(column)}, '')`;

function inStream(
  where: ExpressionBuilder<AnyTables, string>,
  stream: Readonly<Record<string, string>>,
  index: number,
  slot: Slots,
) {
  return where.and(
    Object.keys(stream).map((column) =>
      where(`record.${column}`, '=', slot[streamSlot(index, column)] as never),
    ),
  );
}

/** The ids of the rows of one range that come after the cursor, out of the index that begins with its column. */
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
  return withinRange(query, range, index, slot).where('id', '>', slot.after as never);
}

function withinRange<Q extends Query>(
  query: Q,
  { column, from, to }: Range,
  index: number,
  slot: Slots,
  refer: (column: string) => RawBuilder<unknown> = (name) => sql.ref(name),
): Q {
  let bounded: Query = query;
  if (from !== undefined) bounded = bounded.where(refer(column), '>=', slot[`from${index}`] as never);
  if (to !== undefined) bounded = bounded.where(refer(column), '<=', slot[`to${index}`] as never);
  return bounded as Q;
}

function untyped(db: Kysely<Tables>): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>;
}
