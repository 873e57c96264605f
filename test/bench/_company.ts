import { exampleBodies } from '../../src/contract/examples.ts';
import { exampleCompany } from '../../src/demo/example-company.ts';
import type { ResourceRecord } from '../../src/contract/records.ts';
import { renderRecord } from '../../src/contract/render.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { createCompany } from '../../src/server/backoffice/companies.ts';
import { createKey } from '../../src/server/features/keys/keys.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';

export const COMPANY = 'bench';
/** The customer of every second document. */
export const BIG_CUSTOMER = 'cus_big';
const SMALL_COMPANIES = 1_000;
/** Rows of one INSERT, which the database makes by itself. */
const ROWS_MAX = 10_000;

const FIRST_ID = 100_000_000_000;
/** The id of a job, an invoice or a quote: they have one width, so their order is that of the numbers. */
export const idAt = (number: number) => `00000000-0000-7000-8000-${FIRST_ID + number}`;

/** Days of issue, each with matches of one pattern: where they are few a range is sorted, and otherwise scanned. */
export const days = {
  /** 1 in 1,999: at a million rows a few hundred, as far apart as they can be. */
  few: '2024-05-01',
  /** 1 in 33, as far apart as they can be. */
  spread: '2024-01-01',
  /** 6 in 100, all at the end of the ids: at a million rows more than are sorted. */
  end: '2024-03-01',
  usual: '2024-07-01',
};

/** Times of change, the same way; those since a time are also those since all later ones. */
export const changes = {
  none: '2025-04-01',
  /** 1 in 1,999: as many as change in a day. */
  lastDay: '2025-03-01',
  /** The records of `lastDay`, and 6 in 100 at the beginning of the ids, of which none was issued on `days.end`. */
  beginning: '2025-02-01',
  /** The records of `beginning`, and 6 in 100, all at the end. */
  end: '2025-01-01',
  all: '2023-01-01',
};

const DAY_MS = 86_400_000;
/** Half of the quotes are valid for some days of a year more, the others have expired within the year before the last. */
const TODAY = new Date().toISOString().slice(0, 10);
const LONG_AGO = new Date(Date.now() - 731 * DAY_MS).toISOString().slice(0, 10);

/** How many records of each kind a company gets. */
export interface Filling {
  jobs: number;
  invoices: number;
  quotes: number;
}

/** The examples of the contract that the records are copies of. */
const examples = {
  jobs: ['getJob', 'job_0001'],
  invoices: ['getInvoice', '01a0a486-e8e0-7076-ace5-e31611d48e0a'],
  quotes: ['getQuote', '01a1c4fd-5860-7d0a-bab0-f228f4060be3'],
} as const;

/**
 * Fills a company with copies of the contract's examples, each with an id, days and times of its own, and a customer.
 * Beside it there are a thousand small companies.
 * @returns a key that reads everything.
 */
export async function fillCompany(engine: Engine, filling: Filling): Promise<string> {
  const now = new Date();
  await createCompany(engine, COMPANY, { profile: exampleCompany.profile }, now);
  const small = Array.from({ length: SMALL_COMPANIES }, (_, index) => `small-${index}`);
  for (const id of small) await createCompany(engine, id, {}, now);
  for (const resource of ['jobs', 'invoices', 'quotes'] as const) {
    const columns = columnsOf(engine, resource, filling[resource]);
    await insert(engine, resource, columns, `SELECT '${COMPANY}' AS company`, filling[resource]);
    const others = "SELECT id AS company FROM companies WHERE id LIKE 'small-%'";
    await insert(engine, resource, columns, others, 10);
  }
  await engine.run(engine.dialect.name === 'postgres' ? 'VACUUM ANALYZE' : 'ANALYZE');
  return (await createKey(engine, { prefix: 'fl', company: COMPANY, name: 'Bench', scopes, now })).key;
}

type Columns = Record<string, string>;

/** SQL for the columns of the nth record. */
function columnsOf(engine: Engine, resource: keyof Filling, rows: number): Columns {
  const [operationId, id] = examples[resource];
  const example = (exampleBodies(operationId) as { data: { id: string } }[]).find(
    ({ data }) => data.id === id,
  );
  const { body, detail } = renderRecord({ resource, record: example?.data } as ResourceRecord);
  const record = JSON.parse(body) as { customer?: object };
  const values: Record<string, string> = {
    id: `'00000000-0000-7000-8000-' || (${FIRST_ID} + n)`,
    // All times differ, by a precision that is made up; they are ordered like others.
    updatedAt: `${changeOf(rows)} || 'T00:00:00.' || (10000000 + n) || 'Z'`,
    number: `'N-' || n`,
    issueDate: dayOf(rows),
    quoteGroupId: "'group-' || n",
    validUntil: validUntil(engine),
    customerId: `CASE WHEN n % 2 = 0 THEN '${BIG_CUSTOMER}' ELSE 'cus_' || (n % 5003) END`,
  };
  const own = Object.keys(values).filter((name) => name in record);
  const marked = {
    ...record,
    ...Object.fromEntries(own.map((name) => [name, `@${name}@`])),
    ...(record.customer && { customer: { ...record.customer, id: '@customerId@' } }),
  };
  const text = quoted(JSON.stringify(marked)).replaceAll(
    /@(\w+)@/g,
    (_, name: string) => `' || ${values[name]} || '`,
  );
  // Only PostgreSQL has a type for such text.
  const json = (value: string) => (engine.dialect.name === 'postgres' ? `CAST(${value} AS JSON)` : value);
  return {
    body: json(text),
    ...(detail === undefined ? {} : { detail: json(quoted(detail)) }),
    // As long as a true one, and as good: nobody computes it when a record is read.
    digest: "'a-digest-of-' || (100000000000000 + n)",
  };
}

async function insert(
  engine: Engine,
  table: keyof Filling,
  columns: Columns,
  companies: string,
  rows: number,
): Promise<void> {
  for (let start = 0; start < rows; start += ROWS_MAX) {
    const last = Math.min(start + ROWS_MAX, rows) - 1;
    await engine.run(`
      WITH RECURSIVE numbers (n) AS (SELECT ${start} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
      INSERT INTO ${table} (company, ${Object.keys(columns).join(', ')})
      SELECT company, ${Object.values(columns).join(', ')}
      FROM (${companies}) AS owners CROSS JOIN numbers ORDER BY company, n`);
  }
}

function dayOf(rows: number): string {
  return `CASE
    WHEN n % 1999 = 3 THEN '${days.few}'
    WHEN n * 100.0 >= ${rows} * 94.0 THEN '${days.end}'
    WHEN n % 33 = 1 THEN '${days.spread}'
    ELSE '${days.usual}' END`;
}

function changeOf(rows: number): string {
  return `CASE
    WHEN n % 1999 = 3 THEN '${changes.lastDay}'
    WHEN n * 100.0 < ${rows} * 6.0 THEN '${changes.beginning}'
    WHEN n * 100.0 >= ${rows} * 94.0 THEN '${changes.end}'
    ELSE '${changes.all}' END`;
}

function validUntil({ dialect }: Engine): string {
  const after = (day: string) =>
    dialect.name === 'postgres'
      ? `CAST(DATE '${day}' + n * 79 % 365 AS TEXT)`
      : `DATE('${day}', (n * 79 % 365) || ' days')`;
  return `CASE WHEN n % 2 = 0 THEN ${after(TODAY)} ELSE ${after(LONG_AGO)} END`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
