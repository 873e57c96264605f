import { setImmediate as turn } from 'node:timers/promises';

import { type RawBuilder, sql } from 'kysely';

import type { JsonText } from '../../../contract/json-text.ts';
import type { Resource } from '../../../contract/records.ts';
import { type Connection, type Dialect, dialectOf, withoutIndex } from '../dialects/dialect.ts';

/** A range of an indexed column. Bounds are inclusive and compare as text. */
export interface Range {
  column: string;
  from?: string | undefined;
  to?: string | undefined;
}

/**
 * A selection of a table, in id order: the rows of one company that have one of some values in each column of `among`,
 * and lie in every range.
 *
 * `among` names the first columns of an index that goes on with the id, in the order of that index. `{}` is the whole
 * company by its ids. The indexes are in ../tables/records.ts.
 */
export interface ListSelection {
  table: Resource;
  company: string;
  among: Readonly<Record<string, readonly string[]>>;
  ranges: readonly Range[];
}

interface ListedRow {
  id: string;
  /** Rendered from a record of the table's resource. */
  body: JsonText<never>;
  digest: string;
}

/** Where a page begins (`after` an id; `''` is the beginning) and how many records it holds at most. */
export interface PageRequest {
  after: string;
  limit: number;
}

/** A record as it is served, and its digest. */
export interface Found<T> {
  body: JsonText<T>;
  digest: string;
}

/** One page of a list, and the id after which the next page begins, null on the last page. */
export interface ListPage<T> {
  records: Found<T>[];
  lastId: string | null;
}

/** Comes after every id: ids consist of ASCII letters, digits and `. _ : -`. */
const AFTER_ALL_IDS = '~';

