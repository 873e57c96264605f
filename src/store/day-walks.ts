import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely';

import type { Engine } from './engine.ts';
import { and, isOfDays, liesIn, plain, type Slots, streamSlot, unindexed } from './list-queries.ts';
import type { ListedRow, Range, Selection } from './lists.ts';
import { daysWithRows, ofIndex } from './range-queries.ts';
import type { Tables } from './schema.ts';

/** A row that was come by, or the end of all days. */
export type Step = ListedRow | { id: null; body: null; digest: null };

/** Comes after every id, being no text. */
const END = sql`x''`;

/** By what a range of days is walked: each day, or each month that lies in it whole and each day of the others. */
export type Spans = 'days' | 'months';

/** The indexes of days and ids, and of months and ids. */
const indexNames: Partial<Record<Selection['table'], Record<Spans, string>>> = {
  invoices: { days: 'invoices_issued', months: 'invoices_of_month' },
  quotes: { days: 'quotes_valid', months: 'quotes_of_month' },
};

/** How the matches of a selection can be walked, the best way first. */
export function walkableSpans({ name }: Engine, { ranges }: Selection): readonly Spans[] {
  if (!ranges.some(isOfDays)) return [];
  return name === 'sqlite' && ranges.length > 1 ? ['days', 'months'] : ['days'];
}

/** What the parts of a statement are made from. */
interface Walk {
  engine: Engine;
  selection: Selection;
  slot: Slots;
  spans: Spans;
  /** The range of days, and its place among the ranges. */
  days: Range;
  daysAt: number;
  /** The range of times beside it, if there is one. */
  times: Range | undefined;
  timesAt: number;
}

/**
 * The matches of a range of days in id order, however many there are and wherever; none if it has rows of `spansMax`
 * spans or more.
 */
export function walkDaysQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  spans: Spans,
  slot: Slots,
): Compilable<Step> {
  const { ranges } = selection;
  const [daysAt, timesAt] = [ranges.findIndex(isOfDays), ranges.findIndex((range) => !isOfDays(range))];
  const days = ranges[daysAt];
  if (!days) throw new Error('The selection has no range of days.');
  const walk: Walk = { engine, selection, slot, spans, days, daysAt, times: ranges[timesAt], timesAt };
  const query = engine.name === 'sqlite' ? sideBySide(walk) : oneByOne(walk);
  return { compile: () => query.compile(db) };
}

/** The days or months that have rows, and of those the ones that are walked, as tables of the statement. */
function spansToWalk(walk: Walk): RawBuilder<unknown> {
  const { engine, selection, slot, spans, daysAt } = walk;
  // SQLite would find all days before the first is asked for; PostgreSQL doesn't, and has no limit in a recursion.
  const limit = engine.name === 'sqlite' ? sql`LIMIT ${slot.spansMax}` : sql``;
  const withRows = daysWithRows(selection, daysAt, slot, spans === 'months' ? spanIn(walk) : undefined);
  return sql`
      days (day) AS (${withRows} ${limit}),
      seen (day) AS MATERIALIZED (SELECT day FROM days LIMIT ${slot.spansMax}),
      begun (day) AS MATERIALIZED (SELECT day FROM seen WHERE ${and(hasMatches(walk))})`;
}

/** Whether those are all that the range has. */
const areAll = sql`EXISTS (SELECT 1 FROM seen WHERE day IS NULL)`;

/** Has to be written as the index has it (./migrations/0016-month-blocks.ts). */
const monthOf = (day: unknown) => sql`SUBSTR(${day}, 1, 7)`;

/** What stands for a day: its month, unless the range begins or ends in that. */
function spanIn({ slot, days, daysAt }: Walk) {
  const bounds = [
    ...(days.from === undefined ? [] : [slot[`from${daysAt}`]]),
    ...(days.to === undefined ? [] : [slot[`to${daysAt}`]]),
  ];
  const months = sql.join(bounds.map(monthOf));
  return (day: RawBuilder<unknown>) =>
    sql`CASE WHEN ${monthOf(day)} IN (${months}) THEN ${day} ELSE ${monthOf(day)} END`;
}

/**
 * On SQLite: the first row of each day or month, and after each one the next of its own, the one with the least id first
 * (sqlite.org/lang_with.html, section 3.4). Beside a range of times the next one is that of its block, or else the first
 * of the next block that has one (./migrations/0015-day-blocks.ts). What is looked at is as much as there are spans and
 * rows that are wanted, and those that lie in no stream.
 */
function sideBySide(walk: Walk): RawBuilder<Step> {
  const { selection, slot } = walk;
  return sql`
    WITH RECURSIVE ${spansToWalk(walk)},
      walked (id, day) AS (
        SELECT ${firstRow(walk, sql`begun.day`, sql`${slot.after}`)}, day FROM begun WHERE ${areAll}
        UNION ALL
        SELECT ${END}, NULL WHERE ${areAll}
        UNION ALL
        SELECT ${nextRow(walk)}, day FROM walked WHERE id < ${END}
        ORDER BY 1 LIMIT ${slot.walkedMax}
      )
    SELECT record.id, record.body, record.digest
    FROM walked LEFT JOIN ${sql.table(selection.table)} AS record
      ON record.company = ${slot.company} AND record.id = walked.id
    WHERE walked.id = ${END} OR (${isWanted(walk, (column) => unindexed(`record.${column}`))})
    LIMIT ${slot.limit}`;
}

