import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sealCursor } from '../../src/api/cursors.ts';
import { type InvoiceFilters, listInvoices } from '../../src/store/invoices.ts';
import { createListReader, type ReadList } from '../../src/store/lists.ts';
import { listRecords } from '../../src/store/records.ts';
import { type EngineName, openTestDatabase } from '../_server.ts';
import { createAsker } from './_asker.ts';
import type { Bench } from './_bench.ts';
import { BIG_CUSTOMER, changes, COMPANY, days, fillListedCompany, idAt } from './_listed-company.ts';
import { startProduct } from './_process.ts';
import { aligned, quantile, takeTurns } from './_rounds.ts';

const SIZES: Record<EngineName, readonly number[]> = {
  sqlite: [1_000, 100_000, 1_000_000],
  postgres: [1_000, 100_000],
};
const ROUNDS = 40;
const PAGE = 50;

/** What a page costs however large its company is, and wherever in the order of ids the records of a range lie. */
export const lists: Bench = {
  about: 'a first and a deep page of lists in a company of 1,000 to 1,000,000 jobs and as many invoices',
  run: async () => {
    const figures: Figures[] = [];
    for (const engine of ['sqlite', 'postgres'] as const) {
      figures.push(...(await benchLists(engine, SIZES[engine])));
    }
    return { figures, text: textOf(figures) };
  },
};

interface Case {
  name: string;
  /** The same list as the API is asked for it, where that is measured too. */
  asked?: { operationId: 'listJobs' | 'listInvoices'; filters: Record<string, string> };
  list: (read: ReadList, page: { after: string; limit: number }) => Promise<unknown>;
}

const invoices = (name: string, filters: Partial<InvoiceFilters>): Case => ({
  name: `invoices: ${name}`,
  list: (read, page) => listInvoices(read, COMPANY, { status: 'issued', ...filters }, page),
});
/** A list without a range, which has to cost the same in any company, as a request too. */
const flat = (
  one: Case,
  operationId: 'listJobs' | 'listInvoices',
  filters: Record<string, string>,
): Case => ({
  ...one,
  asked: { operationId, filters },
});
const issued = (name: keyof typeof days, filters: Partial<InvoiceFilters> = {}): Case =>
  invoices(`issued ${name}${Object.keys(filters).length > 0 ? ` ${Object.values(filters).join(' ')}` : ''}`, {
    issuedFrom: days[name],
    issuedTo: days[name],
    ...filters,
  });
const jobs = (name: string, since: string | undefined): Case => ({
  name: `jobs: ${name}`,
  list: (read, page) => listRecords(read, 'jobs', COMPANY, since, page),
});

const customer = BIG_CUSTOMER;
const cases: readonly Case[] = [
  flat(jobs('all', undefined), 'listJobs', {}),
  flat(invoices('all', { status: 'all' }), 'listInvoices', { status: 'all' }),
  flat(invoices('status', {}), 'listInvoices', { status: 'issued' }),
  flat(invoices('customer and kind', { customer, kind: 'invoice' }), 'listInvoices', {
    status: 'issued',
    kind: 'invoice',
    customer,
  }),
  ...(Object.keys(changes) as (keyof typeof changes)[]).map((name) => jobs(`changed ${name}`, changes[name])),
  ...(Object.keys(changes) as (keyof typeof changes)[]).map((name) =>
    invoices(`changed ${name}`, { updatedSince: changes[name] }),
  ),
  invoices('changed end, customer', { updatedSince: changes.end, customer }),
  ...(Object.keys(days) as (keyof typeof days)[]).map((name) => issued(name)),
  issued('spread', { status: 'all', kind: 'credit_note' }),
  issued('spread', { customer }),
  issued('others', { customer }),
  issued('end', { status: 'all', customer }),
  invoices('issued spread, changed end', {
    issuedFrom: days.spread,
    issuedTo: days.spread,
    updatedSince: changes.end,
  }),
  invoices('issued spread, changed few', {
    issuedFrom: days.spread,
    issuedTo: days.spread,
    updatedSince: changes.few,
  }),
  invoices('issued others, changed spread', {
    issuedFrom: days.others,
    issuedTo: days.others,
    updatedSince: changes.spread,
  }),
];

