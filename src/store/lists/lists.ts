import { setImmediate as turn } from 'node:timers/promises';

import { type RawBuilder, sql } from 'kysely';

import type { Engine, PreparedQuery } from '../engines/engine.ts';
import type { RecordTableName } from '../schema.ts';
import { withoutIndex } from '../engines/without-index.ts';

/** A condition on a column that has an index: bounds are inclusive and compare as text. */
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
 * company by its ids. The indexes are in ../migrations/0002-records.ts.
 */
export interface Selection {
  table: RecordTableName;
  company: string;
  among: Readonly<Record<string, readonly string[]>>;
  ranges: readonly Range[];
}

export interface ListedRow {
  id: string;
  body: string;
  digest: string | null;
}

/** Reads at most `limit` rows of a selection whose ids come after `after` (`''`: all). */
export type ReadList = (selection: Selection, after: string, limit: number) => Promise<ListedRow[]>;

const usualBounds = {
  /** Matches of a range that are counted and sorted for each page: on SQLite 40,000 take about 4 ms. */
  sortedMax: 40_000,
  /** Rows that a walk on SQLite passes over before others have their turn: 20,000 take about 3 ms. */
  slice: 20_000,
};

/** Comes after every id: ids consist of ASCII letters, digits and `. _ : -`. */
const AFTER_ALL_IDS = '~';

/**
 * Builds the reader of lists. A list without ranges walks its index in id order. With ranges, the matches of the first
 * range that has few are sorted. Where each has many, the list walks the company's index and passes over what doesn't
 * match; that takes about 200 ms when the first match comes after a million rows.
 * @param bounds are smaller in tests, which then need fewer records.
 */
export function createListReader(engine: Engine, bounds: Partial<typeof usualBounds> = {}): ReadList {
  const { sortedMax, slice } = { ...usualBounds, ...bounds };
  const prepare = statementsOf(engine);

  /** Undefined when every range has more matches than are sorted. */
  const sortFew = async (selection: Selection, page: Page): Promise<ListedRow[] | undefined> => {
    for (const index of selection.ranges.keys()) {
      const count = prepare<{ count: number }>(`count ${index}`, selection, countSql(index, sortedMax + 1));
      const [counted] = await count(page);
      await turn();
      if (!counted || counted.count > sortedMax) continue;
      return prepare<ListedRow>(`sort ${index}`, selection, sortSql(index))(page);
    }
    return undefined;
  };

  const walkSlices = async (selection: Selection, page: Page): Promise<ListedRow[]> => {
    const findEnd = prepare<{ id: string }>('slice end', selection, sliceEndSql(slice));
    const read = prepare<ListedRow>('slice', selection, sliceSql(engine.name));
    const rows: ListedRow[] = [];
    let { after } = page;
    for (;;) {
      // PostgreSQL walks in a process of its own.
      const [end] = engine.name === 'sqlite' ? await findEnd({ ...page, after }) : [];
      const sliceEnd = end?.id ?? AFTER_ALL_IDS;
      rows.push(...(await read({ after, sliceEnd, limit: page.limit - rows.length })));
      if (!end || rows.length === page.limit) return rows;
      after = sliceEnd;
      await turn();
    }
  };

  return async (selection, after, limit) => {
    if (Object.values(selection.among).some((values) => values.length === 0)) return [];
    const page = { after, limit };
    if (selection.ranges.length === 0)
      return prepare<ListedRow>('walk', selection, walkSql(engine.name))(page);
    const ranged = firstColumnAsRange(selection);
    return (await sortFew(ranged, page)) ?? walkSlices(ranged, page);
  };
}

/** A single value of the index's first column, such as one customer, is a range too, and often one of few matches. */
function firstColumnAsRange(selection: Selection): Selection {
  const [[column, values] = ['', []], ...others] = Object.entries(selection.among);
  if (values.length !== 1) return selection;
  const [value] = values;
  const ranges = [...selection.ranges, { column, from: value, to: value }];
  return { ...selection, among: Object.fromEntries(others), ranges };
}

/** Where a page begins, how many rows it has, and the last id of a slice. */
interface Page {
  after: string;
  limit: number;
  sliceEnd?: string;
}

/** Builds a statement around stand-ins for the values of a selection and a page (../engines/slots.ts). */
type Build<Row> = (selection: Selection, page: Required<Page>) => RawBuilder<Row>;
type Values = Record<string, unknown>;

/** Compiles each statement once for all selections of a shape, which differ in their values only. */
function statementsOf(engine: Engine) {
  const statements = new Map<string, PreparedQuery<Values, never>>();
  return <Row>(name: string, selection: Selection, build: Build<Row>): ((page: Page) => Promise<Row[]>) => {
    const values: Values = {};
    const shape = replaceValues(selection, (value, valueName) => {
      values[valueName] = value;
      return valueName;
    });
    const key = `${name} ${JSON.stringify(shape)}`;
    let statement = statements.get(key);
    if (!statement) {
      statement = engine.prepare<Values, never>((db, slot) => {
        // To the builder a stand-in is the value itself.
        const slotted = replaceValues(shape, (valueName) => slot[valueName] as string);
        return { compile: () => build(slotted, slot as Required<Page>).compile(db) };
      });
      statements.set(key, statement);
    }
    const run = statement;
    return (page) => run({ ...values, ...page });
  };
}

