import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { sealCursor } from '../../src/server/api/cursors.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { type EngineName, engineNames, openTestDatabase } from '../_server.ts';
import { createBareClient } from './_bare-client.ts';
import type { Bench } from './_bench.ts';
import { BIG_CUSTOMER as customer, changes, days, fillListedCompany, idAt } from './_listed-company.ts';
import type { Pace, Stretch } from './_paced-reader.ts';
import { startProduct } from './_process.ts';
import { aligned, quantile, takeTurns } from './_rounds.ts';

const SIZES = (process.env.LISTS_SIZES ?? '1000,100000,1000000').split(',').map(Number);
const ROUNDS = 40;
const BESIDE_MS = 5_000;
const PACE_MS = 5;

interface Case {
  path: 'jobs' | 'invoices' | 'quotes';
  query: Record<string, string>;
  /** A page in the middle of the ids. */
  inside?: true;
  /** It may have to walk over the whole company. */
  worst?: true;
}

/** Requests of a page of 50. */
const cases: readonly Case[] = [
  { path: 'jobs', query: {} },
  { path: 'jobs', query: {}, inside: true },
  { path: 'invoices', query: {} },
  { path: 'invoices', query: { status: 'all' } },
  { path: 'invoices', query: { customer, kind: 'invoice' } },
  { path: 'jobs', query: { updatedSince: changes.none } },
  { path: 'jobs', query: { updatedSince: changes.lastDay } },
  { path: 'invoices', query: { updatedSince: changes.lastDay } },
  { path: 'invoices', query: { updatedSince: changes.all } },
  { path: 'invoices', query: { issuedFrom: days.few, issuedTo: days.few } },
  { path: 'invoices', query: { issuedFrom: days.spread, issuedTo: days.spread } },
  { path: 'invoices', query: { issuedFrom: days.end, issuedTo: days.end, customer }, worst: true },
  { path: 'invoices', query: { issuedFrom: days.end, issuedTo: days.end }, worst: true },
  {
    path: 'invoices',
    query: { issuedFrom: days.end, issuedTo: days.end, updatedSince: changes.beginning },
    worst: true,
  },
  { path: 'quotes', query: { status: 'sent' } },
  { path: 'quotes', query: { status: 'expired' } },
  { path: 'quotes', query: { status: 'expired', updatedSince: changes.end }, worst: true },
];

/** The cost of a page, however large its company is, and wherever in the order of ids the records of a range lie. */
export const lists: Bench = {
  about:
    'the first page of lists in companies of LISTS_SIZES records, and a record beside the slowest of them',
  run: async () => {
    const figures: Figures[] = [];
    for (const engine of engineNames) figures.push(await benchLists(engine));
    return { figures, text: figures.map(textOf).join('\n\n') };
  },
};

interface Figures {
  engine: EngineName;
  /** Milliseconds by the number of records, in the order of the sizes, and whether they hold a bar. */
  lists: { list: string; sizes: Size[]; verdict: string }[];
  /** The p99 of a record's read in the largest company, alone and while each of the worst lists is asked for. */
  beside: { list: string; p99: number }[];
}

interface Size {
  records: number;
  p50: number;
  p99: number;
}

/** How many times the smallest company's list takes, where it has no range. */
const FLAT_MAX = 1.3;
/** Milliseconds of the first page, and of a record meanwhile, at a million records. */
const LAST_DAY_MAX = 5;
const WORST_MAX = { sqlite: 150, postgres: 300 };
const BESIDE_P99_MAX = 15;

const verdictOn = (value: number, max: number) => `<= ${max} ${value <= max ? 'holds' : 'MISSED'}`;

function judge({ query, path, worst }: Case, engine: EngineName, sizes: readonly Size[]): string {
  const [first, last] = [sizes[0]?.p50 ?? 1, sizes.at(-1)?.p50 ?? 1];
  if (worst) return verdictOn(last, WORST_MAX[engine]);
  if (query.updatedSince === changes.lastDay) return verdictOn(last, LAST_DAY_MAX);
  const isFlat = path !== 'quotes' && !query.updatedSince && !query.issuedFrom;
  return isFlat ? verdictOn(last / first, FLAT_MAX) : '';
}

