import { createCompany } from '../../src/server/access/companies.ts';
import { createKey } from '../../src/server/access/keys.ts';
import { scopes } from '../../src/contract/scopes.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';

export const COMPANY = 'large';
/** The customer of every second document. */
export const BIG_CUSTOMER = 'cus_big';
const SMALL_COMPANIES = 1_000;
const SMALL_ROWS = 10;
/** Rows of one INSERT, which PostgreSQL may take 15 seconds for. */
const ROWS_MAX = 20_000;

/** The prefix of all ids: they have one width, so their order is that of the numbers. */
const ID_PREFIX = '00000000-0000-7000-8000-';
const FIRST_ID = 100_000_000_000;

export const idAt = (number: number) => `${ID_PREFIX}${FIRST_ID + number}`;

/** Days of issue, each with matches of one pattern: where they are few a range is sorted, and otherwise walked. */
export const days = {
  /** 1 in 1,999: at a million rows a few hundred, as far apart as they can be. */
  few: '2024-05-01',
  /** 1 in 33, as far apart as they can be. */
  spread: '2024-01-01',
  /** 6 in 100, all at the end of the ids: at a million rows more than are sorted. */
  end: '2024-03-01',
  none: '2024-06-01',
  /** All the rest. */
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

/**
 * Fills a company with so many jobs and as many invoices and quotes, as the database itself makes them up: a list reads no
 * more of a record than its id, its columns and its text. Beside it there are a thousand small companies.
 * @returns a key of the large one.
 */
export async function fillListedCompany(engine: Engine, rows: number): Promise<string> {
  const now = new Date('2026-11-20T12:00:00.000Z');
  await createCompany(engine, COMPANY, {}, now);
  await insert(engine, `SELECT '${COMPANY}' AS company`, rows);
  const names = Array.from({ length: SMALL_COMPANIES }, (_value, index) => `small-${index}`);
  for (const name of names) await createCompany(engine, name, {}, now);
  await insert(engine, "SELECT id AS company FROM companies WHERE id LIKE 'small-%'", SMALL_ROWS);
  await engine.run(engine.dialect.name === 'postgres' ? 'VACUUM ANALYZE' : 'ANALYZE');
  return (await createKey(engine, { prefix: 'fl', company: COMPANY, name: 'Bench', scopes, now })).key;
}

async function insert(engine: Engine, companies: string, rows: number): Promise<void> {
  // Only PostgreSQL has a type for such text.
  const json = (text: string) => (engine.dialect.name === 'postgres' ? `CAST(${text} AS JSON)` : text);
  const tables = {
    'jobs (company, body)': json(jobText(rows)),
    'invoices (company, body, detail)': `${json(invoiceText(rows))}, ${json("'{}'")}`,
    'quotes (company, body, detail)': `${json(quoteText(engine, rows))}, ${json("'{}'")}`,
  };
  for (let start = 0; start < rows; start += ROWS_MAX) {
    const last = Math.min(start + ROWS_MAX, rows) - 1;
    for (const [table, values] of Object.entries(tables)) {
      await engine.run(
        `WITH RECURSIVE numbers (n) AS (SELECT ${start} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
         INSERT INTO ${table} SELECT company, ${values} FROM (${companies}) AS owners CROSS JOIN numbers ORDER BY company, n`,
      );
    }
  }
}

/** As long as the usual record. */
const FILLER = 'A boiler that does not start, in the cellar behind the second door. '.repeat(11);

function jobText(rows: number): string {
  return `'{"id":"${ID_PREFIX}' || (${FIRST_ID} + n) || '","updatedAt":"' || ${changeOf(rows)} || '","title":"${FILLER}"}'`;
}

function invoiceText(rows: number): string {
  const customer = `CASE WHEN n % 2 = 0 THEN '${BIG_CUSTOMER}' ELSE 'cus_' || (n % 5003) END`;
  return `'{"id":"${ID_PREFIX}' || (${FIRST_ID} + n) || '","number":' || n || ',"kind":"' ||
    CASE WHEN n % 20 = 3 THEN 'credit_note' WHEN n % 20 = 7 THEN 'pro_forma' ELSE 'invoice' END ||
    '","status":"' || CASE WHEN n % 11 = 5 THEN 'draft' ELSE 'issued' END ||
    '","customer":{"id":"' || ${customer} || '"},"issueDate":"' || ${dayOf(rows)} ||
    '","updatedAt":"' || ${changeOf(rows)} || '","note":"${FILLER}"}'`;
}

/** Sent quotes, in turn one that is valid and one that has expired. */
function quoteText({ dialect: { name } }: Engine, rows: number): string {
  const dayAfter = (first: string) => {
    const days = '(n * 79 % 365)';
    return name === 'postgres'
      ? `CAST(DATE '${first}' + ${days} AS TEXT)`
      : `DATE('${first}', ${days} || ' days')`;
  };
  return `'{"id":"${ID_PREFIX}' || (${FIRST_ID} + n) || '","number":' || n ||
    ',"status":"sent","quoteGroupId":"' || n || '","customer":{"id":"cus_' || (n % 5003) || '"},"validUntil":"' ||
    CASE WHEN n % 2 = 0 THEN ${dayAfter(TODAY)} ELSE ${dayAfter(LONG_AGO)} END ||
    '","updatedAt":"' || ${changeOf(rows)} || '","note":"${FILLER}"}'`;
}

function dayOf(rows: number): string {
  return `CASE
    WHEN n % 1999 = 3 THEN '${days.few}'
    WHEN n * 100.0 >= ${rows} * 94.0 THEN '${days.end}'
    WHEN n % 33 = 1 THEN '${days.spread}'
    ELSE '${days.usual}' END`;
}

/** Times of a made-up precision, so that all differ; they order as any. */
function changeOf(rows: number): string {
  return `CASE
    WHEN n % 1999 = 3 THEN '${changes.lastDay}'
    WHEN n * 100.0 < ${rows} * 6.0 THEN '${changes.beginning}'
    WHEN n * 100.0 >= ${rows} * 94.0 THEN '${changes.end}'
    ELSE '${changes.all}' END || 'T00:00:00.' || (10000000 + n) || 'Z'`;
}
