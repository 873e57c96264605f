import { setTimeout as pause } from 'node:timers/promises';

import { sealCursor } from '../../src/server/api/pages.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { type EngineName, engineNames, openTestDatabase } from '../_server.ts';
import { BIG_CUSTOMER as customer, changes, days, fillCompany, idAt } from './_company.ts';
import { startGenerator } from './_load.ts';
import { readMeanwhile } from './_paced.ts';
import { aligned, median, takeTurns } from './_rounds.ts';
import { startProduct } from './_servers.ts';

const SIZES = (process.env.LISTS_SIZES ?? '1000,100000,1000000').split(',').map(Number);
const ROUNDS = 4;
/** Requests of a round. */
const REQUESTS = 10;
const BESIDE_SECONDS = 5;

interface Case {
  path: 'jobs' | 'invoices' | 'quotes';
  query: Record<string, string>;
  /** A page in the middle of the ids. */
  inside?: true;
  /** It may have to scan over the whole company. */
  worst?: true;
}

const issuedAtEnd = { issuedFrom: days.end, issuedTo: days.end };
/** Requests of a page of 50. */
const cases: readonly Case[] = [
  { path: 'jobs', query: {} },
  { path: 'jobs', query: {}, inside: true },
  { path: 'invoices', query: {} },
  { path: 'invoices', query: { customer, kind: 'invoice' } },
  { path: 'jobs', query: { updatedSince: changes.none } },
  { path: 'jobs', query: { updatedSince: changes.lastDay } },
  { path: 'invoices', query: { updatedSince: changes.lastDay } },
  { path: 'invoices', query: { updatedSince: changes.all } },
  { path: 'invoices', query: { issuedFrom: days.few, issuedTo: days.few } },
  { path: 'invoices', query: { issuedFrom: days.spread, issuedTo: days.spread } },
  { path: 'invoices', query: { ...issuedAtEnd, customer }, worst: true },
  { path: 'invoices', query: issuedAtEnd, worst: true },
  { path: 'invoices', query: { ...issuedAtEnd, updatedSince: changes.beginning }, worst: true },
  { path: 'quotes', query: { status: 'sent' } },
  { path: 'quotes', query: { status: 'expired' } },
  { path: 'quotes', query: { status: 'expired', updatedSince: changes.end }, worst: true },
];

/** The cost of a page, however large its company is, and a record that is read beside the slowest lists. */
export async function benchLists(): Promise<string> {
  const tables: string[] = [];
  for (const engine of engineNames) tables.push(await benchEngine(engine));
  return tables.join('\n\n');
}

async function benchEngine(engine: EngineName): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const generator = stack.use(await startGenerator());
  const companies: { records: number; url: string; key: string }[] = [];
  for (const records of SIZES) {
    const { url } = stack.use(await openTestDatabase(engine));
    await using filling = await openEngine(url, { statementMsMax: 0 });
    const key = await fillCompany(filling, { jobs: records, invoices: records, quotes: records });
    companies.push({ records, key, url: stack.use(await startProduct(url)).url });
  }
  const rows: string[][] = [];
  for (const one of cases) {
    const rounds = await takeTurns(
      companies.map(({ records, url, key }) => () => {
        const paths = [pathOf(one, records)];
        return generator.runAnswered({ url, key, paths, connections: 1, amount: REQUESTS });
      }),
      ROUNDS,
    );
    const p50s = rounds.map((own) => median(own.map(({ p50 }) => p50)));
    const longest = rounds.map((own) => Math.max(...own.map((answers) => answers.longest)));
    const times = p50s.flatMap((p50, index) => [p50, longest[index] ?? 0]);
    rows.push([
      nameOf(one),
      ...times.map((ms) => ms.toFixed(2)),
      ((p50s.at(-1) ?? 0) / (p50s[0] ?? 1)).toFixed(2),
    ]);
  }
  const sizes = SIZES.flatMap((size) => [`p50 of ${size.toLocaleString('en')}`, 'longest']);
  const table = aligned([[`${engine}, ms`, ...sizes, 'ratio'], ...rows]);

  const besides: string[][] = [];
  const { records = 0, url = '', key = '' } = companies.at(-1) ?? {};
  for (const worst of [undefined, ...cases.filter((one) => one.worst)]) {
    const load = { url, key, connections: 1, seconds: BESIDE_SECONDS };
    const work = worst
      ? generator.runAnswered({ ...load, paths: [pathOf(worst, records)] })
      : pause(BESIDE_SECONDS * 1000);
    const p99 = await readMeanwhile(`${url}/api/v1/jobs/${idAt(1)}`, key, work);
    besides.push([worst ? nameOf(worst) : 'alone', p99.toFixed(2)]);
  }
  return `${table}\n\n${aligned([['a record meanwhile', 'p99 ms'], ...besides])}`;
}

function pathOf({ path, query, inside }: Case, records: number): string {
  const { updatedSince } = query;
  const filters = { ...query, ...(updatedSince && { updatedSince: `${updatedSince}T00:00:00Z` }) };
  const cursor = inside && { cursor: sealCursor('listJobs', {}, idAt(Math.floor(records / 2))) };
  return `/api/v1/${path}?${String(new URLSearchParams({ limit: '50', ...filters, ...cursor }))}`;
}

function nameOf({ path, query, inside }: Case): string {
  const filters = Object.entries(query).map((pair) => pair.join('='));
  return [path, ...filters, ...(inside ? ['in the middle'] : [])].join(' ');
}
