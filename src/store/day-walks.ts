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

/** Whether the matches of a selection can be walked day by day. */
export function areWalkedDays({ ranges }: Selection): boolean {
  // Only documents have an index of days and ids.
  return ranges.some(({ column }) => column === 'issue_date');
}

/** The matches of a range of days in id order, however many there are and wherever; none if the days are `daysMax`. */
export function walkDaysQuery(
  engine: Engine,
  db: Kysely<Tables>,
  selection: Selection,
  slot: Slots,
): Compilable<Step> {
  const parts = {
    days: sql`WITH RECURSIVE
      days (day) AS (${daysWithRows(selection, selection.ranges.findIndex(isOfDays), slot)}),
      begun (day) AS MATERIALIZED (
        SELECT day FROM days WHERE ${and(hasMatches(engine, selection, slot))} LIMIT ${slot.daysMax}
      )`,
    areAll: sql`(SELECT COUNT(*) FROM begun) < ${slot.daysMax}`,
    rows: sql.table(selection.table),
  };
  const walk = engine.name === 'sqlite' ? sideBySide : oneByOne;
  const query = walk(selection, slot, parts);
  return { compile: () => query.compile(db) };
}

type Parts = Record<'days' | 'areAll' | 'rows', RawBuilder<unknown>>;

/**
 * On SQLite: the first row of each day, and after each one the next of its day, the one with the least id first
 * (sqlite.org/lang_with.html, section 3.4). Beside a range of times the next one is that of its block, or else the first
 * of the next block that has one (./migrations/0015-day-blocks.ts). What is looked at is as much as there are days and
 * rows that are wanted, and those that lie in no stream.
 */
function sideBySide(selection: Selection, slot: Slots, { days, areAll, rows }: Parts): RawBuilder<Step> {
  return sql`
    ${days},
      walked (id, day) AS (
        SELECT ${firstRow(selection, slot, sql`begun.day`, sql`${slot.after}`)}, day FROM begun WHERE ${areAll}
        UNION ALL
        SELECT ${END}, NULL WHERE ${areAll}
        UNION ALL
        SELECT ${nextRow(selection, slot)}, day FROM walked WHERE id < ${END}
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

/** Whether a day has rows that lie in the range of times, if there is one, at all. */
function hasMatches({ name }: Engine, { table, ranges }: Selection, slot: Slots): RawBuilder<unknown>[] {
  const times = ranges.findIndex((range) => !isOfDays(range));
  const isDay = sql`day IS NOT NULL`;
  const range = ranges[times];
  if (!range) return [isDay];
  const [time, since] = [plain(range.column), slot[`from${times}`]];
  const ofDay =
    name === 'sqlite'
      ? sql`issue_date = days.day AND ${time} >= ${since}`
      : sql`(issue_date, ${time}) >= (days.day, ${since}) AND issue_date <= days.day`;
  return [
    isDay,
    sql`EXISTS (SELECT 1 FROM ${sql.table(table)} WHERE company = ${slot.company} AND ${ofDay})`,
  ];
}

/** The first row of a day after an id that fulfils the conditions. */
function firstRow(
  { table }: Selection,
  slot: Slots,
  day: RawBuilder<unknown>,
  after: RawBuilder<unknown>,
  conditions: RawBuilder<unknown>[] = [],
): RawBuilder<unknown> {
  const all = [sql`company = ${slot.company}`, sql`issue_date = ${day}`, sql`id > ${after}`, ...conditions];
  // By ids alone, which a planner that knows nothing of a day's rows prefers, there would be all other days' between.
  const rows = sql`${sql.table(table)} INDEXED BY ${sql.ref(`${table}_issued`)}`;
  return sql`(SELECT id FROM ${rows} WHERE ${and(all)} ORDER BY id LIMIT 1)`;
}

/** The row of a day after the one that is walked: any, or one that can lie in the range of times. */
function nextRow(selection: Selection, slot: Slots): RawBuilder<unknown> {
  const { table, ranges } = selection;
  const [day, after] = [sql`walked.day`, sql`walked.id`];
  const times = ranges.findIndex((range) => !isOfDays(range));
  const range = ranges[times];
  if (!range) return firstRow(selection, slot, day, after);
  const nextBlock = (conditions: RawBuilder<unknown>) => sql`
    (SELECT first_id FROM list_blocks
    WHERE company = ${slot.company} AND stream = ${sql.lit(`${table}/`)} || walked.day AND first_id > walked.id ${conditions}
    ORDER BY first_id LIMIT 1)`;
  const inBlock = [sql`id < COALESCE(${nextBlock(sql``)}, ${END})`, ...liesIn(range, times, slot)];
  return sql`COALESCE(
    ${firstRow(selection, slot, day, after, inBlock)},
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
