import pg from 'pg';
import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { type Engine, openEngine } from '../../src/store/engine.ts';
import { createListReader } from '../../src/store/lists.ts';
import { openTestDatabase, STORY_NOW } from '../_server.ts';
import { type Filling, fillPostgres } from './_filling.ts';
import { listCases, type ListStatement, statementKinds, statementsOf } from './_list-statements.ts';

const COMPANY = 'planned';

/** The statements of all lists, each text once, with the first list that runs it. */
async function allStatements(engine: Engine, after = ''): Promise<(ListStatement & { list: string })[]> {
  const statements = new Map<string, ListStatement & { list: string }>();
  for (const listCase of listCases) {
    for (const statement of await statementsOf(engine, listCase, COMPANY, { after, limit: 50 })) {
      if (!statements.has(statement.sql))
        statements.set(statement.sql, { ...statement, list: listCase.name });
    }
  }
  return [...statements.values()];
}

const rangeIndex = /^[a-z]+_(changed|created|issued|issued_changed|valid|valid_changed)$/;

t.test(
  'on SQLite every list follows an index in id order, by itself or block by block, or counts or sorts that of a range',
  async (t) => {
    await using database = await openTestDatabase('sqlite');
    const statements = await allStatements(database.engine);
    for (const { kind, sql, values, list } of statements) {
      const rows = await database.engine.run(`EXPLAIN QUERY PLAN ${sql}`, values);
      const plan = rows as unknown as PlanStep[];
      const problem = problemOnSqlite(kind, plan);
      if (problem) t.fail(`${kind} of ${list}: ${problem}`, { sql, plan });
      if (kind === 'count' || kind === 'sort') {
        const looksAtRows = await passesRows(database.engine, sql, values);
        if (looksAtRows)
          t.fail(`${kind} of ${list}: it should look at the index of the range alone`, { sql });
      }
    }
    t.ok(listCases.length > 250, 'every combination of filters is among them');
    const kinds = Map.groupBy(statements, ({ kind }) => kind);
    // What is one statement on PostgreSQL is two here.
    for (const kind of statementKinds.filter((kind) => kind !== 'ranges')) {
      t.comment(`${kind}: ${kinds.get(kind)?.length} statements`);
      t.ok((kinds.get(kind)?.length ?? 0) >= 8, `there are statements of the kind ${kind}`);
    }
    for (const kind of ['days', 'months'] as const) {
      const tables = new Set(kinds.get(kind)?.map(({ list }) => list.split(' ')[0]));
      t.strictSame([...tables], ['invoices', 'quotes'], `what is walked by ${kind}`);
    }
  },
);

function problemOnSqlite(kind: ListStatement['kind'], plan: readonly PlanStep[]): string | undefined {
  if (kind === 'blocks') return blocksProblem(plan);
  const steps = plan.map(({ detail }) => detail);
  if (kind === 'days') return walkProblem(steps, [rowByRow, blockByBlock]);
  return kind === 'months' ? walkProblem(steps, [monthByMonth]) : indexProblem(kind, steps);
}

function indexProblem(kind: ListStatement['kind'], steps: readonly string[]): string | undefined {
  const searches = steps.filter((step) => step.startsWith('SEARCH')).map(searchOf);
  const scans = steps.filter(
    (step) => step.startsWith('SCAN') && !/^SCAN (CONSTANT ROW|wanted|counted|days)$/.test(step),
  );
  const sorts = steps.filter((step) => step.includes('TEMP B-TREE'));
  if (scans.length > 0) return `it reads everything: ${scans.join()}`;
  // The texts of the records that were found are read by their ids.
  const followed = searches.filter(({ terms }) => terms !== 'company=? AND id=?');
  if (followed.length === 0) return 'it searches without an index';
  if (kind !== 'sort' && sorts.length > 0) return 'it sorts what should come in order';
  if (kind === 'sort' || kind === 'count') {
    if (!followed.every(({ index }) => rangeIndex.test(index))) return 'it should read an index of the range';
    if (followed.length === 1) return undefined;
    // Of days that have changes, the first one and each next one are looked up, and then the changes of each.
    const terms = followed.map((search) => search.terms.replace(/^company=\? AND (status=\? AND )?/, ''));
    const areDays =
      /^(issue_date|valid_until)[<>]\?.*;(issue_date|valid_until)[<>]\?.*;\2=\? AND updated_at>\?$/;
    return areDays.test(terms.join(';')) ? undefined : `it should not search by ${terms.join()}`;
  }
  const isInOrder = followed.every(({ index, terms }) => !rangeIndex.test(index) && terms.endsWith(' id>?'));
  return isInOrder ? undefined : 'it should follow an index that ends with the id';
}

