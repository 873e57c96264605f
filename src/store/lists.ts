import {
  type Compilable,
  type ExpressionBuilder,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
} from 'kysely';

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

/** Reads at most `limit` rows, 101 at the most, of a selection whose ids come after `after` (`''`: all). */
export type ReadList = (selection: Selection, after: string, limit: number) => Promise<ListedRow[]>;

/** The most rows that a reader is asked for: a full page, and one more to see whether there is a next page. */
const ROWS_MAX = 101;

/**
 * How a list with ranges is read: a range with few matches is sorted, which costs as much as it has matches. Where all
 * have more, their matches are looked for among the next rows in id order, which fills a page unless they are rare
 * there. Only then is a long range sorted, the shorter one if there are two: an entry of an index for each match, which
 * is far less than passing all the rows that don't match. On 200,000 jobs of which the newest 1,500 are asked for, that
 * is 2 milliseconds instead of 60.
 */
const FEW_MATCHES_MAX = 1_000;
const HOP_ROWS_MAX = 2_000;
/** With fewer rows left than this a hop has seen them all, even if some came or went between the two statements. */
const LEFT_ROWS_MAX = 1_000;
const SHORTER_MATCHES_MAX = 20_000;

/** Builds the reader of lists; its statements are compiled once for each shape of selection and kept. */
export function createListReader(engine: Engine): ReadList {
  const statements = new Map<string, PreparedQuery<Slots, never>>();
  const prepare = <Row>(name: string, selection: Selection, build: Build<Row>): PreparedQuery<Slots, Row> => {
    const key = `${name} ${shapeOf(selection)}`;
    const known = statements.get(key);
    // Under one name there is one kind of statement.
    if (known) return known;
    // A plan for any values at all can be far from the best one for these: a status may be all rows' or nobody's.
    const statement = engine.prepare(build, { isPlannedAnew: true });
    statements.set(key, statement as PreparedQuery<Slots, never>);
    return statement;
  };
  return async (selection, after, limit) => {
    if (selection.streams.length === 0) return [];
    const values = { ...bindings(selection), after, limit };
    if (selection.ranges.length === 0) {
      const walk = prepare('walk', selection, (db, slot) => walkQuery(engine, db, selection, slot));
      return walk(values);
    }
    const sort = (range: number) =>
      prepare(`sort ${range}`, selection, (db, slot) => sortQuery(db, selection, range, slot))(values);
    const findShortRange = async (matchesMax: number) => {
      for (const [range] of selection.ranges.entries()) {
        const count = prepare(`count ${range}`, selection, (db, slot) =>
          countQuery(db, selection, range, slot),
        );
        const [counted] = await count({ ...values, countMax: matchesMax + 1 });
        if (counted && counted.count <= matchesMax) return range;
      }
      return undefined;
    };
    const short = await findShortRange(FEW_MATCHES_MAX);
    if (short !== undefined) return sort(short);
    const hop = prepare('hop', selection, (db, slot) => hopQuery(engine, db, selection, slot));
    const rows = await hop(values);
    if (rows.length === limit) return rows;
    const left = prepare('left', selection, (db, slot) => leftQuery(engine, db, selection, slot));
    const [counted] = await left(values);
    if (counted && counted.count < LEFT_ROWS_MAX) return rows;
    return sort((await findShortRange(SHORTER_MATCHES_MAX)) ?? 0);
  };
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

type Build<Row> = (db: Kysely<Tables>, slot: Slots) => Compilable<Row>;

/** Walks the rows of a selection without ranges in id order, no further than the last row wanted. */
function walkQuery(engine: Engine, db: Kysely<Tables>, selection: Selection, slot: Slots) {
  const walk = merged(engine, db, selection, slot, { columns: ['id', 'body'], rowsMax: ROWS_MAX });
  return walk.limit(slot.limit as never) as unknown as Compilable<ListedRow>;
}

/** Looks for the rows that lie in every range among the next rows in id order. */
function hopQuery(engine: Engine, db: Kysely<Tables>, selection: Selection, slot: Slots) {
  const columns = ['id', ...selection.ranges.map(({ column }) => column)];
  const next = merged(engine, db, selection, slot, { columns, rowsMax: HOP_ROWS_MAX });
  let query = untyped(db).selectFrom(next.limit(sql.lit(HOP_ROWS_MAX)).as('found'));
  selection.ranges.forEach((range, index) => {
    query = withinRange(query, range, index, slot);
  });
  return withBodies(
    db,
    selection,
    slot,
    query
      .select('id')
      .orderBy('id')
      .limit(slot.limit as never),
  );
}

/** Counts the next rows in id order, whether they lie in the ranges or not, but no further than it matters. */
function leftQuery(engine: Engine, db: Kysely<Tables>, selection: Selection, slot: Slots) {
  const next = merged(engine, db, selection, slot, { columns: ['id'], rowsMax: LEFT_ROWS_MAX });
  return counted(db, next.limit(sql.lit(LEFT_ROWS_MAX)));
}

/** Counts the matches of one range, but no further than is asked for. */
function countQuery(db: Kysely<Tables>, selection: Selection, index: number, slot: Slots) {
  return counted(db, rangeQuery(db, selection, index, slot).limit(slot.countMax as never));
}

/** Finds the matches of one range by its own index and sorts those that the selection wants. */
function sortQuery(db: Kysely<Tables>, selection: Selection, index: number, slot: Slots) {
  let query = rangeQuery(db, selection, index, slot)
    .where(unindexed('id'), '>', slot.after as never)
    .where((where) =>
      where.or(selection.streams.map((stream, streamIndex) => inStream(where, stream, streamIndex, slot))),
    );
  selection.ranges.forEach((range, rangeIndex) => {
    if (rangeIndex !== index) query = withinRange(query, range, rangeIndex, slot, unindexed);
  });
  return withBodies(db, selection, slot, query.orderBy(unindexed('id')).limit(slot.limit as never));
}

/** The rows whose ids a query gives, in id order. Texts are read for these alone, whatever was passed on the way. */
function withBodies(db: Kysely<Tables>, { table }: Selection, slot: Slots, ids: Query) {
  const body = untyped(db)
    .selectFrom(`${table} as record`)
    .select('body')
    .where('record.company', '=', slot.company as never)
    .whereRef('record.id', '=', 'wanted.id');
  const rows = untyped(db)
    .selectFrom(ids.as('wanted'))
    .select(['id', body.as('body') as never])
    .orderBy('id');
  return rows as unknown as Compilable<ListedRow>;
}

function counted(db: Kysely<Tables>, rows: Query) {
  const count = sql<number>`CAST(COUNT(*) AS INTEGER)`.as('count');
  return untyped(db).selectFrom(rows.as('counted')).select(count) as unknown as Compilable<{ count: number }>;
}

/**
 * The rows of all streams after the cursor in id order, whatever the ranges: one index for each stream, merged by the
 * database, which reads no further than somebody asks.
 *
 * PostgreSQL plans each stream by itself. Without an order and a limit of its own it collects the whole stream and
 * sorts it. SQLite would sort what comes in order.
 */
function merged(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  slot: Slots,
  { columns, rowsMax }: { columns: string[]; rowsMax: number },
): Query {
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
  return others.reduce<Query>((union, other) => union.unionAll(other as never), first).orderBy('id');
}

function inStream(
  where: ExpressionBuilder<AnyTables, string>,
  stream: Readonly<Record<string, string>>,
  index: number,
  slot: Slots,
) {
  return where.and(
    Object.keys(stream).map((column) =>
      where(unindexed(column), '=', slot[streamSlot(index, column)] as never),
    ),
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

/**
 * The column as an expression that no index serves, where another index is to be used: a planner would rather walk by
 * id, or read all of another range. No column holds an empty text, so the value stays what it is.
 */
const unindexed = (column: string) => sql`NULLIF(${sql.ref(column)}, '')`;

function untyped(db: Kysely<Tables>): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>;
}
