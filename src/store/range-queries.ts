import {
  type Compilable,
  type ExpressionBuilder,
  type Kysely,
  type RawBuilder,
  sql,
  type SqlBool,
} from 'kysely';

import type { Engine } from './engine.ts';
import {
  and,
  type AnyTables,
  isOfDays,
  liesIn,
  plain,
  type Query,
  type Slots,
  streamSlot,
  unindexed,
  untyped,
} from './list-queries.ts';
import type { ListedRow, Range, Selection } from './lists.ts';
import type { Tables } from './schema.ts';

/** Counts the matches of one range, but no further than is asked for. */
export function countQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  index: number,
  slot: Slots,
) {
  const matches = rangeQuery(engine, db, selection, index, slot)
    .select('id')
    .limit(slot.countMax as never);
  const count = untyped(db)
    .selectFrom(matches.as('counted'))
    .select(sql<number>`CAST(COUNT(*) AS INTEGER)`.as(`count${index}`));
  return count as unknown as Compilable<Record<string, number>>;
}

/** Finds the matches of one range by its own index and sorts those that the selection wants. */
export function sortQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  index: number,
  slot: Slots,
) {
  const ids = wantedQuery(engine, db, selection, index, slot).select('id');
  return withBodies(db, selection, slot, ids);
}

/** The same for a list of one range that has few matches: their texts are read with them, and not looked up later. */
export function sortFewQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  index: number,
  slot: Slots,
) {
  return wantedQuery(engine, db, selection, index, slot).select(['id', 'body', 'digest']);
}

/**
 * The matches of one range that come after the cursor, and lie in a stream and in every other range: in id order, as
 * many as the list has room for.
 */
function wantedQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  index: number,
  slot: Slots,
): Query {
  const { streams, ranges } = selection;
  const inStreams = rangeQuery(engine, db, selection, index, slot)
    .where(unindexed('id'), '>', slot.after as never)
    .where((where) =>
      where.or(streams.map((stream, streamIndex) => inStream(where, stream, streamIndex, slot))),
    );
  const inRanges = ranges.reduce(
    (query, range, rangeIndex) =>
      rangeIndex === index ? query : query.where(and(liesIn(range, rangeIndex, slot))),
    inStreams,
  );
  return inRanges.orderBy(unindexed('id')).limit(slot.limit as never);
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
) {
  return where.and(
    Object.keys(stream).map((column) =>
      where(unindexed(column), '=', slot[streamSlot(index, column)] as never),
    ),
  );
}

/** The rows of one range, out of the index that begins with its column. */
function rangeQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  index: number,
  slot: Slots,
): Query {
  const { table, ranges, streams } = selection;
  const range = ranges[index];
  if (!range) throw new Error(`The selection has no range ${index}.`);
  if (range.within && streams.length !== 1)
    throw new Error('A range within a stream needs exactly one stream.');
  const times = isOfDays(range) ? ranges.findIndex((other) => !isOfDays(other)) : -1;
  if (times !== -1) return daysQuery(engine, db, selection, { days: index, times }, slot);
  return untyped(db)
    .selectFrom(table)
    .where(and([ofIndex(range, slot), ...liesIn(range, index, slot, plain)]));
}

/** What all rows of a range's index share: the company, and the columns of the one stream that come before the range. */
export function ofIndex({ within = [] }: Range, slot: Slots): RawBuilder<SqlBool> {
  const columns = within.map((column) => sql`${plain(column)} = ${slot[streamSlot(0, column)]}`);
  return and([sql`company = ${slot.company}`, ...columns]);
}

/**
 * The rows that lie in a range of days and in one of times too, out of the index that begins with both: day
 * by day, the latest first, because what has changed is mostly of late. A day without a match gives NULL instead, so
 * that a limit on what comes out bounds what is looked at.
 */
function daysQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  at: { days: number; times: number },
  slot: Slots,
): Query {
  const { table, ranges } = selection;
  const [days, times] = [ranges[at.days], ranges[at.times]];
  if (!days || times?.from === undefined) throw new Error('There are not days and times since when.');
  const [rows, day, time] = [sql.table(table), plain(days.column), plain(times.column)];
  const ofRange = ofIndex(days, slot);
  const columns = sql.join(['id', ...decidingColumns(selection)].map(plain));
  const since = slot[`from${at.times}`];
  const matches =
    engine.name === 'sqlite'
      ? sql`${rows} ON ${ofRange} AND ${day} = days.day AND ${time} >= ${since}`
      : // An order that no other index has: by one of those a plan that is made for an empty table would read all rows.
        sql`LATERAL (
          SELECT ${columns} FROM ${rows}
          WHERE ${ofRange} AND (${day}, ${time}) >= (days.day, ${since}) AND ${day} <= days.day
          ORDER BY ${day}, ${time}
        ) AS matches ON TRUE`;
  const entries = sql`(
    WITH RECURSIVE days (day) AS (${daysWithRows(selection, at.days, slot)})
    SELECT ${columns} FROM days LEFT JOIN ${matches}
  )`;
  return untyped(db).selectFrom(entries.as('entries'));
}

/**
 * The days of a range that have rows at all, as a recursion over `days (day)`: the latest first, and NULL at their end.
 * @param spanOf tells what stands for a day, and perhaps for others before it: text that comes before all of those.
 */
export function daysWithRows(
  { table, ranges }: Selection,
  index: number,
  slot: Slots,
  spanOf = (day: RawBuilder<unknown>): RawBuilder<unknown> => day,
): RawBuilder<unknown> {
  const range = ranges[index];
  if (!range) throw new Error(`The selection has no range ${index}.`);
  const day = plain(range.column);
  const latest = (bounds: RawBuilder<unknown>[]) => sql`
    (SELECT ${spanOf(day)} FROM ${sql.table(table)}
    WHERE ${and([ofIndex(range, slot), ...bounds])} ORDER BY ${day} DESC LIMIT 1)`;
  // Of two upper bounds SQLite follows the index from the one that it meets first.
  const before = [...liesIn({ ...range, to: undefined }, index, slot, plain), sql`${day} < days.day`];
  return sql`
    SELECT ${latest(liesIn(range, index, slot, plain))}
    UNION ALL
    SELECT ${latest(before)} FROM days WHERE day IS NOT NULL`;
}

/** The columns that decide about a row, besides the company's and the id. */
function decidingColumns({ streams, ranges }: Selection): string[] {
  return [...new Set([...streams.flatMap(Object.keys), ...ranges.map(({ column }) => column)])];
}
