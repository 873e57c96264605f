import pg from 'pg';
import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import type { Engine } from '../../src/store/engine.ts';
import { openTestDatabase, STORY_NOW } from '../_server.ts';
import { fillPostgres } from './_filling.ts';
import { listCases, type ListStatement, statementsOf } from './_list-statements.ts';

const COMPANY = 'planned';

/** The statements of all lists, each text once, with the first list that runs it. */
async function allStatements(engine: Engine): Promise<(ListStatement & { list: string })[]> {
  const statements = new Map<string, ListStatement & { list: string }>();
  for (const listCase of listCases) {
    for (const statement of await statementsOf(engine, listCase, COMPANY)) {
      if (!statements.has(statement.sql))
        statements.set(statement.sql, { ...statement, list: listCase.name });
    }
  }
  return [...statements.values()];
}

const rangeIndex = /^[a-z]+_(changed|created|issued|valid)$/;

t.test('on SQLite every list is a walk of an index in id order, or a look-up of few matches', async (t) => {
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
  for (const kind of ['walk', 'probe', 'sort'] as const) {
    t.comment(`${kind}: ${kinds.get(kind)?.length} statements`);
    t.ok((kinds.get(kind)?.length ?? 0) >= 8, `there are statements of the kind ${kind}`);
  }
});

function problemOnSqlite(kind: ListStatement['kind'], steps: readonly string[]): string | undefined {
  const searches = steps.filter((step) => step.startsWith('SEARCH')).map(searchOf);
  const scans = steps.filter((step) => step.startsWith('SCAN') && !/^SCAN (matches|wanted)$/.test(step));
  const sorts = steps.filter((step) => step.includes('TEMP B-TREE'));
  if (scans.length > 0) return `it reads everything: ${scans.join()}`;
  if (searches.length === 0 || searches.some(({ index }) => index === undefined))
    return 'it searches without an index';
  if (kind === 'sort') return problemOfSort(searches, sorts);
  if (sorts.length > 0) return 'it sorts what should come in order';
  if (kind === 'probe')
    return searches.length === 1 && rangeIndex.test(searches[0]?.index ?? '')
      ? undefined
      : 'it should count in an index of the range';
  const isWalk = searches.every(
    ({ index = '', terms = '' }) => !rangeIndex.test(index) && /id>\?$/.test(terms),
  );
  return isWalk ? undefined : 'it should walk an index that ends with the id';
}

function problemOfSort(
  searches: readonly { index?: string | undefined; terms?: string | undefined }[],
  sorts: readonly string[],
) {
  const [matches, ...lookUps] = searches;
  if (!rangeIndex.test(matches?.index ?? '')) return 'it should find the matches in an index of the range';
  if (sorts.length !== 1) return 'it should sort once';
  const isEachOne = lookUps.length > 0 && lookUps.every(({ terms = '' }) => /id=\?$/.test(terms));
  return isEachOne ? undefined : 'it should look up each match by its id';
}

/** `SEARCH jobs USING INDEX jobs_by_id (company=? AND id>?)` */
function searchOf(step: string): { index: string | undefined; terms: string | undefined } {
  const found = / USING (?:COVERING )?INDEX (\w+) \((.*)\)/.exec(step);
  return { index: found?.[1], terms: found?.[2] };
}

interface PlanNode {
  'Node Type': string;
  'Plan Rows': number;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

/** As often as it takes until PostgreSQL decides whether it keeps one plan for whatever is bound. */
const EXECUTIONS_UNTIL_SETTLED = 6;

t.test('on PostgreSQL, too, with the plan that a statement settles on', async (t) => {
  await using database = await openTestDatabase('postgres');
  await createCompany(database.engine, COMPANY, {}, STORY_NOW);
  await createCompany(database.engine, 'neighbour', {}, STORY_NOW);
  const statements = await allStatements(database.engine);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    // Where a company has most of the rows, where it has few, and where a range holds one row in 100 or each.
    for (const { rows, neighbours, rare } of [
      { rows: 8_000, neighbours: 500, rare: 100 },
      { rows: 500, neighbours: 8_000, rare: 1 },
    ]) {
      await fillPostgres(database.engine, COMPANY, rows, rare);
      await fillPostgres(database.engine, 'neighbour', neighbours, rare);
      for (const statement of statements) await checkSettledPlan(t, client, statement);
      t.pass(`${statements.length} statements with ${rows} rows of the company and ${neighbours} of another`);
      for (const table of ['people', 'customers', 'forms', 'jobs', 'submissions', 'invoices', 'quotes'])
        await database.engine.run(`DELETE FROM ${table}`);
    }
  } finally {
    await client.end();
  }
});

