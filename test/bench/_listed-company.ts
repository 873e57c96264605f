import { createCompany } from '../../src/access/companies.ts';
import { createKey } from '../../src/access/keys.ts';
import { scopes } from '../../src/contract/scopes.ts';
import type { Engine } from '../../src/store/engine.ts';

export const COMPANY = 'large';
const KEY_PREFIX = 'fl';
/** The customer of every second document. */
export const BIG_CUSTOMER = 'cus_big';
const SMALL_COMPANIES = 1_000;
const SMALL_ROWS = 10;
/** Rows of one INSERT, which PostgreSQL may take 15 seconds for. */
const ROWS_MAX = 20_000;

/** What the ids are made of: they have one width, so their order is that of the numbers. */
const ID_PREFIX = '00000000-0000-7000-8000-';
const FIRST_ID = 100_000_000_000;

export const idAt = (number: number) => `${ID_PREFIX}${FIRST_ID + number}`;

/**
 * The days on which documents were issued: each is the only one of its pattern, so that a range of one day has the
 * matches of that pattern and no others. Where two patterns meet, the first has the row.
 */
export const days = {
  /** 1 in 33, as far apart as they can be: neither few enough to be sorted, nor many enough to be near. */
  spread: '2024-01-01',
  /** 1 in 65, and none of the big customer's. */
  others: '2024-02-01',
  /** 3 in 100, all at the end of the ids, or all at their beginning. */
  end: '2024-03-01',
  beginning: '2024-04-01',
  /** 1 in 35, a day of the month of `end`: no block can tell by its months that it has none of the end's. */
  endMonth: '2024-03-15',
  /** 6 in 100, shortly before the end, in the same month: at a million rows more than are sorted. */
  many: '2024-03-20',
  /** 1 in 1,999: at a million rows a few hundred. */
  few: '2024-05-01',
  /** Nobody's. */
  none: '2024-06-01',
  /** All the rest. */
  usual: '2024-07-01',
};

/** Times of change: the first rows are the oldest, but for those that were changed late. */
export const changes = {
  /** The last 3 in 100 by their ids. */
  end: '2025-02-01',
  /** Those, and 1 in 35 of the invoices, of which none was issued in the month of `days.end` but at the end. */
  apart: '2025-01-15',
  /** Those, and all that were issued on `days.many`: at a million rows more than are sorted. */
  many: '2025-01-10',
  /** Those of the end and of many, and 1 in 33 of all. */
  spread: '2025-01-01',
  /** 1 in 1,999. */
  few: '2025-03-01',
  none: '2025-04-01',
  /** Everything. */
  all: '2023-01-01',
};

/** The day of a list of quotes: half of them were valid for some days of a year more, the others have expired by then. */
export const TODAY = '2026-11-20';

/**
 * Fills a company with so many jobs and as many invoices and quotes, as the database itself makes them up: a list reads no more of
 * a record than its id, its columns and its text. Beside it there are a thousand small companies.
 * @returns a key of the large one.
 */
export async function fillListedCompany(engine: Engine, rows: number): Promise<string> {
  const now = new Date('2026-11-20T12:00:00.000Z');
  await createCompany(engine, COMPANY, {}, now);
  await insert(engine, `SELECT '${COMPANY}' AS company`, rows);
  const names = Array.from({ length: SMALL_COMPANIES }, (_value, index) => `small-${index}`);
  for (const name of names) await createCompany(engine, name, {}, now);
  await insert(engine, "SELECT id AS company FROM companies WHERE id LIKE 'small-%'", SMALL_ROWS);
  await engine.run(engine.name === 'postgres' ? 'VACUUM ANALYZE' : 'ANALYZE');
  const { key } = await createKey(engine, {
    prefix: KEY_PREFIX,
    company: COMPANY,
    name: 'Bench',
    scopes,
    now,
  });
  return key;
}

