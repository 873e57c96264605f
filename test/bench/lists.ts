import { type InvoiceFilters, listInvoices } from '../../src/store/invoices.ts';
import { createListReader, type ReadList } from '../../src/store/lists.ts';
import { listRecords } from '../../src/store/records.ts';
import { type EngineName, openTestDatabase } from '../_server.ts';
import type { Bench } from './_bench.ts';
import { BIG_CUSTOMER, changes, COMPANY, days, fillListedCompany, idAt } from './_listed-company.ts';
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
  list: (read: ReadList, page: { after: string; limit: number }) => Promise<unknown>;
}

const invoices = (name: string, filters: Partial<InvoiceFilters>): Case => ({
  name: `invoices: ${name}`,
  list: (read, page) => listInvoices(read, COMPANY, { status: 'issued', ...filters }, page),
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
  jobs('all', undefined),
  invoices('all', { status: 'all' }),
  invoices('status', {}),
  invoices('customer and kind', { customer, kind: 'invoice' }),
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

/** Measures every list on one engine in companies of these sizes. */
export async function benchLists(engineName: EngineName, sizes: readonly number[]): Promise<Figures[]> {
  const sides = cases.flatMap((one) =>
    (['first', 'deep'] as const).map((page) => {
      const figures: Figures = { engine: engineName, list: one.name, page, sizes: [] };
      return { list: one.list, figures };
    }),
  );
  for (const records of sizes) {
    await using database = await openTestDatabase(engineName);
    await fillListedCompany(database.engine, records);
    const read = createListReader(database.engine);
    const afters = { first: '', deep: idAt(Math.floor(records * 0.9)) };
    const timed = sides.map(({ list, figures: { page } }) => async () => {
      const startedAt = performance.now();
      await list(read, { after: afters[page], limit: PAGE });
      return performance.now() - startedAt;
    });
    const times = await takeTurns(timed, ROUNDS);
    for (const [index, { figures }] of sides.entries()) {
      const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => quantile(times[index] ?? [], share));
      figures.sizes.push({ records, p50, p99 });
    }
  }
  return sides.map(({ figures }) => figures);
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
