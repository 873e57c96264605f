import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { type Engine, openEngine } from '../../src/store/engine.ts';
import { createListReader } from '../../src/store/lists.ts';
import { createRecordFinder } from '../../src/store/records.ts';
import { openTestDatabase, STORY_NOW } from '../_server.ts';
import { fillPostgres } from './_filling.ts';
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

const rangeIndex = /^[a-z]+_(changed|created|issued|valid)$/;

t.test('on SQLite every list follows an index in id order, or counts or sorts one of a range', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const statements = await allStatements(database.engine);
  for (const { kind, sql, values, list } of statements) {
    const rows = await database.engine.run(`EXPLAIN QUERY PLAN ${sql}`, values);
    const steps = rows.map(({ detail }) => String(detail));
    const problem = problemOnSqlite(kind, steps);
    if (problem) t.fail(`${kind} of ${list}: ${problem}`, { sql, steps });
  }
  t.ok(listCases.length > 250, 'every combination of filters is among them');
  const kinds = Map.groupBy(statements, ({ kind }) => kind);
  for (const kind of statementKinds) {
    t.comment(`${kind}: ${kinds.get(kind)?.length} statements`);
    t.ok((kinds.get(kind)?.length ?? 0) >= 8, `there are statements of the kind ${kind}`);
  }
});

function problemOnSqlite(kind: ListStatement['kind'], steps: readonly string[]): string | undefined {
  const searches = steps.filter((step) => step.startsWith('SEARCH')).map(searchOf);
  const scans = steps.filter(
    (step) => step.startsWith('SCAN') && !/^SCAN (found|wanted|counted)$/.test(step),
  );
  const sorts = steps.filter((step) => step.includes('TEMP B-TREE'));
  if (scans.length > 0) return `it reads everything: ${scans.join()}`;
  // The texts of the records that were found are read by their ids.
  const followed = searches.filter(({ terms }) => terms !== 'company=? AND id=?');
  if (followed.length === 0) return 'it searches without an index';
  if (kind !== 'sort' && sorts.length > 0) return 'it sorts what should come in order';
  if (kind === 'sort' || kind === 'count')
    return followed.length === 1 && rangeIndex.test(followed[0]?.index ?? '')
      ? undefined
      : 'it should read one index of the range';
  const isInOrder = followed.every(({ index, terms }) => !rangeIndex.test(index) && terms.endsWith(' id>?'));
  return isInOrder ? undefined : 'it should follow an index that ends with the id';
}

/** `SEARCH jobs USING INDEX jobs_by_id (company=? AND id>?)` */
function searchOf(step: string): { index: string; terms: string } {
  const [, index = 'none', terms = ''] = / USING (?:COVERING )?INDEX (\w+) \((.*)\)/.exec(step) ?? [];
  return { index, terms };
}

interface PlanNode {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

const ROWS = { planned: 24_000, small: 600 };
const RARE = 100;
/** Bounds that the store's filling gives one row in 100, and bounds that it gives every row. */
const denseBounds: Record<string, string> = {
  '2026-11-12T00:00:00.000Z': '2024-01-01T00:00:00.000Z',
  '2026-11-01': '2024-01-01',
  '2026-11-20': '2024-01-01',
};

t.test('on PostgreSQL no list passes more rows than its way of reading allows', async (t) => {
  await using database = await openTestDatabase('postgres');
  const { engine } = database;
  for (const [company, rows] of Object.entries(ROWS)) {
    await createCompany(engine, company, {}, STORY_NOW);
    await fillPostgres(engine, company, rows, RARE);
  }
  const fillings = Object.keys(ROWS).flatMap((company) => [
    { company, isDense: false },
    { company, isDense: true },
  ]);
  let measured = 0;
  for (const after of ['', '000000000300']) {
    for (const statement of await allStatements(engine, after)) {
      // A range in which every row lies isn't sorted: a hop among the next rows fills the page.
      const possible = fillings.filter(({ isDense }) => !isDense || statement.kind !== 'sort');
      for (const filling of possible) await checkRows(t, engine, statement, filling);
      measured += possible.length;
    }
  }
  t.comment(`${measured} statements measured`);
  t.ok(measured > 1_000);
});

async function checkRows(
  t: Test,
  engine: Engine,
  { kind, sql, values, list }: ListStatement & { list: string },
  { company, isDense }: { company: string; isDense: boolean },
): Promise<void> {
  const bound = values.map((value) => {
    if (value === COMPANY) return company;
    return (isDense ? denseBounds[String(value)] : undefined) ?? value;
  });
  const [row] = await engine.run(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, bound);
  const [{ Plan: plan }] = JSON.parse(String(row?.['QUERY PLAN'])) as [{ Plan: PlanNode }];
  const passed = rowsPassed(plan);
  const allowed = rowsAllowed(kind, sql);
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
function rowsAllowed(kind: ListStatement['kind'], sql: string): number {
  const streams = sql.split(/ union all /i).length;
  const page = 51;
  switch (kind) {
    case 'walk':
      return page + streams;
    case 'count':
      return 1_001;
    case 'left':
      return 1_000 * streams;
    case 'hop':
      // A stream not much longer than a hop may as well be collected whole.
      return 2 * 2_000 * streams + page;
    case 'sort':
      // A range without a beginning holds nearly all rows here, so that all of the table may be read.
      return (
        page + (/>= \$\d+ and NULLIF\("id"/i.test(sql) ? ROWS.planned / RARE : ROWS.planned + ROWS.small)
      );
    default:
      throw new Error(`There is no kind ${String(kind)}.`);
  }
}

t.test('PostgreSQL plans each list for its own values', async (t) => {
  await using database = await openTestDatabase('postgres');
  await using engine = await openEngine(database.url, { poolMax: 1 });
  const read = createListReader(engine);
  const page = { after: '', limit: 50 };
  for (const { list } of listCases) await list(read, COMPANY, page);
  const find = createRecordFinder(engine, 'jobs');
  for (let times = 0; times < 10; times += 1) await find(COMPANY, 'job_1');
  const kept = await engine.run('SELECT statement FROM pg_prepared_statements');
  // One plan for any values can be the worst for these; for a record by its id it is the only one.
  t.equal(kept.length, 1, 'only the look-up of a record is kept prepared');
  t.match(kept[0], { statement: /from "jobs" where "company" = \$1 and "id" = \$2$/ });
});
