import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely';

import type { Engine } from './engine.ts';
import { and, isOfDays, liesIn, plain, type Slots, streamSlot, unindexed } from './list-queries.ts';
import type { ListedRow, Selection } from './lists.ts';
import { daysWithRows } from './range-queries.ts';
import type { Tables } from './schema.ts';

/** A row that was come by, or the end of all days. */
export type Step = ListedRow | { id: null; body: null; digest: null };

/** Comes after every id, being no text. */
const END = sql`x''`;

/** By what a range of days is walked: each day, or each month that lies in it whole and each day of the others. */
export type Spans = 'days' | 'months';

/** How the matches of a selection can be walked, the best way first. */
export function walkableSpans({ name }: Engine, { ranges }: Selection): readonly Spans[] {
  // Only documents have an index of days and ids.
  if (!ranges.some(({ column }) => column === 'issue_date')) return [];
  return name === 'sqlite' && ranges.length > 1 ? ['days', 'months'] : ['days'];
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
  const index = selection.ranges.findIndex(isOfDays);
  const spanOf = spans === 'months' ? spanIn(selection, index, slot) : undefined;
  // SQLite would find all days before the first is asked for; PostgreSQL doesn't, and has no limit in a recursion.
  const limit = engine.name === 'sqlite' ? sql`LIMIT ${slot.spansMax}` : sql``;
  const parts = {
    days: sql`WITH RECURSIVE
      days (day) AS (${daysWithRows(selection, index, slot, spanOf)} ${limit}),
      seen (day) AS MATERIALIZED (SELECT day FROM days LIMIT ${slot.spansMax}),
      begun (day) AS MATERIALIZED (SELECT day FROM seen WHERE ${and(hasMatches(engine, selection, spans, slot))})`,
    areAll: sql`EXISTS (SELECT 1 FROM seen WHERE day IS NULL)`,
    rows: sql.table(selection.table),
    spans,
  };
  const walk = engine.name === 'sqlite' ? sideBySide : oneByOne;
  const query = walk(selection, slot, parts);
  return { compile: () => query.compile(db) };
}

/** Has to be written as the index has it (./migrations/0016-month-blocks.ts). */
const monthOf = (day: unknown) => sql`SUBSTR(${day}, 1, 7)`;

/** What stands for a day: its month, unless the range begins or ends in that. */
function spanIn({ ranges }: Selection, index: number, slot: Slots) {
  const bounds = [
    ...(ranges[index]?.from === undefined ? [] : [slot[`from${index}`]]),
    ...(ranges[index]?.to === undefined ? [] : [slot[`to${index}`]]),
  ];
  const months = sql.join(bounds.map(monthOf));
  return (day: RawBuilder<unknown>) =>
    sql`CASE WHEN ${monthOf(day)} IN (${months}) THEN ${day} ELSE ${monthOf(day)} END`;
}

type Parts = Record<'days' | 'areAll' | 'rows', RawBuilder<unknown>> & { spans: Spans };

/**
 * On SQLite: the first row of each day or month, and after each one the next of its own, the one with the least id first
 * (sqlite.org/lang_with.html, section 3.4). Beside a range of times the next one is that of its block, or else the first
 * of the next block that has one (./migrations/0015-day-blocks.ts). What is looked at is as much as there are spans and
 * rows that are wanted, and those that lie in no stream.
 */
function sideBySide(
  selection: Selection,
  slot: Slots,
  { days, areAll, rows, spans }: Parts,
): RawBuilder<Step> {
  return sql`
    ${days},
      walked (id, day) AS (
        SELECT ${firstRow(spans, slot, sql`begun.day`, sql`${slot.after}`)}, day FROM begun WHERE ${areAll}
        UNION ALL
        SELECT ${END}, NULL WHERE ${areAll}
        UNION ALL
        SELECT ${nextRow(selection, spans, slot)}, day FROM walked WHERE id < ${END}
        ORDER BY 1 LIMIT ${slot.walkedMax}
      )
    SELECT record.id, record.body, record.digest
    FROM walked LEFT JOIN ${rows} AS record ON record.company = ${slot.company} AND record.id = walked.id
    WHERE walked.id = ${END} OR (${isWanted(selection, slot, (column) => unindexed(`record.${column}`))})
    LIMIT ${slot.limit}`;
}

/**
 * On PostgreSQL, which has no order within a recursion: of each day as many matches as the list has room for. They are
 * looked for among all its rows, in another process than others' requests, and come in one answer.
 */