async function insert(engine: Engine, companies: string, rows: number): Promise<void> {
  // Only PostgreSQL has a type for such text.
  const json = (text: string) => (engine.name === 'postgres' ? `CAST(${text} AS JSON)` : text);
  for (let start = 0; start < rows; start += ROWS_MAX) {
    const last = Math.min(start + ROWS_MAX, rows) - 1;
    const source = `FROM (${companies}) AS owners CROSS JOIN numbers ORDER BY company, n`;
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT ${start} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})`;
    await engine.run(
      `${numbers} INSERT INTO jobs (company, body) SELECT company, ${json(jobText(rows))} ${source}`,
    );
    await engine.run(
      `${numbers} INSERT INTO invoices (company, body, detail)
       SELECT company, ${json(invoiceText(rows))}, ${json("'{}'")} ${source}`,
    );
    await engine.run(
      `${numbers} INSERT INTO quotes (company, body, detail)
       SELECT company, ${json(quoteText(engine, rows))}, ${json("'{}'")} ${source}`,
    );
  }
}

/** As long as the usual record. */
const FILLER = 'A boiler that does not start, in the cellar behind the second door. '.repeat(11);

function jobText(rows: number): string {
  return `'{"id":"${ID_PREFIX}' || (${FIRST_ID} + n) || '","updatedAt":"' || ${changeOf(rows)} || '","title":"${FILLER}"}'`;
}

function invoiceText(rows: number): string {
  // The others' day is of those that are not the big customer's.
  const changed = `CASE WHEN n % 35 = 9 AND n * 100.0 < ${rows} * 97.0 THEN '${changes.apart}T00:00:00.' || (10000000 + n) || 'Z' ELSE ${changeOf(rows)} END`;
  const customer = `CASE WHEN n % 2 = 0 AND n % 65 <> 2 THEN '${BIG_CUSTOMER}' ELSE 'cus_' || (n % 5003) END`;
  return `'{"id":"${ID_PREFIX}' || (${FIRST_ID} + n) || '","number":' || n || ',"kind":"' ||
    CASE WHEN n % 20 = 3 THEN 'credit_note' WHEN n % 20 = 7 THEN 'pro_forma' ELSE 'invoice' END ||
    '","status":"' || CASE WHEN n % 11 = 5 THEN 'draft' ELSE 'issued' END ||
    '","customer":{"id":"' || ${customer} || '"},"issueDate":"' || ${dayOf(rows)} ||
    '","updatedAt":"' || ${changed} || '","note":"${FILLER}"}'`;
}

/** Sent quotes: in turn one that is valid and one that was changed; at the end 45 in 1,000 that are both. */
function quoteText({ name }: Engine, rows: number): string {
  const isAtEnd = `n * 1000.0 >= ${rows} * 955.0`;
  const dayAfter = (first: string) => {
    const days = '(n * 79 % 365)';
    return name === 'postgres'
      ? `CAST(DATE '${first}' + ${days} AS TEXT)`
      : `DATE('${first}', ${days} || ' days')`;
  };
  return `'{"id":"${ID_PREFIX}' || (${FIRST_ID} + n) || '","number":' || n ||
    ',"status":"sent","quoteGroupId":"' || n || '","customer":{"id":"cus_' || (n % 5003) || '"},"validUntil":"' ||
    CASE WHEN n % 2 = 0 OR ${isAtEnd} THEN ${dayAfter(TODAY)} ELSE ${dayAfter('2024-11-20')} END ||
    '","updatedAt":"' || CASE WHEN n % 2 = 1 OR ${isAtEnd} THEN '${changes.end}' ELSE '${changes.all}' END ||
    'T00:00:00.' || (10000000 + n) || 'Z","note":"${FILLER}"}'`;
}

function dayOf(rows: number): string {
  return `CASE
    WHEN n % 33 = 1 THEN '${days.spread}'
    WHEN n % 65 = 2 THEN '${days.others}'
    WHEN n % 1999 = 3 THEN '${days.few}'
    WHEN n * 100.0 >= ${rows} * 97.0 THEN '${days.end}'
    WHEN n * 100.0 < ${rows} * 3.0 THEN '${days.beginning}'
    WHEN n * 100.0 >= ${rows} * 90.0 THEN '${days.many}'
    WHEN n % 35 = 4 THEN '${days.endMonth}'
    ELSE '${days.usual}' END`;
}

/** Times of a made-up precision, so that all differ; they order as any. */
function changeOf(rows: number): string {
  return `CASE
    WHEN n % 1999 = 3 THEN '${changes.few}'
    WHEN n * 100.0 >= ${rows} * 97.0 THEN '${changes.end}'
    WHEN n % 33 = 1 THEN '${changes.spread}'
    WHEN n * 100.0 >= ${rows} * 90.0 AND n % 65 <> 2 THEN '${changes.many}'
    ELSE '${changes.all}' END || 'T00:00:00.' || (10000000 + n) || 'Z'`;
}