/**
 * On PostgreSQL, which has no order within a recursion: of each day as many matches as the list has room for. They are
 * looked for among all its rows, in another process than others' requests, and come in one answer.
 */
function oneByOne(walk: Walk): RawBuilder<Step> {
  const { selection, slot, days } = walk;
  const [rows, day] = [sql.table(selection.table), plain(days.column)];
  return sql`
    WITH RECURSIVE ${spansToWalk(walk)},
      walked (id) AS MATERIALIZED (
        SELECT matches.id
        FROM begun, LATERAL (
          SELECT id FROM ${rows}
          WHERE ${ofIndex(days, slot)} AND (${day}, id) > (begun.day, ${slot.after}) AND ${day} <= begun.day
            AND ${isWanted(walk, unindexed)}
          -- The order of no other index.
          ORDER BY ${day}, id LIMIT ${slot.limit}
        ) AS matches
        WHERE ${areAll}
        ORDER BY matches.id LIMIT ${slot.limit}
      )
    SELECT walked.id, record.body, record.digest
    FROM walked LEFT JOIN ${rows} AS record ON record.company = ${slot.company} AND record.id = walked.id
    UNION ALL
    SELECT NULL, NULL, NULL WHERE ${areAll}`;
}

/** Whether a day has rows that lie in the range of times, if there is one, at all; of a month that isn't asked. */
function hasMatches({ engine, selection, slot, spans, days, times, timesAt }: Walk): RawBuilder<unknown>[] {
  const isDay = sql`day IS NOT NULL`;
  if (!times) return [isDay];
  const [day, time, since] = [plain(days.column), plain(times.column), slot[`from${timesAt}`]];
  const ofDay =
    engine.name === 'sqlite'
      ? sql`${day} = seen.day AND ${time} >= ${since}`
      : sql`(${day}, ${time}) >= (seen.day, ${since}) AND ${day} <= seen.day`;
  const hasRows = sql`
    EXISTS (SELECT 1 FROM ${sql.table(selection.table)} WHERE ${ofIndex(days, slot)} AND ${ofDay})`;
  return [isDay, spans === 'months' ? sql`(${isMonth(sql`seen.day`)} OR ${hasRows})` : hasRows];
}

const isMonth = (span: RawBuilder<unknown>) => sql`LENGTH(${span}) = 7`;

/** The first row of a day or a month after an id that fulfils the conditions. */
function firstRow(
  { selection: { table }, slot, spans, days }: Walk,
  span: RawBuilder<unknown>,
  after: RawBuilder<unknown>,
  conditions: RawBuilder<unknown>[] = [],
): RawBuilder<unknown> {
  const first = (by: Spans, ofSpan: RawBuilder<unknown>) => {
    const index = indexNames[table]?.[by];
    if (index === undefined) throw new Error(`The table ${table} has no index of ${by}.`);
    // By ids alone, which a planner that knows nothing of a day's rows prefers, there would be all other days' between.
    return sql`
      (SELECT id FROM ${sql.table(table)} INDEXED BY ${sql.ref(index)}
      WHERE ${and([ofIndex(days, slot), sql`${ofSpan} = ${span}`, sql`id > ${after}`, ...conditions])}
      ORDER BY id LIMIT 1)`;
  };
  const day = plain(days.column);
  const ofDay = first('days', day);
  if (spans === 'days') return ofDay;
  return sql`CASE WHEN ${isMonth(span)} THEN ${first('months', monthOf(day))} ELSE ${ofDay} END`;
}

/** The row of a day or a month after the one that is walked: any, or one that can lie in the range of times. */
function nextRow(walk: Walk): RawBuilder<unknown> {
  const { selection, slot, days, times, timesAt } = walk;
  const [day, after] = [sql`walked.day`, sql`walked.id`];
  if (!times) return firstRow(walk, day, after);
  const stream = sql.join(
    [
      sql.lit(`${selection.table}/`),
      day,
      ...(days.within ?? []).map((column) => sql`'/' || ${slot[streamSlot(0, column)]}`),
    ],
    sql` || `,
  );
  const nextBlock = (conditions: RawBuilder<unknown>) => sql`
    (SELECT first_id FROM list_blocks
    WHERE company = ${slot.company} AND stream = ${stream} AND first_id > walked.id ${conditions}
    ORDER BY first_id LIMIT 1)`;
  const inBlock = [sql`id < COALESCE(${nextBlock(sql``)}, ${END})`, ...liesIn(times, timesAt, slot)];
  return sql`COALESCE(
    ${firstRow(walk, day, after, inBlock)},
    ${nextBlock(sql`AND time_max >= ${slot[`from${timesAt}`]}`)})`;
}

/** Whether a row lies in a stream and in the range of times. */
function isWanted(
  { selection: { streams }, slot, times, timesAt }: Walk,
  refer: (column: string) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const inStreams = streams.map((stream, index) =>
    and(Object.keys(stream).map((column) => sql`${refer(column)} = ${slot[streamSlot(index, column)]}`)),
  );
  const inTimes = times === undefined ? [] : liesIn(times, timesAt, slot, refer);
  return and([sql`(${sql.join(inStreams, sql` OR `)})`, ...inTimes]);
}