function oneByOne(selection: Selection, slot: Slots, { days, areAll, rows }: Parts): RawBuilder<Step> {
  return sql`
    ${days},
      walked (id) AS MATERIALIZED (
        SELECT matches.id
        FROM begun, LATERAL (
          SELECT id FROM ${rows}
          WHERE company = ${slot.company} AND (issue_date, id) > (begun.day, ${slot.after}) AND issue_date <= begun.day
            AND ${isWanted(selection, slot, unindexed)}
          -- The order of no other index.
          ORDER BY issue_date, id LIMIT ${slot.limit}
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
function hasMatches(
  { name }: Engine,
  { table, ranges }: Selection,
  spans: Spans,
  slot: Slots,
): RawBuilder<unknown>[] {
  const times = ranges.findIndex((range) => !isOfDays(range));
  const isDay = sql`day IS NOT NULL`;
  const range = ranges[times];
  if (!range) return [isDay];
  const [time, since] = [plain(range.column), slot[`from${times}`]];
  const ofDay =
    name === 'sqlite'
      ? sql`issue_date = seen.day AND ${time} >= ${since}`
      : sql`(issue_date, ${time}) >= (seen.day, ${since}) AND issue_date <= seen.day`;
  const hasRows = sql`EXISTS (SELECT 1 FROM ${sql.table(table)} WHERE company = ${slot.company} AND ${ofDay})`;
  return [isDay, spans === 'months' ? sql`(${isMonth(sql`seen.day`)} OR ${hasRows})` : hasRows];
}

const isMonth = (span: RawBuilder<unknown>) => sql`LENGTH(${span}) = 7`;

/** The first row of a day or a month after an id that fulfils the conditions. */
function firstRow(
  spans: Spans,
  slot: Slots,
  span: RawBuilder<unknown>,
  after: RawBuilder<unknown>,
  conditions: RawBuilder<unknown>[] = [],
): RawBuilder<unknown> {
  // By ids alone, which a planner that knows nothing of a day's rows prefers, there would be all other days' between.
  const first = (index: string, ofSpan: RawBuilder<unknown>) => sql`
    (SELECT id FROM invoices INDEXED BY ${sql.ref(index)}
    WHERE ${and([sql`company = ${slot.company}`, sql`${ofSpan} = ${span}`, sql`id > ${after}`, ...conditions])}
    ORDER BY id LIMIT 1)`;
  const ofDay = first('invoices_issued', sql`issue_date`);
  if (spans === 'days') return ofDay;
  return sql`CASE WHEN ${isMonth(span)} THEN ${first('invoices_of_month', monthOf(sql`issue_date`))} ELSE ${ofDay} END`;
}

/** The row of a day or a month after the one that is walked: any, or one that can lie in the range of times. */
function nextRow({ table, ranges }: Selection, spans: Spans, slot: Slots): RawBuilder<unknown> {
  const [day, after] = [sql`walked.day`, sql`walked.id`];
  const times = ranges.findIndex((range) => !isOfDays(range));
  const range = ranges[times];
  if (!range) return firstRow(spans, slot, day, after);
  const nextBlock = (conditions: RawBuilder<unknown>) => sql`
    (SELECT first_id FROM list_blocks
    WHERE company = ${slot.company} AND stream = ${sql.lit(`${table}/`)} || walked.day AND first_id > walked.id ${conditions}
    ORDER BY first_id LIMIT 1)`;
  const inBlock = [sql`id < COALESCE(${nextBlock(sql``)}, ${END})`, ...liesIn(range, times, slot)];
  return sql`COALESCE(
    ${firstRow(spans, slot, day, after, inBlock)},
    ${nextBlock(sql`AND time_max >= ${slot[`from${times}`]}`)})`;
}

/** Whether a row lies in a stream and in the range of times. */
function isWanted(
  { streams, ranges }: Selection,
  slot: Slots,
  refer: (column: string) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  const inStreams = streams.map((stream, index) =>
    and(Object.keys(stream).map((column) => sql`${refer(column)} = ${slot[streamSlot(index, column)]}`)),
  );
  const inTimes = ranges.flatMap((range, index) =>
    isOfDays(range) ? [] : liesIn(range, index, slot, refer),
  );
  return and([sql`(${sql.join(inStreams, sql` OR `)})`, ...inTimes]);
}
