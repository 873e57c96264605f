import fc from 'fast-check';
import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import type { Engine } from '../../src/store/engine.ts';
import { type InvoiceFilters, listInvoices } from '../../src/store/invoices.ts';
import { createListReader, type ReadList } from '../../src/store/lists.ts';
import type { PageRequest } from '../../src/store/pages.ts';
import { engineNames, openTestDatabase, STORY_NOW } from '../_server.ts';
import { fillBlocks } from './_filling.ts';

const COMPANY = 'blocks';
const STEPS = 120;
/** Rows that a step writes at most. */
const ROWS_MAX = 60;
const CHECKS = 12;
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
      await this.#engine.run(`DELETE FROM invoices WHERE company = '${COMPANY}' AND id = '${id}'`);
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
    await this.#engine.transaction(async (transaction) => {
      await transaction
        .insertInto('invoices')
        .values(
          [...ofId.values()].map((row) => ({ company: COMPANY, body: JSON.stringify(row), detail: '{}' })),
        )
        .onConflict((conflict) =>
          conflict.columns(['company', 'id']).doUpdateSet((row) => ({ body: row.ref('excluded.body') })),
        )
        .execute();
    });
    for (const [id, row] of ofId) this.rows.set(id, row);
  }
}

/** The streams of a document. Those of its day and month, which only SQLite has, need no bounds of days. */
const streams = [
  { name: "status || '/' || kind", hasDays: true },
  { name: "status || '/' || kind || '/' || customer", hasDays: true },
  { name: 'issue_date', hasDays: false },
  { name: 'SUBSTR(issue_date, 1, 7)', hasDays: false },
];
const monthBit =
  'CAST(1 AS BIGINT) << ((CAST(SUBSTR(issue_date, 1, 4) AS INTEGER) * 12 + CAST(SUBSTR(issue_date, 6, 2) AS INTEGER)) % 60)';

/** Rows that lie outside of the bounds of their block, and blocks that don't begin with a row of their stream. */
async function faults(engine: Engine): Promise<unknown[]> {
  const found: unknown[] = [];
  const rowsOf = ({ name }: (typeof streams)[number]) =>
    `SELECT 'invoices/' || ${name} AS of_stream, record.* FROM invoices AS record`;
  for (const stream of streams) {
    found.push(
      ...(await engine.run(`
        SELECT ours.id, block.first_id, block.time_max, block.day_min, block.day_max, block.months
        FROM (${rowsOf(stream)}) AS ours
        JOIN list_blocks AS block ON block.company = ours.company AND block.stream = of_stream AND block.first_id = (
          SELECT MAX(first_id) FROM list_blocks AS one
          WHERE one.company = ours.company AND one.stream = of_stream AND one.first_id <= ours.id)
        WHERE time_max < updated_at
          OR (${stream.hasDays} AND issue_date IS NOT NULL AND (
            day_min IS NULL OR day_min > issue_date OR day_max < issue_date OR months & (${monthBit}) = 0))`)),
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

function isIssuedWithin(issueDate: string | null, { issuedFrom, issuedTo }: InvoiceFilters): boolean {
  if (issuedFrom === undefined && issuedTo === undefined) return true;
  return issueDate !== null && issueDate >= (issuedFrom ?? '') && issueDate <= (issuedTo ?? '9999');
}

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
      const check = async (filters: InvoiceFilters, limit: number) => {
        const wanted = expected(ledger.rows.values(), filters);
        for (const [name, read] of Object.entries(readers))
          t.strictSame(await idsOf(read, filters, limit), wanted, `${JSON.stringify(filters)}, ${name}`);
      };
      for (let step = 1; step <= STEPS; step += 1) {
        await ledger.step();
        if (step % (STEPS / CHECKS) !== 0) continue;
        t.strictSame(await faults(engine), [], `after ${step} steps with ${ledger.rows.size} rows`);
        const stamps = [...ledger.rows.values()].map(({ updatedAt }) => updatedAt).sort();
        for (const { sinceShare, ...filters } of fc.sample(filtersOf, { numRuns: 12, seed: step })) {
          const updatedSince =
            sinceShare === undefined ? undefined : stamps[Math.floor(sinceShare * stamps.length)];
          await check({ ...filters, updatedSince }, 1 + (step % 50));
        }
      }
      const [counted] = await engine.run('SELECT COUNT(*) AS blocks FROM list_blocks');
      t.ok(Number(counted?.blocks) > ledger.rows.size / 64, `there are ${String(counted?.blocks)} blocks`);
      await fillBlocks(engine);
      t.strictSame(await faults(engine), [], 'filled by the migration');
      const [refilled] = await engine.run('SELECT COUNT(*) AS blocks FROM list_blocks');
      t.ok(Number(refilled?.blocks) > ledger.rows.size / 64, `there are ${String(refilled?.blocks)} blocks`);
      await check({ status: 'all', updatedSince: STORY_NOW.toISOString() }, 40);
    },
  );
}

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
async function idsOf(read: ReadList, filters: InvoiceFilters, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let page: PageRequest | undefined = { after: '', limit }; page;) {
    const { records, lastId } = await listInvoices(read, COMPANY, filters, page);
    ids.push(...records.map((text) => (JSON.parse(text) as Row).id));
    page = lastId === null ? undefined : { after: lastId, limit };
  }
  return ids;
}