/**
 * Whether a statement looks at the rows of the index that it follows, and not only at its entries: SQLite goes to a row
 * (DeferredSeek, whose third operand is the table's cursor) when the first of its columns is read.
 */
async function passesRows(engine: Engine, sql: string, values: unknown[]): Promise<boolean> {
  const steps = await engine.run(`EXPLAIN ${sql}`, values);
  const followed = steps.filter(({ opcode }) => opcode === 'DeferredSeek').map(({ p3 }) => p3);
  // The texts of the rows that were found are looked up by another search of the same statement.
  const lookUps = followed.filter((cursor) =>
    steps.some((step) => step.opcode === 'Column' && step.p1 === cursor),
  );
  return lookUps.length > (sql.includes('"record"') ? 1 : 0);
}

/** A step of SQLite's plan, which belongs to another one, or to none (0). */
interface PlanStep {
  id: number;
  parent: number;
  detail: string;
}

function blocksProblem(steps: readonly PlanStep[]): string | undefined {
  const details = steps.map(({ detail }) => detail);
  const scans = details.filter((detail) => /^SCAN (?!(stream_end|head|blocks|horizon|found)\b)/.test(detail));
  if (scans.length > 0) return `it reads everything: ${scans.join()}`;
  for (const detail of details.filter((one) => one.startsWith('SEARCH'))) {
    if (/^SEARCH stream_ends?$/.test(detail)) continue;
    const { index, terms } = searchOf(detail);
    const isBlockSearch =
      /^SEARCH list_blocks USING PRIMARY KEY \(company=\? AND stream=\? AND first_id>/.test(detail);
    const isRowSearch = !rangeIndex.test(index) && / id>\? AND id<\?$/.test(terms);
    if (!isBlockSearch && !isRowSearch && terms !== 'company=? AND id=?') return `it should not ${detail}`;
  }
  // What was found in each stream, a page at most, is put in order; nothing is on the way there.
  const lazy = steps
    .filter(({ detail }) => /^CO-ROUTINE (head|blocks|stream_end)$/.test(detail))
    .map(({ id }) => id);
  if (lazy.length < 3) return 'it should look into blocks';
  const sorts = steps.filter(({ detail, parent }) => detail.includes('TEMP B-TREE') && lazy.includes(parent));
  return sorts.length === 0 ? undefined : 'it sorts what should come in order';
}

/**
 * Days are found one after the other, and of each day's rows one after the other: by the index of days and ids, and
 * beside a range of times by blocks, where the day has changes at all; and so are months.
 */
function walkProblem(steps: readonly string[], expected: readonly (readonly string[])[]): string | undefined {
  const searches = steps
    .filter((step) => step.startsWith('SEARCH'))
    .map((step) => asOfDocuments(step.slice('SEARCH '.length)));
  const others = searches.filter((search) => !nextDay.test(search)).sort();
  const isExpected = expected.some((searched) => others.join() === searched.toSorted().join());
  if (searches.length - others.length !== 2 || !isExpected) return `it should not search ${searches.join()}`;
  const unexpected = steps.filter((step) =>
    /^SCAN (?!(CONSTANT ROW|days|seen|begun|walked)$)|TEMP B-TREE/.test(step),
  );
  return unexpected.length === 0 ? undefined : `it should not ${unexpected.join()}`;
}

/** Quotes are found as documents are, by their own indexes and within a status. */
const asOfDocuments = (search: string) =>
  search
    .replaceAll('valid_until', 'issue_date')
    .replace('quotes_valid', 'invoices_issued')
    .replace('quotes_of_month', 'invoices_of_month')
    .replace('quotes_by_id', 'invoices_by_id')
    .replace(/^quotes (.*)company=\? AND status=\?/, 'invoices $1company=?');

const nextDay =
  /^invoices USING INDEX invoices_issued \(company=\? AND issue_date(>\?( AND issue_date<\?)?|<\?)\)$/;
const rowOfDay = 'invoices USING INDEX invoices_issued (company=? AND issue_date=? AND id>?)';
const blockOfDay = 'list_blocks USING PRIMARY KEY (company=? AND stream=? AND first_id>?)';
const itsRecord = 'record USING INDEX invoices_by_id (company=? AND id=?) LEFT-JOIN';
const rowByRow = [rowOfDay, rowOfDay, itsRecord];
const blockByBlock = [
  'invoices EXISTS USING INDEX invoices_issued_changed (company=? AND issue_date=? AND updated_at>?)',
  rowOfDay,
  'invoices USING INDEX invoices_issued (company=? AND issue_date=? AND id>? AND id<?)',
  blockOfDay,
  blockOfDay,
  itsRecord,
];

const monthByMonth = [
  'invoices USING INDEX invoices_issued_changed (company=? AND issue_date=? AND updated_at>?)',
  'invoices USING COVERING INDEX invoices_of_month (company=? AND <expr>=? AND id>?)',
  rowOfDay,
  'invoices USING COVERING INDEX invoices_of_month (company=? AND <expr>=? AND id>? AND id<?)',
  'invoices USING INDEX invoices_issued (company=? AND issue_date=? AND id>? AND id<?)',
  ...[blockOfDay, blockOfDay, blockOfDay],
  itsRecord,
];

/** `SEARCH jobs USING INDEX jobs_by_id (company=? AND id>?)` */
function searchOf(step: string): { index: string; terms: string; isCovering: boolean } {
  const [, covering, index = 'none', terms = ''] = / USING (COVERING )?INDEX (\w+) \((.*)\)/.exec(step) ?? [];
  return { index, terms, isCovering: covering !== undefined };
}

interface PlanNode {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

const RARE = 100;
const SPREAD = `n % ${RARE} = 0`;
/**
 * Companies with their rows: those that are late lie everywhere, or all of them at the end; or many have late days, and
 * many others were changed lately.
 */
const fillings: Record<'planned' | 'small' | 'late' | 'apart', Filling> = {
  planned: { rows: 24_000, isLate: SPREAD },
  small: { rows: 600, isLate: SPREAD },
  late: { rows: 24_000, isLate: 'n > 22000' },
  apart: { rows: 24_000, isLate: 'n % 4 = 0', hasLateDay: 'n % 2 = 1' },
};
type Filled = keyof typeof fillings;
/** A company, and whether the bounds of a range are those that every row lies in. */
interface Case {
  company: Filled;
  isDense: boolean;
}
interface Allowance extends Case {
  countMax: number;
}
const rowCount = Object.values(fillings).reduce((sum, { rows }) => sum + rows, 0);
const companies = Object.keys(fillings) as Filled[];
const BLOCK_ROWS = 64;
/** Bounds that the store's filling gives the late rows, and bounds that it gives every row. */
const denseBounds: Record<string, string> = {
  '2026-11-12T00:00:00.000Z': '2024-01-01T00:00:00.000Z',
  '2026-11-01': '2024-01-01',
  '2026-11-20': '2024-01-01',
  // The months of a range, as bits: one, and all.
  [String(1n << BigInt((2026 * 12 + 11) % 60))]: String((1n << 60n) - 1n),
};

t.test('on PostgreSQL no list passes more rows than its way of reading allows', async (t) => {
  await using database = await openTestDatabase('postgres');
  await using engine = await openEngine(database.url, { poolMax: 1 });
  for (const company of companies) await createCompany(engine, company, {}, STORY_NOW);
  await fillPostgres(engine, fillings);
  const cases = companies.flatMap((company) => [
    { company, isDense: false },
    { company, isDense: true },
  ]);
  let measured = 0;
  for (const after of ['', '000000000300']) {
    // A later page has the same statements with another beginning: two companies tell whether it is followed.
    const begun =
      after === '' ? cases : cases.filter(({ company }) => ['planned', 'apart'].includes(company));
    for (const statement of await allStatements(engine, after)) {
      const possible = begun.filter((one) => isPossible(statement.kind, one));
      // Prepared as the server does it: the plan is made before the values are known.
      await engine.run(`PREPARE measured AS ${statement.sql}`);
      for (const filling of possible) await checkRows(t, engine, statement, filling);
      await engine.run('DEALLOCATE measured');
      measured += possible.length;
    }
  }
  t.comment(`${measured} statements measured`);
  t.ok(measured > 1_000);
});

/** A range in which more than a thousand rows lie isn't sorted, nor are blocks looked into for what two have few of. */
function isPossible(kind: ListStatement['kind'], { company, isDense }: Case): boolean {
  if (kind === 'sort') return !isDense && company !== 'late' && company !== 'apart';
  return kind !== 'blocks' || isDense || company !== 'apart';
}

async function checkRows(
  t: Test,
  engine: Engine,
  { kind, sql, values, list }: ListStatement & { list: string },
  { company, isDense }: Case,
): Promise<void> {
  const bound = values.map((value) => {
    const given = value === COMPANY ? company : isDense ? (denseBounds[String(value)] ?? value) : value;
    return pg.escapeLiteral(String(given));
  });
  const [row] = await engine.run(
    `EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) EXECUTE measured (${bound.join(', ')})`,
  );
  const [{ Plan: plan }] = JSON.parse(String(row?.['QUERY PLAN'])) as [{ Plan: PlanNode }];
  const passed = rowsPassed(plan);
  // Of all numbers in a statement that of the matches to count is the highest.
  const countMax = Math.max(...values.filter((value) => typeof value === 'number'));
  const allowed = rowsAllowed(kind, sql, { company, isDense, countMax });
  if (passed > allowed) {
    const which = `${kind} of ${list} of ${company}${isDense ? ', dense' : ''}`;
    t.fail(`${which}: ${passed} rows, not ${allowed}`, { sql, plan: JSON.stringify(plan) });
  }
}

/** The rows that all scans of a plan have looked at, whether they were wanted or not. */
function rowsPassed(plan: PlanNode): number {
  const seen =
    plan['Actual Rows'] +
    (plan['Rows Removed by Filter'] ?? 0) +
    (plan['Rows Removed by Index Recheck'] ?? 0);
  const own = plan['Relation Name'] === undefined ? 0 : seen * plan['Actual Loops'];
  return own + (plan.Plans ?? []).reduce((sum, child) => sum + rowsPassed(child), 0);
}

/** What the ways of reading allow (src/store/lists.ts), for pages of 50 and one row to see that more follow. */
function rowsAllowed(kind: ListStatement['kind'], sql: string, filling: Allowance): number {
  const page = 51;
  const { company, isDense, countMax } = filling;
  switch (kind) {
    case 'walk':
      return page + sql.split(/ union all /i).length;
    case 'count':
      return countMax * sql.split(/count\(\*\)/i).length;
    case 'sort':
      // A range without a beginning holds nearly all rows here, so that all of the table may be read.
      return page + (/>= \$\d+ and COALESCE\("id"/i.test(sql) ? fillings.planned.rows / RARE : rowCount);
    case 'ranges':
      // The ways that aren't taken pass no row.
      return (
        Math.max(page + countMax, rowsAllowed('blocks', sql, filling)) + rowsAllowed('count', sql, filling)
      );
    case 'blocks': {
      const streams = sql.split(/ AS head/).length - 1;
      // By chance there are more blocks than one for each 64 rows. Their bounds are read once for the horizon, and once
      // again up to it; and where one ends is asked of each that is looked into.
      const bounds = 2 * 1.4 * (fillings.planned.rows / BLOCK_ROWS);
      // Where matches come in a row the first blocks that have some are enough. Where they are few and far between, each
      // of a page's may be in a block of its own; a first and a last block come to that.
      const blocks = isDense || company === 'late' ? 6 : page + 2;
      return page + streams * (bounds + 1.4 * blocks * (BLOCK_ROWS + 2) + page);
    }
    case 'days':
      return page + dayRowsAllowed(sql, filling);
    case 'months':
      throw new Error('PostgreSQL walks no months.');
  }
}

/** All rows of the days of a range, of which a filling has two, and those that say which days there are. */
function dayRowsAllowed(sql: string, { company, isDense }: Case): number {
  const hasBeginning = /"(issue_date|valid_until)" >= \$\d+/.test(sql);
  const { rows, isLate } = fillings[company];
  return 20 + (hasBeginning && !isDense && isLate === SPREAD ? rows / RARE : rows);
}

t.test(
  'PostgreSQL keeps every statement of a list prepared, each connection anew after an hour',
  async (t) => {
    await using database = await openTestDatabase('postgres');
    await using engine = await openEngine(database.url, { poolMax: 1 });
    const read = createListReader(engine);
    const page = { after: '', limit: 50 };
    for (const { list } of listCases) await list(read, COMPANY, page);
    const once = await keptPlans(engine);
    for (const { list } of listCases) await list(read, COMPANY, page);
    t.strictSame(await keptPlans(engine), once, 'asked again, nothing is parsed again');
    t.ok(once.statements > 50 && once.statements < 150, `${once.statements} statements`);
    t.ok(once.megabytes < 100, `${once.megabytes} MB of plans in a connection that has met every list`);
  },
);

async function keptPlans(engine: Engine): Promise<{ statements: number; megabytes: number }> {
  const [statements] = await engine.run('SELECT COUNT(*) AS count FROM pg_prepared_statements');
  const [memory] = await engine.run(
    "SELECT SUM(total_bytes) AS bytes FROM pg_backend_memory_contexts WHERE name LIKE 'CachedPlan%'",
  );
  return {
    statements: Number(statements?.count),
    megabytes: Math.round(Number(memory?.bytes) / 1_000_000),
  };
}