/** Replaces each value of a selection; `name` tells them apart. */
function replaceValues(
  { table, company, among, ranges }: Selection,
  replace: (value: string, name: string) => string,
): Selection {
  const replaceBound = (value: string | undefined, name: string) =>
    value === undefined ? undefined : replace(value, name);
  return {
    table,
    company: replace(company, 'company'),
    among: Object.fromEntries(
      Object.entries(among).map(([column, values]) => [
        column,
        values.map((value, index) => replace(value, `${column}${index}`)),
      ]),
    ),
    ranges: ranges.map(({ column, from, to }, index) => ({
      column,
      from: replaceBound(from, `from${index}`),
      to: replaceBound(to, `to${index}`),
    })),
  };
}

/**
 * The rows of a selection without ranges, in id order: each combination of values by the index that begins with it,
 * merged by the database, which reads no further than the page.
 *
 * PostgreSQL plans each combination by itself. Without an order and a limit of its own it collects all of its rows and
 * sorts them. SQLite would sort what comes in order.
 */
function walkSql(engine: Engine['name']): Build<ListedRow> {
  return ({ table, company, among }, { after, limit }) => {
    const combinations = Object.entries(among).reduce(
      (made, [column, values]) =>
        made.flatMap((one) => values.map((value) => sql`${one} AND ${sql.ref(column)} = ${value}`)),
      [sql`company = ${company}`],
    );
    const walks = combinations.map(
      (isCombination) =>
        sql`SELECT id, body, digest FROM ${sql.table(table)} WHERE ${isCombination} AND id > ${after}`,
    );
    const inOrder = sql`ORDER BY id LIMIT ${limit}`;
    const isPlannedApart = engine === 'postgres' && walks.length > 1;
    const parts = isPlannedApart ? walks.map((walk) => sql`(${walk} ${inOrder})`) : walks;
    return sql`${sql.join(parts, sql` UNION ALL `)} ${inOrder}`;
  };
}

/** Counts the matches of one range by its own index, but no further than `countMax`. */
function countSql(index: number, countMax: number): Build<{ count: number }> {
  return (selection) => sql`
    SELECT CAST(COUNT(*) AS INTEGER) AS count
    FROM (
      SELECT id FROM ${sql.table(selection.table)}
      WHERE ${and(inRange(selection, index))}
      LIMIT ${sql.lit(countMax)}
    ) AS counted`;
}

/** Finds the matches of one range by its own index, and sorts by id those that the whole selection wants. */
function sortSql(index: number): Build<ListedRow> {
  return (selection, { after, limit }) => {
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
  };
}

/** The id of a company's `slice`th row after `after`; no row if there are fewer. */
function sliceEndSql(slice: number): Build<{ id: string }> {
  return ({ table, company }, { after }) => sql`
    SELECT id FROM ${sql.table(table)}
    WHERE company = ${company} AND id > ${after}
    ORDER BY id
    LIMIT 1 OFFSET ${sql.lit(slice - 1)}`;
}

/**
 * The matches of a selection after `after` and up to `sliceEnd`, in id order. SQLite would choose the narrower index of
 * ids, and read every row for what else the selection asks.
 */
function sliceSql(engine: Engine['name']): Build<ListedRow> {
  return (selection, { after, sliceEnd, limit }) => {
    const { table, company } = selection;
    const index = engine === 'sqlite' ? sql`INDEXED BY ${sql.id(`${table}_walked`)}` : sql``;
    const ids = sql`
      SELECT id FROM ${sql.table(table)} ${index}
      WHERE company = ${company} AND id > ${after} AND id <= ${sliceEnd} AND ${and(conditions(selection, column))}
      ORDER BY id
      LIMIT ${limit}`;
    return recordsSql(selection, ids);
  };
}

/**
 * The records whose ids a query gives, in id order: rows that don't match are passed over in their index alone. SQLite
 * would begin an inner join with the records.
 */
function recordsSql({ table, company }: Selection, ids: RawBuilder<unknown>): RawBuilder<ListedRow> {
  return sql`
    SELECT wanted.id, record.body, record.digest
    FROM (${ids}) AS wanted
    LEFT JOIN ${sql.table(table)} AS record ON record.company = ${company} AND record.id = wanted.id
    ORDER BY wanted.id`;
}

/** The conditions of one range, for the index that begins with its column. */
function inRange({ company, ranges }: Selection, index: number): RawBuilder<unknown>[] {
  const bounds = ranges.slice(index, index + 1).flatMap((range) => boundsOf(range, column));
  return [sql`company = ${company}`, ...bounds];
}

type Refer = (column: string) => RawBuilder<unknown>;
const column: Refer = (name) => sql.ref(name);

/** The conditions of a selection; ranges come first, as fewer rows match them. */
function conditions({ among, ranges }: Selection, refer: Refer): RawBuilder<unknown>[] {
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