/** Reads a page of a selection, and one row more, which says whether there is a next page. */
export async function readPage<T>(
  db: Connection,
  { after, limit }: PageRequest,
  selection: ListSelection,
): Promise<ListPage<T>> {
  const found = await readList(db, selection, { after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  return { records: rows, lastId: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}

/**
 * Reads at most `limit` rows of a selection whose ids come after `after` (`''`: all). A list without ranges scans its index in id
 * order. With ranges, the matches of the first range that has few are sorted. Where each has many, the list scans the
 * company's index and passes over what doesn't match; that takes about 200 ms when the first match comes after a million rows.
 */
async function readList(db: Connection, selection: ListSelection, page: PageRequest): Promise<ListedRow[]> {
  if (Object.values(selection.among).some((values) => values.length === 0)) return [];
  if (selection.ranges.length === 0) return (await scanSql(dialectOf(db), selection, page).execute(db)).rows;
  const ranged = firstColumnAsRange(selection);
  return (await sortFew(db, ranged, page)) ?? scanSlices(db, ranged, page);
}

/** Undefined when every range has more matches than are sorted. */
async function sortFew(
  db: Connection,
  selection: ListSelection,
  page: PageRequest,
): Promise<ListedRow[] | undefined> {
  const { sortedMax } = dialectOf(db);
  for (const index of selection.ranges.keys()) {
    const { rows } = await countSql(index, sortedMax + 1, selection).execute(db);
    await turn();
    const [counted] = rows;
    if (!counted || counted.count > sortedMax) continue;
    return (await sortSql(index, selection, page).execute(db)).rows;
  }
  return undefined;
}

async function scanSlices(
  db: Connection,
  selection: ListSelection,
  { after: first, limit }: PageRequest,
): Promise<ListedRow[]> {
  const dialect = dialectOf(db);
  const rows: ListedRow[] = [];
  let after = first;
  for (;;) {
    const ends = dialect.slice ? await sliceEndSql(dialect.slice, selection, after).execute(db) : undefined;
    const end = ends?.rows[0]?.id;
    const page = { after, limit: limit - rows.length };
    rows.push(...(await sliceSql(dialect, selection, page, end ?? AFTER_ALL_IDS).execute(db)).rows);
    if (end === undefined || rows.length === limit) return rows;
    after = end;
    await turn();
  }
}

/** A single value of the index's first column, such as one customer, is a range too, and often one of few matches. */
function firstColumnAsRange(selection: ListSelection): ListSelection {
  const [[column, values] = ['', []], ...others] = Object.entries(selection.among);
  if (values.length !== 1) return selection;
  const [value] = values;
  const ranges = [...selection.ranges, { column, from: value, to: value }];
  return { ...selection, among: Object.fromEntries(others), ranges };
}

/**
 * The rows of a selection without ranges, in id order: each combination of values by the index that begins with it,
 * merged by the database, which reads no further than the page.
 */
function scanSql(
  dialect: Dialect,
  { table, company, among }: ListSelection,
  { after, limit }: PageRequest,
): RawBuilder<ListedRow> {
  const combinations = Object.entries(among).reduce(
    (made, [name, values]) =>
      made.flatMap((one) => values.map((value) => sql`${one} AND ${sql.ref(name)} = ${value}`)),
    [sql`company = ${company}`],
  );
  const scans = combinations.map(
    (isCombination) =>
      sql`SELECT id, body, digest FROM ${sql.table(table)} WHERE ${isCombination} AND id > ${after}`,
  );
  const inOrder = sql`ORDER BY id LIMIT ${limit}`;
  const parts = scans.length === 1 ? scans : scans.map((scan) => dialect.mergedPart(scan, inOrder));
  return sql`${sql.join(parts, sql` UNION ALL `)} ${inOrder}`;
}

/** Counts the matches of one range by its own index, but no further than `countMax`. */
function countSql(index: number, countMax: number, selection: ListSelection): RawBuilder<{ count: number }> {
  return sql`
    SELECT CAST(COUNT(*) AS INTEGER) AS count
    FROM (
      SELECT id FROM ${sql.table(selection.table)}
      WHERE ${and(inRange(selection, index))}
      LIMIT ${sql.lit(countMax)}
    ) AS counted`;
}

/** Finds the matches of one range by its own index, and sorts by id those that the whole selection wants. */
function sortSql(
  index: number,
  selection: ListSelection,
  { after, limit }: PageRequest,
): RawBuilder<ListedRow> {
  const ranges = selection.ranges.filter((_range, other) => other !== index);
  const others = [
    sql`${withoutIndex('id')} > ${after}`,
    ...conditions({ ...selection, ranges }, withoutIndex),
  ];
  const ids = sql`
    SELECT id FROM ${sql.table(selection.table)}
    WHERE ${and([...inRange(selection, index), ...others])}
    ORDER BY ${withoutIndex('id')}
    LIMIT ${limit}`;
  return recordsSql(selection, ids);
}

/** The id of a company's `slice`th row after `after`; no row if there are fewer. */
function sliceEndSql(
  slice: number,
  { table, company }: ListSelection,
  after: string,
): RawBuilder<{ id: string }> {
  return sql`
    SELECT id FROM ${sql.table(table)}
    WHERE company = ${company} AND id > ${after}
    ORDER BY id
    LIMIT 1 OFFSET ${sql.lit(slice - 1)}`;
}

/**
 * The matches of a selection after `after` and up to `sliceEnd`, in id order. SQLite would choose the narrower index of
 * ids, and read every row for what else the selection asks.
 */
function sliceSql(
  dialect: Dialect,
  selection: ListSelection,
  { after, limit }: PageRequest,
  sliceEnd: string,
): RawBuilder<ListedRow> {
  const { table, company } = selection;
  const ids = sql`
    SELECT id FROM ${sql.table(table)} ${dialect.indexedBy(`${table}_walked`)}
    WHERE company = ${company} AND id > ${after} AND id <= ${sliceEnd} AND ${and(conditions(selection, column))}
    ORDER BY id
    LIMIT ${limit}`;
  return recordsSql(selection, ids);
}

/**
 * The records whose ids a query gives, in id order: rows that don't match are passed over in their index alone. SQLite
 * would begin an inner join with the records.
 */
function recordsSql({ table, company }: ListSelection, ids: RawBuilder<unknown>): RawBuilder<ListedRow> {
  return sql`
    SELECT wanted.id, record.body, record.digest
    FROM (${ids}) AS wanted
    LEFT JOIN ${sql.table(table)} AS record ON record.company = ${company} AND record.id = wanted.id
    ORDER BY wanted.id`;
}

function inRange({ company, ranges }: ListSelection, index: number): RawBuilder<unknown>[] {
  const bounds = ranges.slice(index, index + 1).flatMap((range) => boundsOf(range, column));
  return [sql`company = ${company}`, ...bounds];
}

type Refer = (column: string) => RawBuilder<unknown>;
const column: Refer = (name) => sql.ref(name);

/** The conditions of a selection; ranges come first, as fewer rows match them. */
function conditions({ among, ranges }: ListSelection, refer: Refer): RawBuilder<unknown>[] {
  const isAmong = Object.entries(among).map(([name, values]) => sql`${refer(name)} IN (${sql.join(values)})`);
  return [...ranges.flatMap((range) => boundsOf(range, refer)), ...isAmong];
}

function boundsOf({ column: name, from, to }: Range, refer: Refer): RawBuilder<unknown>[] {
  return [
    ...(from === undefined ? [] : [sql`${refer(name)} >= ${from}`]),
    ...(to === undefined ? [] : [sql`${refer(name)} <= ${to}`]),
  ];
}

function and(all: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(all, sql` AND `);
}