interface Figures {
  engine: EngineName;
  list: string;
  page: 'first' | 'deep';
  /** Milliseconds by the number of records. */
  sizes: { records: number; p50: number; p99: number }[];
}

/** Measures every list on one engine in companies of these sizes, which take turns. */
export async function benchLists(engineName: EngineName, sizes: readonly number[]): Promise<Figures[]> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const companies: Company[] = [];
  for (const records of sizes)
    companies.push(await openCompany(stack, engineName, records, join(folder, 'log')));
  const figures: Figures[] = [];
  for (const one of cases) {
    for (const page of ['first', 'deep'] as const) {
      const { asked } = one;
      const measure = (list: string, work: (company: Company) => Promise<unknown>) =>
        measureTurns(companies, work).then((measured) => {
          figures.push({ engine: engineName, list, page, sizes: measured });
        });
      await measure(one.name, ({ read, afters }) => one.list(read, { after: afters[page], limit: PAGE }));
      if (asked)
        await measure(`request of ${one.name}`, ({ ask, afters }) => ask(pathOf(asked, afters[page])));
    }
  }
  return figures;
}

interface Company {
  records: number;
  read: ReadList;
  ask: (path: string) => Promise<void>;
  /** The ids after which the first and the deep page begin. */
  afters: { first: string; deep: string };
}

async function openCompany(
  stack: AsyncDisposableStack,
  engineName: EngineName,
  records: number,
  logFile: string,
): Promise<Company> {
  const { engine, url } = stack.use(await openTestDatabase(engineName));
  const key = await fillListedCompany(engine, records);
  const server = stack.use(await startProduct(url, { logFile }));
  const afters = { first: '', deep: idAt(Math.floor(records * 0.9)) };
  return { records, read: createListReader(engine), ask: createAsker(server.url, key), afters };
}

function pathOf({ operationId, filters }: NonNullable<Case['asked']>, after: string): string {
  const cursor = after === '' ? {} : { cursor: sealCursor(operationId, filters, after) };
  const path = operationId === 'listJobs' ? 'jobs' : 'invoices';
  return `/api/v1/${path}?${String(new URLSearchParams({ limit: String(PAGE), ...filters, ...cursor }))}`;
}

async function measureTurns(
  companies: readonly Company[],
  work: (company: Company) => Promise<unknown>,
): Promise<Figures['sizes']> {
  const timed = companies.map((company) => async () => {
    const startedAt = performance.now();
    await work(company);
    return performance.now() - startedAt;
  });
  const times = await takeTurns(timed, ROUNDS);
  return companies.map(({ records }, index) => {
    const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => quantile(times[index] ?? [], share));
    return { records, p50, p99 };
  });
}

/** A table for each engine: the milliseconds of each size, and what the largest takes beside the smallest. */
export function textOf(figures: readonly Figures[]): string {
  const tables = [...Map.groupBy(figures, ({ engine }) => engine)].map(([engine, ofEngine]) => {
    const sizes = ofEngine[0]?.sizes.map(({ records }) => records.toLocaleString('en')) ?? [];
    const heading = sizes.flatMap((size) => [`p50 of ${size}`, 'p99']);
    const rows = ofEngine.map(({ list, page, sizes: measured }) => [
      `${list}, ${page}`,
      ...measured.flatMap(({ p50, p99 }) => [p50.toFixed(2), p99.toFixed(2)]),
      ((measured.at(-1)?.p50 ?? 0) / (measured[0]?.p50 ?? 1)).toFixed(2),
    ]);
    return aligned([[`${engine}, ms`, ...heading, 'ratio'], ...rows]);
  });
  return tables.join('\n\n');
}