interface Company {
  records: number;
  url: string;
  key: string;
  ask: (path: string) => Promise<void>;
}

function pathOf({ path, query, inside }: Case, records: number): string {
  const { updatedSince } = query;
  const filters =
    updatedSince === undefined ? query : { ...query, updatedSince: `${updatedSince}T00:00:00Z` };
  const cursor = inside ? { cursor: sealCursor('listJobs', {}, idAt(Math.floor(records / 2))) } : {};
  return `/api/v1/${path}?${String(new URLSearchParams({ limit: '50', ...filters, ...cursor }))}`;
}

const nameOf = ({ path, query, inside }: Case) =>
  [path, ...Object.entries(query).map((pair) => pair.join('=')), ...(inside ? ['in the middle'] : [])].join(
    ' ',
  );

async function benchLists(engineName: EngineName): Promise<Figures> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const companies: Company[] = [];
  for (const records of SIZES) {
    const { url } = stack.use(await openTestDatabase(engineName));
    await using filling = await openEngine(url, { statementMsMax: 0 });
    const key = await fillListedCompany(filling, records);
    const server = stack.use(await startProduct(url, { logFile: join(folder, 'log') }));
    companies.push({ records, url: server.url, key, ask: createBareClient(server.url, key) });
  }
  const measured: Figures['lists'] = [];
  for (const one of cases) {
    const sizes = await measureTurns(companies, one);
    measured.push({ list: nameOf(one), sizes, verdict: judge(one, engineName, sizes) });
  }
  const largest = companies.at(-1);
  return { engine: engineName, lists: measured, beside: largest ? await measureBeside(largest) : [] };
}

async function measureTurns(companies: readonly Company[], one: Case) {
  const times = await takeTurns(
    companies.map(({ ask, records }) => async () => {
      const startedAt = performance.now();
      await ask(pathOf(one, records));
      return performance.now() - startedAt;
    }),
    ROUNDS,
  );
  return SIZES.map((records, index) => {
    const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => quantile(times[index] ?? [], share));
    return { records, p50, p99 };
  });
}

/** Reads a record at a steady pace, alone and while one list after the other is asked for again and again. */
async function measureBeside({ records, url, key, ask }: Company): Promise<Figures['beside']> {
  const pace: Pace = { url, path: `/api/v1/jobs/${idAt(1)}`, key, everyMs: PACE_MS };
  const reader = fork(join(import.meta.dirname, '_paced-reader.ts'), [JSON.stringify(pace)]);
  const found: Figures['beside'] = [];
  for (const worst of [undefined, ...cases.filter((one) => one.worst)]) {
    reader.send({ forMs: BESIDE_MS } satisfies Stretch);
    const taken = once(reader, 'message') as Promise<[number[]]>;
    const over = new AbortController();
    void taken.then(() => over.abort());
    while (!over.signal.aborted) await (worst ? ask(pathOf(worst, records)) : pause(PACE_MS));
    found.push({ list: worst ? nameOf(worst) : 'alone', p99: quantile((await taken)[0], 0.99) });
  }
  reader.disconnect();
  return found;
}

function textOf({ engine, lists: measured, beside }: Figures): string {
  const heading = SIZES.flatMap((size) => [`p50 of ${size.toLocaleString('en')}`, 'p99']);
  const rows = measured.map(({ list, sizes, verdict }) => {
    const [first, last] = [sizes[0]?.p50 ?? 1, sizes.at(-1)?.p50 ?? 1];
    return [
      list,
      ...sizes.flatMap(({ p50, p99 }) => [p50.toFixed(2), p99.toFixed(2)]),
      (last / first).toFixed(2),
      verdict,
    ];
  });
  return [
    aligned([[`${engine}, ms`, ...heading, 'ratio', 'bar'], ...rows]),
    aligned([
      ['a record meanwhile', 'p99 ms', 'bar'],
      ...beside.map(({ list, p99 }) => [list, p99.toFixed(2), verdictOn(p99, BESIDE_P99_MAX)]),
    ]),
  ].join('\n\n');
}
