import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sealCursor } from '../../src/api/cursors.ts';
import { type InvoiceFilters, listInvoices } from '../../src/store/invoices.ts';
import { createListReader, type ReadList } from '../../src/store/lists.ts';
import type { Page, PageRequest } from '../../src/store/pages.ts';
import { listQuotes, type QuoteFilters } from '../../src/store/quotes.ts';
import { listRecords } from '../../src/store/records.ts';
import { type EngineName, openTestDatabase } from '../_server.ts';
import { createAsker } from './_asker.ts';
import type { Bench } from './_bench.ts';
import { BIG_CUSTOMER, changes, COMPANY, days, fillListedCompany, idAt, TODAY } from './_listed-company.ts';
import { startProduct } from './_process.ts';
import { aligned, quantile, takeTurns } from './_rounds.ts';

const SIZES = [1_000, 100_000, 1_000_000];
const ROUNDS = 40;
const PAGE = 50;

/** What a page costs however large its company is, and wherever in the order of ids the records of a range lie. */
export const lists: Bench = {
  about:
    'a first and a later page of lists in a company of 1,000 to 1,000,000 jobs and as many invoices and quotes',
  run: async () => {
    const figures: Figures[] = [];
    for (const engine of ['sqlite', 'postgres'] as const) {
      figures.push(...(await benchLists(engine, SIZES)));
    }
    return { figures, text: textOf(figures) };
  },
};

interface Case {
  name: string;
  /** The same list as the API is asked for it, where that is measured too. */
  asked?: { operationId: 'listJobs' | 'listInvoices'; filters: Record<string, string> };
  list: (read: ReadList, page: PageRequest) => Promise<Page<unknown>>;
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
const quotes = (name: string, filters: Partial<QuoteFilters>): Case => ({
  name: `quotes: ${name}`,
  list: (read, page) => listQuotes(read, COMPANY, TODAY, { versions: 'latest', ...filters }, page),
});
const jobs = (name: string, since: string | undefined): Case => ({
  name: `jobs: ${name}`,
  list: (read, page) => listRecords<unknown>(read, 'jobs', COMPANY, since, page),
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
  ...(Object.keys(changes) as (keyof typeof changes)[])
    .filter((name) => name !== 'apart' && name !== 'many')
    .map((name) => jobs(`changed ${name}`, changes[name])),
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
  // In every block there are rows of either range, but none of both; or only at the end.
  invoices('issued endMonth, changed apart', {
    issuedFrom: days.endMonth,
    issuedTo: days.endMonth,
    updatedSince: changes.apart,
  }),
  invoices('issued end to endMonth, changed apart', {
    issuedFrom: days.end,
    issuedTo: days.endMonth,
    updatedSince: changes.apart,
  }),
  invoices('issued endMonth to many, changed many', {
    issuedFrom: days.endMonth,
    issuedTo: days.many,
    updatedSince: changes.many,
  }),
  quotes('sent', { status: 'sent' }),
  quotes('expired', { status: 'expired' }),
  // In every block there are valid ones and changed ones, but none that are both; or only at the end.
  quotes('sent, changed', { status: 'sent', updatedSince: changes.end }),
  quotes('expired, changed', { status: 'expired', updatedSince: changes.end }),
];

interface Figures {
  engine: EngineName;
  list: string;
  page: 'first' | 'later';
  /** Milliseconds by the number of records, and how many of them are on the page. */
  sizes: { records: number; p50: number; p99: number; onPage: number }[];
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
    const later = await Promise.all(companies.map((company) => laterPage(one, company)));
    for (const page of ['first', 'later'] as const) {
      const places = companies.map((company, index) => ({
        ...company,
        after: page === 'first' ? '' : (later[index] ?? ''),
      }));
      const onPage = await Promise.all(
        places.map(async ({ read, after }) => (await one.list(read, { after, limit: PAGE })).records.length),
      );
      const measure = async (list: string, work: (place: Place) => Promise<unknown>) => {
        const sizes = await measureTurns(places, work);
        figures.push({
          engine: engineName,
          list,
          page,
          sizes: sizes.map((size, index) => ({ ...size, onPage: onPage[index] ?? 0 })),
        });
      };
      const { asked } = one;
      await measure(one.name, ({ read, after }) => one.list(read, { after, limit: PAGE }));
      if (asked) await measure(`request of ${one.name}`, ({ ask, after }) => ask(pathOf(asked, after)));
    }
  }
  return figures;
}

/**
 * The id after which a later page begins: like any cursor that of a list's own record, the last one of a page, as near
 * to the end of the company's records as there are more to come.
 */
async function laterPage({ list }: Case, { read, records }: Company): Promise<string> {
  for (const share of [0.9, 0.5, 0.01]) {
    const { lastId } = await list(read, { after: idAt(Math.floor(records * share)), limit: PAGE });
    if (lastId !== null) return lastId;
  }
  return '';
}

interface Company {
  records: number;
  read: ReadList;
  ask: (path: string) => Promise<void>;
}

/** A page of a company's list: the id after which it begins. */
interface Place extends Company {
  after: string;
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
  return { records, read: createListReader(engine), ask: createAsker(server.url, key) };
}

function pathOf({ operationId, filters }: NonNullable<Case['asked']>, after: string): string {
  const cursor = after === '' ? {} : { cursor: sealCursor(operationId, filters, after) };
  const path = operationId === 'listJobs' ? 'jobs' : 'invoices';
  return `/api/v1/${path}?${String(new URLSearchParams({ limit: String(PAGE), ...filters, ...cursor }))}`;
}

async function measureTurns(
  places: readonly Place[],
  work: (place: Place) => Promise<unknown>,
): Promise<Omit<Figures['sizes'][number], 'onPage'>[]> {
  const timed = places.map((place) => async () => {
    const startedAt = performance.now();
    await work(place);
    return performance.now() - startedAt;
  });
  const times = await takeTurns(timed, ROUNDS);
  return places.map(({ records }, index) => {
    const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => quantile(times[index] ?? [], share));
    return { records, p50, p99 };
  });
}

/**
 * A table for each engine: the milliseconds of each size, and what the largest takes beside the smallest whose page has
 * as many records.
 */
export function textOf(figures: readonly Figures[]): string {
  const tables = [...Map.groupBy(figures, ({ engine }) => engine)].map(([engine, ofEngine]) => {
    const sizes = ofEngine[0]?.sizes.map(({ records }) => records.toLocaleString('en')) ?? [];
    const heading = sizes.flatMap((size) => [`p50 of ${size}`, 'p99', 'rows']);
    const rows = ofEngine.map(({ list, page, sizes: measured }) => [
      `${list}, ${page}`,
      ...measured.flatMap(({ p50, p99, onPage }) => [p50.toFixed(2), p99.toFixed(2), String(onPage)]),
      ratioOf(measured),
    ]);
    return aligned([[`${engine}, ms`, ...heading, 'ratio'], ...rows]);
  });
  return tables.join('\n\n');
}

function ratioOf(sizes: Figures['sizes']): string {
  const largest = sizes.at(-1);
  const smallest = sizes.find(({ onPage }) => onPage === largest?.onPage);
  if (!largest || !smallest || smallest === largest) return '';
  return (largest.p50 / smallest.p50).toFixed(2);
}
