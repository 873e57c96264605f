import { setImmediate as turn } from 'node:timers/promises';

import type { Compilable, Kysely } from 'kysely';

import { blockBindings, blocksQuery, rangesQuery, type Sighting } from './block-reads.ts';
import { type Spans, walkableSpans, walkDaysQuery } from './day-walks.ts';
import type { Engine, PreparedQuery } from './engine.ts';
import { bindings, type Slots, walkQuery } from './list-queries.ts';
import { countQuery, sortQuery } from './range-queries.ts';
import type { RecordTableName, Tables } from './schema.ts';
import { takeOut } from './take-out.ts';

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
 * several streams are merged lazily. `[{}]` is the whole company by its ids, `[]` is nothing at all. With ranges a
 * stream has to be one of those that have blocks (see ./migrations/0003-list-blocks.ts).
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
  digest: string | null;
}

/** Reads at most `limit` rows, 101 at the most, of a selection whose ids come after `after` (`''`: all). */
export type ReadList = (selection: Selection, after: string, limit: number) => Promise<ListedRow[]>;

/** The most rows that a reader is asked for: a full page, and one more to see whether there is a next page. */
const ROWS_MAX = 101;

/**
 * How a list with ranges is read: the matches of a range that has few of them are sorted, which costs as much as they
 * are, wherever they lie; beside a range of times, the matches of one of days are those that lie in both. Where every
 * range has more, its matches are looked for in id order, passing over the blocks that can't have any. Where blocks
 * can't tell, those of days are walked day by day, or month by month; and if that finds none in reasonable time, or
 * there are no days, they are sorted unless they are too many for that.
 */
const FEW_MATCHES_MAX = 1_000;

/**
 * Blocks of a stream that one statement looks into. A block whose bounds meet the one range of a list has a row of it,
 * but for days within a month, so that the most rows that are ever wanted, 101, are found in as many. Where a list has
 * two ranges, its statement may look into 104 blocks of 64 rows for nothing, which takes a millisecond or two for each
 * stream, and the next one goes on.
 */
const BLOCKS_MAX = 104;

/**
 * So many rows of days that are walked, in the order of their ids, hold a page of every stream that one in twenty is of;
 * streams of fewer rows are read in no time by their blocks. To look at them takes 3 milliseconds, or 20 where each is
 * followed by a block of rows that have not changed since.
 */
const WALKED_MAX = 1_000;

/**
 * Days that are walked on SQLite: those of ten years, whose first rows are found in some 10 milliseconds; beside a range
 * of times, where a block is passed after each first row, those of a season, which takes 5, and then months. On
 * PostgreSQL, where as many rows as the list has room for are read of each day, those of a year.
 */
const DAYS_MAX = { alone: 4_000, besideTimes: 100, postgres: 400 };
/** Those of 28 years, and the days of a first and a last one. */
const MONTHS_MAX = 400;

/**
 * Where all that has found too little, each of a million rows would be looked at in some 150 milliseconds. To count and
 * to sort so many matches takes 10.
 */
const SCATTERED_MATCHES_MAX = 40_000;

/**
 * Builds the reader of lists; its statements are compiled once for each shape of selection and kept.
 * @param bounds are smaller in tests, which then need fewer records.
 */
export function createListReader(engine: Engine, bounds: Partial<Bounds> = {}): ReadList {
  const allBounds = { ...usualBounds, ...bounds };
  const { few, scattered } = allBounds;
  const prepare = statementsOf(engine);
  const { sortAtMost, walkDays, lookIntoBlocks, lookAtOnce } = createWays(engine, prepare, allBounds);
  return async (selection, after, limit) => {
    if (selection.streams.length === 0) return [];
    const values = { ...bindings(selection), after, limit };
    if (selection.ranges.length === 0) {
      const walk = prepare('walk', selection, (db, slot) => walkQuery(engine, db, selection, slot, ROWS_MAX));
      return walk(values);
    }
    const all = { ...values, ...blockBindings(selection) };
    const first =
      engine.name === 'postgres'
        ? await lookAtOnce(selection, all)
        : ((await sortAtMost(few, selection, all)) ?? (await lookIntoBlocks(selection, all)));
    const otherWays = [
      ...walkableSpans(engine, selection).map((spans) => walkDays(spans)),
      (...wanted: Wanted) => sortAtMost(scattered, ...wanted),
    ];
    return lookOnAndOn(first, limit, async (horizon, wanted) => {
      const rest = { ...all, after: horizon, limit: wanted };
      for (let way = otherWays.shift(); way !== undefined; way = otherWays.shift()) {
        const found = await way(selection, rest);
        if (found) return found;
        await turn();
      }
      return lookIntoBlocks(selection, rest);
    });
  };
}

type Wanted = [selection: Selection, values: Slots];

