import fc from 'fast-check';
import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import type { Engine } from '../../src/store/engine.ts';
import { type InvoiceFilters, listInvoices } from '../../src/store/invoices.ts';
import { createListReader, type ReadList } from '../../src/store/lists.ts';
import type { Page, PageRequest } from '../../src/store/pages.ts';
import { listQuotes, type QuoteFilters } from '../../src/store/quotes.ts';
import { type EngineName, engineNames, openTestDatabase, STORY_NOW } from '../_server.ts';
import { fillBlocks } from './_filling.ts';

const COMPANY = 'blocks';
const STEPS = 120;
/** Rows that a step writes at most. */
const ROWS_MAX = 60;
const CHECKS = 12;
/** Lists of each check; PostgreSQL takes three times as long for each. */
const LISTS: Record<EngineName, number> = { sqlite: 12, postgres: 5 };
/** As if each range beside one of times had too many days. */
const byMonths = { few: -1, scattered: -1, blocks: 1, days: { alone: 0, besideTimes: 0, postgres: 0 } };

interface Row {
  id: string;
  kind: 'invoice' | 'credit_note';
  status: 'draft' | 'issued';
  customer: { id: string };
  issueDate: string | null;
  updatedAt: string;
}

/** The same numbers for the same seed, between 0 and 1. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    // Marsaglia's xorshift.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** A quote beside each document, valid until the day on which that is issued. */
function quoteBeside({ id, status, customer, issueDate, updatedAt }: Row) {
  const stored = status === 'issued' ? 'sent' : 'draft';
  return { id, quoteGroupId: id, status: stored, customer, validUntil: issueDate, updatedAt };
}

/** Writes rows in random order of their ids, changes them and takes them away, and keeps what there should be. */
class Ledger {
  readonly rows = new Map<string, Row>();
  readonly #engine: Engine;
  readonly #random: () => number;
  #stamp = STORY_NOW.getTime();

  constructor(engine: Engine, random: () => number) {
    this.#engine = engine;
    this.#random = random;
  }

