import { createCompany } from '../../src/server/access/companies.ts';
import { createKey } from '../../src/server/access/keys.ts';
import { exampleBodies } from '../../src/contract/examples.ts';
import type { ResourceRecord } from '../../src/contract/records.ts';
import { renderRecord } from '../../src/contract/render.ts';
import { scopes } from '../../src/contract/scopes.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';

export const KEY_PREFIX = 'fl';
export const COMPANY = 'bench';

/** Rows of one INSERT, which the database makes by itself, within the time that a statement may take on PostgreSQL. */
const ROWS_MAX = 10_000;
/** Customers among whom the invoices are spread. */
const CUSTOMERS = 20;

const id = { job: 'job_0001', invoice: '01a0a486-e8e0-7076-ace5-e31611d48e0a', customer: 'cus_0002' };

/** As long as a true one, and as good: nobody computes it when a record is read. */
const DIGEST = "'a-digest-of-' || (100000000000000 + n)";

/** The ids of the job and the invoice of that number, and of the customer of every twentieth invoice. */
export const jobId = (number: number) => `job_${10_000_000 + number}`;
export const invoiceId = (number: number) => `00000000-0000-7000-8000-${100_000_000_000 + number}`;
export const customerId = (number: number) => `cus_${1_000 + (number % CUSTOMERS)}`;

const twoDigits = (value: string) => `SUBSTR(CAST(100 + ${value} AS TEXT), 2)`;
/** SQL for a time: a second for each number n, from the tenth of a month on. */
export const STAMP = `'2026-09-' || (10 + n / 86400) || 'T' || ${twoDigits('n / 3600 % 24')} || ':' || ${twoDigits('n / 60 % 60')} || ':' || ${twoDigits('n % 60')} || '.000Z'`;

/**
 * Makes a company of jobs and invoices: the contract's own examples again and again, each with an id and a time of its
 * own, and the invoices of twenty customers.
 * @returns a key that reads everything.
 */
export async function fillCompany(
  engine: Engine,
  { jobs, invoices }: { jobs: number; invoices: number },
): Promise<string> {
  const now = new Date('2026-11-20T12:00:00.000Z');
  await createCompany(engine, COMPANY, {}, now);
  const job = renderRecord({ resource: 'jobs', record: exampleOf('getJob', id.job) } as ResourceRecord);
  const invoice = renderRecord({
    resource: 'invoices',
    record: exampleOf('getInvoice', id.invoice),
  } as ResourceRecord);
  const replacements: [string, string][] = [
    [`"id":"${id.job}"`, `'"id":"job_' || (10000000 + n) || '"'`],
    // The stamps grow with the ids, so what changed last lies at the far end of them.
    ['"updatedAt":"2026-09-15T09:55:02.417Z"', `'"updatedAt":"' || ${STAMP} || '"'`],
    ['"number":"INV-2026-0001"', `'"number":"INV-2026-' || (100000 + n) || '"'`],
    [id.invoice, `'00000000-0000-7000-8000-' || (100000000000 + n)`],
    [`"customer":{"id":"${id.customer}"`, `'"customer":{"id":"cus_' || (1000 + n % ${CUSTOMERS}) || '"'`],
  ];
  const textOf = (template: string) =>
    replacements.reduce((text, [from, to]) => `REPLACE(${text}, ${quoted(from)}, ${to})`, quoted(template));
  await insert(engine, 'jobs', { body: textOf(job.body), digest: DIGEST }, jobs);
  const parts = { body: textOf(invoice.body), detail: textOf(invoice.detail ?? '{}'), digest: DIGEST };
  await insert(engine, 'invoices', parts, invoices);
  await engine.run('ANALYZE');
  const { key } = await createKey(engine, {
    prefix: KEY_PREFIX,
    company: COMPANY,
    name: 'Bench',
    scopes,
    now,
  });
  return key;
}

async function insert(
  engine: Engine,
  table: 'jobs' | 'invoices',
  columns: Record<string, string>,
  count: number,
): Promise<void> {
  const names = Object.keys(columns);
  const values = Object.values(columns).map((text) =>
    // Only PostgreSQL has a type for such text.
    engine.dialect.name === 'postgres' && text !== DIGEST ? `CAST(${text} AS JSON)` : text,
  );
  for (let start = 0; start < count; start += ROWS_MAX) {
    const last = Math.min(start + ROWS_MAX, count);
    await engine.run(`
      WITH RECURSIVE numbers (n) AS (SELECT ${start + 1} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
      INSERT INTO ${table} (company, ${names.join(', ')})
      SELECT '${COMPANY}', ${values.join(', ')} FROM numbers`);
  }
}

function exampleOf(operationId: string, recordId: string): object {
  const bodies = exampleBodies(operationId) as { data: { id: string } }[];
  const found = bodies.find(({ data }) => data.id === recordId);
  if (!found) throw new Error(`The contract has no example ${recordId} of ${operationId}.`);
  return found.data;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
