// Long: it fills both engines and looks at the plan of every list with all its filters.
// It takes longer than others: it runs every statement of every list over thousands of records.
import { readFileSync } from 'node:fs';

import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { hasDetail, resources } from '../../../../src/contract/records.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { openTestDatabase, STORY_NOW } from '../../../_server.ts';
import { rowsPassed } from '../_plans.ts';
import { type Filling, fillPostgres } from './_filling.ts';
import { listCases, type ListStatement, statementsOf } from './_list-statements.ts';

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

t.test('on SQLite a list follows an index in id order, or counts or sorts a range', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const statements = await allStatements(database.engine);
  for (const { kind, sql, values, list } of statements) {
    const rows = await database.engine.run(`EXPLAIN QUERY PLAN ${sql}`, values);
    const steps = (rows as { detail: string }[]).map(({ detail }) => detail);
    t.equal(indexProblem(kind, sql, steps), undefined, `${kind} of ${list}`, { sql, steps });
  }
});

/** Bytes that this process has read so far, from files and elsewhere. */
const bytesRead = () => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

t.test('on SQLite a count, a sort or a slice reads only the records that it serves', async (t) => {
  await using database = await openTestDatabase('sqlite');
  await createCompany(database.engine, COMPANY, {}, STORY_NOW);
  const at = '2025-01-01T00:00:00.000Z';
  // 5 MB in each table, of which next to nothing is kept in memory.
  await database.engine.run('PRAGMA cache_size = 50');
  const body = `json_object('id', printf('%012d', n), 'formId', 'form_1', 'kind', 'invoice', 'status', 'sent', 'quoteGroupId', n,
    'customer', json_object('id', 'cus_1'), 'currency', 'EUR', 'totals', json_object('grossMinor', 1),
    'createdAt', '${at}', 'updatedAt', '${at}', 'issueDate', '2025-01-01',
    'validUntil', '2025-01-01', 'note', hex(zeroblob(5000)))`;
  for (const table of resources) {
    const [detail, empty] = hasDetail(table) ? [', detail', ", '{}'"] : ['', ''];
    await database.engine.run(`
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 500)
      INSERT INTO ${table} (company, digest, body${detail}) SELECT '${COMPANY}', '', ${body}${empty} FROM numbers`);
  }
  for (const { kind, sql, values, list } of await allStatements(database.engine)) {
    // A scan without ranges serves all that it reads.
    if (kind === 'scan') continue;
    const before = bytesRead();
    await database.engine.run(sql, values);
    const bytes = bytesRead() - before;
    t.ok(bytes < 1_000_000, `${bytes} bytes for ${kind} of ${list}`, { sql });
  }
});

function indexProblem(
  kind: ListStatement['kind'],
  sql: string,
  steps: readonly string[],
): string | undefined {
  const scans = steps.filter((step) => step.startsWith('SCAN') && !/^SCAN (wanted|counted)$/.test(step));
  if (scans.length > 0) return `it reads everything: ${scans.join()}`;
  // The texts of the records that were found are read by their ids.
  const followed = steps
    .filter((step) => step.startsWith('SEARCH'))
    .map(searchOf)
    .filter(({ terms }) => terms !== 'company=? AND id=?');
  if (followed.length === 0) return 'it searches without an index';
  const isSorted = steps.some((step) => step.includes('TEMP B-TREE'));
  if (isSorted && kind !== 'sort') return 'it sorts what should come in order';
  if (kind === 'sort' || kind === 'count') {
    const [, column] = /"(\w+)" [<>]= /.exec(sql) ?? [];
    const ofRange = new RegExp(`^company=\\? AND ${column}[<>]`);
    return followed.length === 1 && followed.every(({ terms }) => ofRange.test(terms))
      ? undefined
      : `it should read the index of ${column}`;
  }
  const isInOrder = followed.every(
    ({ index, terms }) =>
      / id>\?( AND id<\?)?$/.test(terms) && (kind !== 'slice' || index.endsWith('_walked')),
  );
  return isInOrder ? undefined : 'it should follow an index in id order';
}

/** `SEARCH jobs USING INDEX jobs_by_id (company=? AND id>?)` */
function searchOf(step: string): { index: string; terms: string } {
  const [, index = 'none', terms = ''] = / USING (?:COVERING )?INDEX (\w+) \((.*)\)/.exec(step) ?? [];
  return { index, terms };
}

const RARE = 100;
/** Companies with their rows; one row in a hundred is late, anywhere, or all late ones are at the end of the ids. */
const fillings: Record<'planned' | 'small' | 'late', Filling & { lateRows: number }> = {
  planned: { rows: 12_000, isLate: `n % ${RARE} = 0`, lateRows: 120 },
  small: { rows: 600, isLate: `n % ${RARE} = 0`, lateRows: 6 },
  late: { rows: 12_000, isLate: 'n > 11000', lateRows: 1_000 },
};
type Filled = keyof typeof fillings;
/** A company, and whether every row lies in the bounds of a range, or only the late ones. */
interface Case {
  company: Filled;
  isDense: boolean;
}
const companies = Object.keys(fillings) as Filled[];
/** Bounds that only the filling's late rows lie in, and bounds that every row lies in. */
const denseBounds: Record<string, string> = {
  '2026-11-12T00:00:00.000Z': '2024-01-01T00:00:00.000Z',
  '2026-11-01': '2024-01-01',
  '2026-11-20': '2024-01-01',
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
  for (const after of ['', '000000000300']) {
    // A later page has the same statements with another beginning: one company tells whether it is followed.
    const begun = after === '' ? cases : cases.filter(({ company }) => company === 'planned');
    for (const statement of await allStatements(engine, after)) {
      for (const one of begun) await checkRows(t, engine, statement, one);
    }
  }
});

async function checkRows(
  t: Test,
  engine: Engine,
  { kind, sql, values, list }: ListStatement & { list: string },
  { company, isDense }: Case,
): Promise<void> {
  const bound = values.map((value) =>
    value === COMPANY ? company : isDense ? (denseBounds[String(value)] ?? value) : value,
  );
  const { rows: passed, plan } = await rowsPassed(engine, sql, bound);
  const allowed = rowsAllowed(kind, sql, { company, isDense });
  const which = `${kind} of ${list} of ${company}${isDense ? ', dense' : ''}`;
  t.ok(passed <= allowed, `${which}: ${passed} rows, not ${allowed}`, { sql, plan });
}

/** The rows that each way of reading may look at (src/server/store/lists/lists.ts), for a page of 50 and one row more. */
function rowsAllowed(kind: ListStatement['kind'], sql: string, { company, isDense }: Case): number {
  const page = 51;
  const { rows, lateRows } = fillings[company];
  const streams = sql.split(' UNION ALL ').length;
  // A range without a beginning holds every row.
  const matches =
    isDense || !/"(updated_at|created_at|issue_date|valid_until)" >= \$/.test(sql) ? rows : lateRows;
  switch (kind) {
    case 'scan':
      return page + streams;
    case 'count':
      return matches;
    case 'sort':
      return matches + page;
    case 'slice':
    case 'slice end':
      return rows + page;
  }
}
