import { setImmediate as turn } from 'node:timers/promises';

import { type RawBuilder, sql } from 'kysely';

import type { JsonText } from '../../../contract/json-text.ts';
import type { Resource } from '../../../contract/records.ts';
import { type Connection, type Dialect, dialectOf, withoutIndex } from '../dialects/dialect.ts';

/** A range of values in an indexed column, with inclusive bounds that are compared as text. */
export interface Range {
  column: string;
  from?: string | undefined;
  to?: string | undefined;
}

/**
 * A selection of one company's rows, in id order: those that have one of the given values in each column of `among`, and lie
 * in every range.
 *
 * `among` names, in index order, the columns that come before the id in an index. `{}` selects all the company's rows. The
 * indexes are in ../tables/records.ts.
 */
export interface ListSelection {
  table: Resource;
  company: string;
  among: Readonly<Record<string, readonly string[]>>;
  ranges: readonly Range[];
}

interface ListedRow {
  id: string;
  /** JSON text of a record, as lists serve it. */
  body: JsonText<never>;
  digest: string;
}

/** The place and size of a page: it begins after the id `after` (`''` for the first page), with at most `limit` records. */
export interface PageRequest {
  after: string;
  limit: number;
}

/** A record's JSON text as served, and its digest. */
export interface Found<T> {
  body: JsonText<T>;
  digest: string;
}

/** A page of a list, and the id after which the next page begins; null on the last page. */
export interface ListPage<T> {
  records: Found<T>[];
  lastId: string | null;
}

/** A text that sorts after every id, because ids consist of ASCII letters, digits and `. _ : -`. */
const AFTER_ALL_IDS = '~';

/** Returns a page of a selection. */
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
 * Returns up to `limit` rows of a selection with ids after `after` (`''` for all). A list without ranges scans its index in
 * id order. A list with ranges sorts the matches of the first range that has few. If every range has many, it scans the
 * company's index and skips other rows; that takes about 200 ms when the first match comes after a million rows.
 */
async function readList(db: Connection, selection: ListSelection, page: PageRequest): Promise<ListedRow[]> {
  if (Object.values(selection.among).some((values) => values.length === 0)) return [];
  if (selection.ranges.length === 0) return (await scanSql(dialectOf(db), selection, page).execute(db)).rows;
  const ranged = firstColumnAsRange(selection);
  return (await sortFew(db, ranged, page)) ?? scanSlices(db, ranged, page);
}

/** Returns a page by sorting the matches of a range that has few; undefined when every range has too many. */
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

/** Returns a selection with a single value of the index's first column as a range, because it often has few matches. */
function firstColumnAsRange(selection: ListSelection): ListSelection {
  const [[column, values] = ['', []], ...others] = Object.entries(selection.among);
  if (values.length !== 1) return selection;
  const [value] = values;
  const ranges = [...selection.ranges, { column, from: value, to: value }];
  return { ...selection, among: Object.fromEntries(others), ranges };
}

/**
 * Returns SQL for a selection without ranges, in id order. Each combination of values is an index scan, and the database
 * merges the scans without reading more than the page.
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

/** Returns SQL that counts one range's matches in its own index, up to `countMax`. */
function countSql(index: number, countMax: number, selection: ListSelection): RawBuilder<{ count: number }> {
  return sql`
    SELECT CAST(COUNT(*) AS INTEGER) AS count
    FROM (
      SELECT id FROM ${sql.table(selection.table)}
      WHERE ${and(inRange(selection, index))}
      LIMIT ${sql.lit(countMax)}
    ) AS counted`;
}

/** Returns SQL that finds one range's matches in its own index, and sorts by id those that meet all conditions. */
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

/** Returns SQL for the id of a company's `slice`th row after `after`; no row if there are fewer. */
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
 * Returns SQL for the matches after `after` and up to `sliceEnd`, in id order. The index is named because SQLite would choose
 * the narrower index of ids, and read every row to check the other conditions.
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
 * Returns SQL for the records whose ids a query returns, in id order. With an inner join, SQLite would begin with the
 * records.
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

/** Returns the SQL conditions of a selection; ranges come first, because fewer rows match them. */
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