  async step(): Promise<void> {
    const chance = this.#random();
    const count = 1 + Math.floor(this.#random() * ROWS_MAX);
    const known = [...this.rows.keys()];
    const some = Array.from({ length: count }, () => known[Math.floor(this.#random() * known.length)]);
    const ids = [...new Set(some)].filter((id) => id !== undefined);
    if (chance < 0.55) return this.#put(Array.from({ length: count }, () => this.#row(this.#id())));
    if (chance < 0.85) return this.#put(ids.map((id) => this.#row(id)));
    for (const id of ids) {
      for (const table of tables)
        await this.#engine.run(`DELETE FROM ${table} WHERE company = '${COMPANY}' AND id = '${id}'`);
      this.rows.delete(id);
    }
  }

  /** Half of the ids come in their order, the others between them. */
  #id(): string {
    const number = this.#random() < 0.5 ? this.#stamp : STORY_NOW.getTime() + this.#random() * 1e6;
    return `${Math.floor(number)}-${this.#random().toString(36).slice(2, 8)}`;
  }

  #row(id: string): Row {
    this.#stamp += 1 + Math.floor(this.#random() * 50);
    // Half of them on a day or two, which have blocks of their own.
    const share = this.#random() < 0.5 ? 0 : this.#random() ** 3;
    const issueDate = new Date(Date.UTC(2020, 0, 1 + Math.floor(share * 2_500 + this.#random() * 2)));
    return {
      id,
      kind: this.#random() < 0.9 ? 'invoice' : 'credit_note',
      status: this.#random() < 0.7 ? 'issued' : 'draft',
      customer: { id: this.#random() < 0.7 ? 'cus_1' : `cus/${Math.floor(this.#random() * 30)}` },
      issueDate: this.#random() < 0.1 ? null : issueDate.toISOString().slice(0, 10),
      updatedAt: new Date(this.#stamp).toISOString(),
    };
  }

  /** One statement for all of them: PostgreSQL tells its triggers of a row when all rows are there. */
  async #put(rows: readonly Row[]): Promise<void> {
    const ofId = new Map(rows.map((row) => [row.id, row]));
    const put = async (table: (typeof tables)[number], bodies: readonly object[]) => {
      await this.#engine.transaction(async (transaction) => {
        await transaction
          .insertInto(table)
          .values(bodies.map((body) => ({ company: COMPANY, body: JSON.stringify(body), detail: '{}' })))
          .onConflict((conflict) =>
            conflict.columns(['company', 'id']).doUpdateSet((row) => ({ body: row.ref('excluded.body') })),
          )
          .execute();
      });
    };
    await put('invoices', [...ofId.values()]);
    await put('quotes', [...ofId.values()].map(quoteBeside));
    for (const [id, row] of ofId) this.rows.set(id, row);
  }
}

const tables = ['invoices', 'quotes'] as const;
/** The streams of each table. Those of a day and a month, which only SQLite has, need no bounds of days. */
const streams = [
  { table: 'invoices', day: 'issue_date', name: "status || '/' || kind", hasDays: true },
  { table: 'invoices', day: 'issue_date', name: "status || '/' || kind || '/' || customer", hasDays: true },
  { table: 'invoices', day: 'issue_date', name: 'issue_date', hasDays: false },
  { table: 'invoices', day: 'issue_date', name: 'SUBSTR(issue_date, 1, 7)', hasDays: false },
  { table: 'quotes', day: 'valid_until', name: 'status', hasDays: true },
  { table: 'quotes', day: 'valid_until', name: "status || '/' || customer", hasDays: true },
  { table: 'quotes', day: 'valid_until', name: "valid_until || '/' || status", hasDays: false },
  { table: 'quotes', day: 'valid_until', name: "SUBSTR(valid_until, 1, 7) || '/' || status", hasDays: false },
];
const monthBit = (day: string) =>
  `CAST(1 AS BIGINT) << ((CAST(SUBSTR(${day}, 1, 4) AS INTEGER) * 12 + CAST(SUBSTR(${day}, 6, 2) AS INTEGER)) % 60)`;

/** Rows that lie outside of the bounds of their block, and blocks that don't begin with a row of their stream. */
async function faults(engine: Engine): Promise<unknown[]> {
  const found: unknown[] = [];
  const rowsOf = ({ table, day, name }: (typeof streams)[number]) =>
    `SELECT '${table}/' || ${name} AS of_stream, company, id, updated_at, ${day} AS day FROM ${table}`;
  for (const stream of streams) {
    found.push(
      ...(await engine.run(`
        SELECT ours.id, block.stream, block.first_id, block.time_max, block.day_min, block.day_max, block.months
        FROM (${rowsOf(stream)}) AS ours
        JOIN list_blocks AS block ON block.company = ours.company AND block.stream = of_stream AND block.first_id = (
          SELECT MAX(first_id) FROM list_blocks AS one
          WHERE one.company = ours.company AND one.stream = of_stream AND one.first_id <= ours.id)
        WHERE time_max < updated_at
          OR (${stream.hasDays} AND day IS NOT NULL AND (
            day_min IS NULL OR day_min > day OR day_max < day OR months & (${monthBit('day')}) = 0))`)),
    );
  }
  found.push(
    ...(await engine.run(`
      SELECT stream, first_id FROM list_blocks AS block
      WHERE NOT EXISTS (
        SELECT 1 FROM (${streams.map(rowsOf).join(' UNION ALL ')}) AS ours
        WHERE ours.company = block.company AND of_stream = block.stream AND ours.id = block.first_id)`)),
  );
  return found;
}

const days = fc.option(
  fc.constantFrom('2020-01-01', '2020-01-02', '2020-02-10', '2021-06-15', '2023-01-01', '2026-06-30'),
  {
    nil: undefined,
  },
);
const filtersOf: fc.Arbitrary<InvoiceFilters & { sinceShare: number | undefined }> = fc.record({
  kind: fc.option(fc.constantFrom('invoice' as const, 'credit_note' as const), { nil: undefined }),
  status: fc.constantFrom('issued' as const, 'draft' as const, 'all' as const),
  customer: fc.option(fc.constantFrom('cus_1', 'cus/3', 'nobody'), { nil: undefined }),
  issuedFrom: days,
  issuedTo: days,
  sinceShare: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
});

function expected(rows: Iterable<Row>, filters: InvoiceFilters): string[] {
  return [...rows]
    .filter((row) => isWanted(row, filters) && isIssuedWithin(row.issueDate, filters))
    .map(({ id }) => id)
    .sort();
}

function isWanted(row: Row, { kind, status, customer, updatedSince }: InvoiceFilters): boolean {
  return (
    (kind ?? row.kind) === row.kind &&
    (status === 'all' || status === row.status) &&
    (customer ?? row.customer.id) === row.customer.id &&
    row.updatedAt >= (updatedSince ?? '')
  );
}

/** A list of quotes as it reads on a day. */
type QuotesToday = QuoteFilters & { today: string };
const quoteFiltersOf: fc.Arbitrary<QuotesToday & { sinceShare: number | undefined }> = fc.record({
  status: fc.constantFrom('sent' as const, 'expired' as const),
  customer: fc.option(fc.constantFrom('cus_1', 'cus/3', 'nobody'), { nil: undefined }),
  versions: fc.constantFrom('latest' as const, 'all' as const),
  today: fc.constantFrom('2020-01-01', '2020-01-02', '2020-02-10', '2021-06-15', '2023-01-01'),
  sinceShare: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
});

function expectedQuotes(
  rows: Iterable<Row>,
  { status, customer, updatedSince, today }: QuotesToday,
): string[] {
  const statusOf = (row: Row) => {
    if (row.status === 'draft') return 'draft';
    return row.issueDate !== null && row.issueDate < today ? 'expired' : 'sent';
  };
  return [...rows]
    .filter((row) => status === statusOf(row) && (customer ?? row.customer.id) === row.customer.id)
    .filter(({ updatedAt }) => updatedAt >= (updatedSince ?? ''))
    .map(({ id }) => id)
    .sort();
}

function isIssuedWithin(issueDate: string | null, { issuedFrom, issuedTo }: InvoiceFilters): boolean {
  if (issuedFrom === undefined && issuedTo === undefined) return true;
  return issueDate !== null && issueDate >= (issuedFrom ?? '') && issueDate <= (issuedTo ?? '9999');
}

type List = (read: ReadList, page: PageRequest) => Promise<Page<unknown>>;

const invoicesOf =
  (filters: InvoiceFilters): List =>
  (read, page) =>
    listInvoices(read, COMPANY, filters, page);

const quotesOf =
  ({ today, ...filters }: QuotesToday): List =>
  (read, page) =>
    listQuotes(read, COMPANY, today, filters, page);

for (const name of engineNames) {
  t.test(
    `${name}: whatever was written, bounds are never too tight and every page of a list is right`,
    async (t) => {
      await using database = await openTestDatabase(name);
      const { engine } = database;
      await createCompany(engine, COMPANY, {}, STORY_NOW);
      const ledger = new Ledger(engine, randomOf(20_261_120));
      const readers = {
        // So small that nothing is sorted, and a list has to look on and on.
        'blocks alone': createListReader(engine, { few: -1, scattered: -1, walked: 0, blocks: 2 }),
        'day by day': createListReader(engine, { few: -1, scattered: -1, blocks: 1 }),
        'some days': createListReader(engine, { few: -1, scattered: -1, walked: 9, blocks: 1 }),
        ...(name === 'sqlite' ? { 'month by month': createListReader(engine, byMonths) } : {}),
        'now this, now that': createListReader(engine, { few: 20, scattered: 80, blocks: 2 }),
        usual: createListReader(engine),
      };
      const check = async (list: List, limit: number, wanted: readonly string[], filters: object) => {
        for (const [name, read] of Object.entries(readers))
          t.strictSame(await idsOf(list, read, limit), wanted, `${JSON.stringify(filters)}, ${name}`);
      };
      const checkInvoices = (filters: InvoiceFilters, limit: number) =>
        check(invoicesOf(filters), limit, expected(ledger.rows.values(), filters), filters);
      const checkQuotes = (filters: QuotesToday, limit: number) =>
        check(quotesOf(filters), limit, expectedQuotes(ledger.rows.values(), filters), filters);
      for (let step = 1; step <= STEPS; step += 1) {
        await ledger.step();
        if (step % (STEPS / CHECKS) !== 0) continue;
        t.strictSame(await faults(engine), [], `after ${step} steps with ${ledger.rows.size} rows`);
        const stamps = [...ledger.rows.values()].map(({ updatedAt }) => updatedAt).sort();
        const limit = 1 + (step % 47);
        const since = (share: number | undefined) =>
          share === undefined ? undefined : stamps[Math.floor(share * stamps.length)];
        for (const { sinceShare, ...filters } of fc.sample(filtersOf, { numRuns: LISTS[name], seed: step }))
          await checkInvoices({ ...filters, updatedSince: since(sinceShare) }, limit);
        for (const { sinceShare, ...filters } of fc.sample(quoteFiltersOf, {
          numRuns: LISTS[name],
          seed: step,
        }))
          await checkQuotes({ ...filters, updatedSince: since(sinceShare) }, limit);
      }
      const [counted] = await engine.run('SELECT COUNT(*) AS blocks FROM list_blocks');
      t.ok(Number(counted?.blocks) > ledger.rows.size / 64, `there are ${String(counted?.blocks)} blocks`);
      await fillBlocks(engine);
      t.strictSame(await faults(engine), [], 'filled by the migration');
      const [refilled] = await engine.run('SELECT COUNT(*) AS blocks FROM list_blocks');
      t.ok(Number(refilled?.blocks) > ledger.rows.size / 64, `there are ${String(refilled?.blocks)} blocks`);
      await checkInvoices({ status: 'all', updatedSince: STORY_NOW.toISOString() }, 40);
    },
  );
}

t.test('a walk looks at nothing that the blocks of its days and months deny', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await createCompany(engine, COMPANY, {}, STORY_NOW);
  const ledger = new Ledger(engine, randomOf(20_261_120));
  for (let step = 0; step < STEPS; step += 1) await ledger.step();
  await engine.run(
    "UPDATE list_blocks SET time_max = '' WHERE stream GLOB 'invoices/[0-9]*' OR stream GLOB 'quotes/[0-9]*'",
  );
  const updatedSince = STORY_NOW.toISOString();
  // A month before the first rows, so that theirs is a whole one.
  const day = '2019-12-15';
  const invoices = { status: 'all', issuedFrom: day, updatedSince } as const;
  const quotes = { status: 'sent', versions: 'latest', updatedSince, today: day } as const;
  const lists: [string, List, wanted: string[]][] = [
    ['invoices', invoicesOf(invoices), expected(ledger.rows.values(), invoices)],
    ['quotes', quotesOf(quotes), expectedQuotes(ledger.rows.values(), quotes)],
  ];
  for (const [spans, besideTimes] of Object.entries({ days: 4_000, months: 0 })) {
    const days = { alone: 0, besideTimes, postgres: 0 };
    // A page begins where the last one ended, in a block that may be denied: it is all one page.
    const read = createListReader(engine, { few: -1, scattered: -1, blocks: 0, walked: 10_000, days });
    for (const [table, list, wanted] of lists) {
      const found = await idsOf(list, read, 5_000);
      const counts = `${found.length} of ${wanted.length}`;
      t.ok(found.length > 0 && found.length < wanted.length, `${table} by ${spans}: ${counts} found`);
    }
  }
});

t.test('drafts that are issued on a day begin blocks of that day', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await createCompany(engine, COMPANY, {}, STORY_NOW);
  const issueDate = '2026-11-20';
  const drafts = `
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
    INSERT INTO invoices (company, body, detail)
    SELECT '${COMPANY}', json_object('id', 'inv_' || (10000 + n), 'number', n, 'kind', 'invoice', 'status', 'draft',
      'customer', json_object('id', 'cus_1'), 'issueDate', NULL, 'updatedAt', '${STORY_NOW.toISOString()}'), '{}'
    FROM numbers`;
  await engine.run(drafts);
  const blocks = async () =>
    (await engine.run('SELECT first_id FROM list_blocks WHERE stream = ?', [`invoices/${issueDate}`])).length;
  t.equal(await blocks(), 0);
  await engine.run(
    `UPDATE invoices SET body = json_set(body, '$.issueDate', '${issueDate}', '$.status', 'issued')`,
  );
  // Some 47, as chance has it.
  t.ok((await blocks()) > 15, `there are ${await blocks()} blocks`);
  await engine.run(`UPDATE invoices SET body = json_set(body, '$.issueDate', NULL, '$.status', 'draft')`);
  t.equal(await blocks(), 0, 'and take them with them');
});

/** The ids of a list, page by page. */
async function idsOf(list: List, read: ReadList, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let page: PageRequest | undefined = { after: '', limit }; page;) {
    const { records, lastId } = await list(read, page);
    ids.push(...records.map((text) => (JSON.parse(text) as Row).id));
    page = lastId === null ? undefined : { after: lastId, limit };
  }
  return ids;
}