async function checkSettledPlan(
  t: Test,
  client: pg.Client,
  { kind, sql, values, list }: ListStatement & { list: string },
): Promise<void> {
  const plan = await settledPlan(client, sql, values);
  const problem = problemOnPostgres(kind, plan);
  if (problem) t.fail(`${kind} of ${list}: ${problem}`, { sql, plan: JSON.stringify(plan) });
}

async function settledPlan(client: pg.Client, sql: string, values: readonly unknown[]): Promise<PlanNode> {
  const literals = values.map((value) =>
    typeof value === 'number' ? String(value) : client.escapeLiteral(String(value)),
  );
  const execute = `EXECUTE listed (${literals.join()})`;
  await client.query(`PREPARE listed AS ${sql}`);
  for (let execution = 0; execution < EXECUTIONS_UNTIL_SETTLED; execution += 1) await client.query(execute);
  const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (FORMAT JSON) ${execute}`,
  );
  await client.query('DEALLOCATE listed');
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  if (!plan) throw new Error('PostgreSQL shows no plan.');
  return plan;
}

function problemOnPostgres(kind: ListStatement['kind'], plan: PlanNode): string | undefined {
  const nodes = nodesOf(plan);
  const sorts = nodes.filter((node) => /Sort$/.test(node['Node Type']));
  if (nodes.some((node) => /Join|Nested Loop|Hash/.test(node['Node Type']))) return 'it joins';
  if (kind === 'walk') {
    if (nodes.some((node) => rangeIndex.test(node['Index Name'] ?? ''))) return 'it collects a range';
    if (sorts.length > 0) return sorts.every(isShort) ? undefined : 'it sorts a long stream';
  }
  const scans = nodes.filter((node) => node['Node Type'].includes('Scan') && !isScanOfAPart(node));
  if (!scans.every(isScanOfAnIndex)) return 'it reads a table other than by an index in order';
  if (kind === 'sort') return problemOfLookUps(scans);
  if (sorts.length > 0) return 'it sorts what should come in order';
  const isOfRange = (node: PlanNode) => rangeIndex.test(node['Index Name'] ?? '');
  return kind === 'walk' || scans.every(isOfRange) ? undefined : 'it should count in an index of the range';
}

function problemOfLookUps(scans: readonly PlanNode[]): string | undefined {
  const [matches, ...lookUps] = [
    ...scans.filter((node) => rangeIndex.test(node['Index Name'] ?? '')),
    ...scans.filter((node) => !rangeIndex.test(node['Index Name'] ?? '')),
  ];
  if (!matches || lookUps.length === 0) return 'it should look up each match';
  return lookUps.every((node) => /\bid = /.test(node['Index Cond'] ?? ''))
    ? undefined
    : 'it should look up each match by its id';
}

/** Where it expects less than a page in a whole stream, PostgreSQL may as well read that stream and sort it. */
const isShort = (sort: PlanNode) =>
  sort['Plan Rows'] <= 101 && nodesOf(sort).every((node) => node['Node Type'] !== 'Seq Scan');

const isScanOfAnIndex = (node: PlanNode) => /^Index (Only )?Scan$/.test(node['Node Type']);
const isScanOfAPart = (node: PlanNode) => /^(CTE|Subquery) Scan$/.test(node['Node Type']);

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