/** The ways of reading a list with ranges. Those that may find that they aren't the right one are undefined then. */
function createWays(engine: Engine, prepare: Prepare, { few, walked, days, blocks }: Bounds) {
  const sortAtMost = async (
    matches: number,
    selection: Selection,
    values: Slots,
  ): Promise<Look | undefined> => {
    // One after the other: where the first range is short, none of the second is counted.
    for (const index of selection.ranges.keys()) {
      const count = prepare(`count ${index}`, selection, (db, slot) =>
        countQuery(engine, db, selection, index, slot),
      );
      const [counted] = await count({ ...values, countMax: matches + 1 });
      if ((counted?.[`count${index}`] ?? 0) > matches) continue;
      const sort = prepare(`sort ${index}`, selection, (db, slot) =>
        sortQuery(engine, db, selection, index, slot),
      );
      return { rows: await sort(values), horizon: null };
    }
    return undefined;
  };
  const walkDays =
    (spans: Spans) =>
    async (selection: Selection, values: Slots): Promise<Look | undefined> => {
      const walk = prepare(spans, selection, (db, slot) => walkDaysQuery(engine, db, selection, spans, slot));
      const onSqlite = selection.ranges.length === 1 ? days.alone : days.besideTimes;
      const daysMax = engine.name === 'sqlite' ? onSqlite : days.postgres;
      const spansMax = spans === 'months' ? MONTHS_MAX : daysMax;
      const steps = takeOut(await walk({ ...values, walkedMax: walked, spansMax }));
      const rows = steps.filter((step): step is ListedRow => step.id !== null);
      if (rows.length < steps.length) return { rows, horizon: null };
      const horizon = rows.at(-1)?.id;
      return horizon === undefined ? undefined : { rows, horizon };
    };
  const lookIntoBlocks = async (selection: Selection, values: Slots): Promise<Look> => {
    const look = prepare('blocks', selection, (db, slot) => blocksQuery(engine, db, selection, slot));
    return lookOf(takeOut(await look({ ...values, blocksMax: blocks })));
  };
  const lookAtOnce = async (selection: Selection, values: Slots): Promise<Look> => {
    const look = prepare('ranges', selection, (db, slot) => rangesQuery(engine, db, selection, slot));
    return lookOf(takeOut(await look({ ...values, blocksMax: blocks, countMax: few + 1 })));
  };
  return { sortAtMost, walkDays, lookIntoBlocks, lookAtOnce };
}

const usualBounds = {
  few: FEW_MATCHES_MAX,
  blocks: BLOCKS_MAX,
  walked: WALKED_MAX,
  days: DAYS_MAX,
  scattered: SCATTERED_MATCHES_MAX,
};
type Bounds = typeof usualBounds;

/** The rows that were found as far as the horizon; null when that is the end. */
interface Look {
  rows: ListedRow[];
  horizon: string | null;
}

function lookOf(sightings: readonly Sighting[]): Look {
  const horizon = sightings.flatMap(({ horizon: end }) => end ?? []).sort()[0] ?? null;
  // Beyond it another stream may have rows that weren't found.
  const rows = sightings.flatMap(({ id, body, digest }) =>
    id === null || (horizon !== null && id > horizon) ? [] : [{ id, body, digest }],
  );
  // A database that puts them in order carries their texts about.
  return { rows: rows.sort((a, b) => (a.id < b.id ? -1 : 1)), horizon };
}

/** Looks from one horizon to the next until there are enough rows or none left; nearly always once is enough. */
async function lookOnAndOn(
  first: Look,
  limit: number,
  lookOn: (horizon: string, wanted: number) => Promise<Look>,
): Promise<ListedRow[]> {
  const { rows } = first;
  let { horizon } = first;
  while (horizon !== null && rows.length < limit) {
    // On SQLite a statement holds the thread: others have their turn before the next one.
    await turn();
    const next = await lookOn(horizon, limit - rows.length);
    rows.push(...next.rows);
    ({ horizon } = next);
  }
  return rows;
}

type Build<Row> = (db: Kysely<Tables>, slot: Slots) => Compilable<Row>;

/** Prepares a statement once for each name and shape of selection. */
type Prepare = <Row>(name: string, selection: Selection, build: Build<Row>) => PreparedQuery<Slots, Row>;

function statementsOf(engine: Engine): Prepare {
  const statements = new Map<string, PreparedQuery<Slots, never>>();
  return <Row>(name: string, selection: Selection, build: Build<Row>): PreparedQuery<Slots, Row> => {
    const key = `${name} ${shapeOf(selection)}`;
    const known = statements.get(key);
    // Under one name there is one kind of statement.
    if (known) return known;
    const statement = engine.prepare(build);
    statements.set(key, statement as PreparedQuery<Slots, never>);
    return statement;
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
