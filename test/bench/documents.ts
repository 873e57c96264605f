import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { setCompany } from '../../src/access/companies.ts';
import { exampleCompany } from '../../src/demo/example-company.ts';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { createDocumentStore } from '../../src/store/documents.ts';
import { openEngine } from '../../src/store/engine.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createDatabase, startPostgres } from '../_postgres.ts';
import { createBareClient } from './_bare-client.ts';
import type { Bench } from './_bench.ts';
import { COMPANY, fillCompany, jobId } from './_company.ts';
import { type Generator, startGenerator } from './_load.ts';
import type { Pace, Stretch } from './_paced-reader.ts';
import type { Asked } from './_pdf-asker.ts';
import { type ServerProcess, startProduct } from './_process.ts';
import { aligned, quantile, takeTurns, whole } from './_rounds.ts';

const ROUNDS = Number(process.env.DOCUMENTS_ROUNDS ?? 5);
/** Documents that are asked for at once, in each round. */
const BURST = 200;
/** Of those, so many are asked for again at the pace at which they were made. */
const AGAIN = 50;
const RENDERED = 500;
const WARM_UP = 50;
const JOBS = 1_000;
const SECONDS = 0.5;
/** Requests at once that use every connection to the database. */
const POOLED = 20;
/** A client that reads 200 records a second leaves the server idle most of the time. */
const PACE_MS = 5;
const IDLE_MS = 5_000;
/** A client that fails ends, and is not waited for. */
const bound = () => ({ signal: AbortSignal.timeout(60_000) });

/** PDFs: made, served, and made beside other requests. */
export const documents: Bench = {
  about: 'a new PDF in a warm renderer, stored ones beside a record, and a record while 200 PDFs are made',
  run: async () => {
    const figures = await benchDocuments();
    return { figures, text: textOf(figures) };
  },
};

interface Times {
  p50: number;
  p99: number;
}

interface Figures {
  /** Of one page, in milliseconds, by the renderer alone. */
  rendered: Times & { bytes: number };
  engines: EngineFigures[];
}

interface EngineFigures {
  engine: string;
  /** From the request for a new document to the end of its PDF, when no other is asked for; in milliseconds. */
  asked: Times;
  served: Served[];
  /** The p99 in milliseconds of a record's read, and how long the burst took. */
  idleP99: number;
  burstP99: number;
  burstOfIdle: number;
  /** The same while stored PDFs are answered at the same pace: what isn't of making them. */
  storedOfIdle: number;
  burstMs: number;
}

/** What one kind of answer takes, one request after the other; medians of the rounds. */
interface Served {
  name: string;
  bytes: number;
  p50: number;
  /** Processor time of the server. */
  cpuMicroseconds: number;
  /** That time beside a record's. */
  ofRecord: number;
}

async function benchDocuments(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  try {
    await using server = await startPostgres({ isDurable: true });
    await using generator = await startGenerator();
    const urls = { sqlite: `sqlite:${join(folder, 'bench.db')}`, postgres: await createDatabase(server.url) };
    const engines = [];
    for (const [engine, url] of Object.entries(urls)) {
      const key = await fill(url);
      await using product = await startProduct(url, { logFile: join(folder, 'log') });
      const side = { engine, product, key, next: 1 };
      const asked = await measureAsked(side);
      engines.push({ asked, ...(await measureEngine(side, generator)) });
    }
    return { rendered: await measureRenderer(urls.sqlite), engines };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(url: string): Promise<string> {
  await using engine = await openEngine(url);
  await migrate(engine);
  const key = await fillCompany(engine, {
    jobs: JOBS,
    invoices: WARM_UP + RENDERED + BURST * (ROUNDS + 2),
  });
  await setCompany(engine, COMPANY, { profile: exampleCompany.profile });
  return key;
}

const invoiceId = (number: number) => `00000000-0000-7000-8000-${100_000_000_000 + number}`;
const pdfPath = (number: number) => `/api/v1/invoices/${invoiceId(number)}/pdf`;
const recordPath = `/api/v1/jobs/${jobId(1)}`;

/** Prints documents that differ from each other, in this process. */
async function measureRenderer(url: string): Promise<Figures['rendered']> {
  await using engine = await openEngine(url);
  const store = createDocumentStore(engine);
  const { logo, ...supplier } = await store.findProfile(COMPANY);
  const renderer = createRenderer();
  const times: number[] = [];
  let bytes = 0;
  for (let number = 1; number <= WARM_UP + RENDERED; number += 1) {
    const found = await store.findPrintable(COMPANY, invoiceId(number));
    if (!found) throw new Error(`There is no document ${number}.`);
    const startedAt = performance.now();
    ({ length: bytes } = await renderer.render({ ...found, supplier, logo }));
    if (number > WARM_UP) times.push(performance.now() - startedAt);
  }
  return { ...timesOf(times), bytes };
}

interface Side {
  engine: string;
  product: ServerProcess;
  key: string;
  /** The number of the first document that has no PDF yet. */
  next: number;
}

/** Asks for one new document after the other. */
async function measureAsked(side: Side): Promise<Times> {
  const times: number[] = [];
  const ask = createBareClient(side.product.url, side.key);
  for (let count = 0; count < WARM_UP + RENDERED; count += 1) {
    const startedAt = performance.now();
    await ask(pdfPath(side.next));
    if (count >= WARM_UP) times.push(performance.now() - startedAt);
    side.next += 1;
  }
  return timesOf(times);
}

async function measureEngine(side: Side, generator: Generator): Promise<Omit<EngineFigures, 'asked'>> {
  const stored = pdfPath(side.next);
  await createBareClient(side.product.url, side.key)(stored);
  side.next += 1;
  const { etag } = await answerOf(side, stored);
  const kinds = [
    { name: 'a record', path: recordPath, headers: {} },
    { name: 'a page of 50 records', path: '/api/v1/jobs?limit=50', headers: {} },
    { name: 'a stored PDF', path: stored, headers: {} },
    { name: 'a stored PDF, 304', path: stored, headers: { 'if-none-match': etag } },
  ];
  const rounds = await takeTurns(
    kinds.map(
      ({ path, headers }) =>
        () =>
          serve(side, generator, path, headers),
    ),
    ROUNDS,
  );
  const served: Served[] = [];
  for (const [index, { name, path, headers }] of kinds.entries()) {
    const ofKind = rounds[index] ?? [];
    const ratios = ofKind.map(({ cpu }, round) => cpu / (rounds[0]?.[round]?.cpu ?? cpu));
    served.push({
      name,
      bytes: (await answerOf(side, path, headers)).bytes,
      p50: median(ofKind.map(({ p50 }) => p50)),
      cpuMicroseconds: median(ofKind.map(({ cpu }) => cpu)),
      ofRecord: median(ratios),
    });
  }
  // Each connection to the database plans each statement once; a server that has run for a day has done so.
  for (const { path, headers } of kinds) await serve(side, generator, path, headers, POOLED);
  return { engine: side.engine, served, ...(await measureBursts(side)) };
}

/** Asks for the same again and again; over one connection, the client's own work isn't waited for. */
async function serve(
  { product, key }: Side,
  generator: Generator,
  path: string,
  headers: Record<string, string>,
  connections = 1,
): Promise<{ p50: number; cpu: number }> {
  const cpuBefore = product.cpuMicroseconds();
  const { errors, byStatus } = await generator.run({
    url: product.url + path,
    headers: { authorization: `Bearer ${key}`, ...headers },
    connections,
    seconds: SECONDS,
  });
  const [answered, ...others] = Object.values(byStatus);
  if (!answered || others.length > 0 || errors > 0) throw new Error(`${path} fails under load.`);
  return { p50: answered.p50, cpu: (product.cpuMicroseconds() - cpuBefore) / answered.count };
}

/** Reads a record at a steady pace: alone, while a crowd asks for PDFs to be made, and while it asks for them again. */
async function measureBursts(side: Side) {
  const { url } = side.product;
  const pace: Pace = { url, path: recordPath, key: side.key, everyMs: PACE_MS };
  const reader = fork(join(import.meta.dirname, '_paced-reader.ts'), [JSON.stringify(pace)]);
  const asker = fork(join(import.meta.dirname, '_pdf-asker.ts'), [url, side.key]);
  const tell = (stretch: Stretch) => reader.send(stretch);
  const taken = async () => {
    const [times] = (await once(reader, 'message', bound())) as [number[]];
    return times;
  };
  const idle = async () => {
    tell({ forMs: IDLE_MS });
    return { times: await taken(), ms: 0 };
  };
  const ask = async (first: number, count: number, everyMs: number) => {
    tell({ forMs: undefined });
    const paths = Array.from({ length: count }, (_, index) => pdfPath(first + index));
    asker.send({ paths, everyMs } satisfies Asked);
    const [ms] = (await once(asker, 'message', bound())) as [number];
    tell({ forMs: undefined });
    return { times: await taken(), ms };
  };
  let burstMs = 0;
  const burst = async () => {
    // Hundreds in one turn of the event loop would be a crowd, which is refused whatever it asks for.
    const asked = await ask(side.next, BURST, 1);
    side.next += BURST;
    burstMs = asked.ms;
    return asked;
  };
  const again = () => ask(side.next - BURST, AGAIN, burstMs / BURST);
  const [idles = [], bursts = [], agains = []] = await takeTurns([idle, burst, again], ROUNDS);
  reader.disconnect();
  asker.disconnect();
  const p99s = (rounds: typeof idles) => rounds.map(({ times }) => quantile(times, 0.99));
  const idleP99s = p99s(idles);
  const ofIdle = (rounds: typeof idles) =>
    median(p99s(rounds).map((value, round) => value / (idleP99s[round] ?? value)));
  return {
    idleP99: median(idleP99s),
    burstP99: median(p99s(bursts)),
    burstOfIdle: ofIdle(bursts),
    storedOfIdle: ofIdle(agains),
    burstMs: median(bursts.map(({ ms }) => ms)),
  };
}

async function answerOf(
  { product, key }: Side,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ etag: string; bytes: number }> {
  const all = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity', ...headers };
  const response = await fetch(product.url + path, { headers: all });
  const { byteLength } = await response.arrayBuffer();
  return { etag: response.headers.get('etag') ?? '', bytes: byteLength };
}

const median = (values: readonly number[]) => quantile(values, 0.5);
const timesOf = (values: readonly number[]): Times => ({
  p50: quantile(values, 0.5),
  p99: quantile(values, 0.99),
});

function textOf({ rendered, engines }: Figures): string {
  const made = aligned([
    [`ms for a new PDF of ${whole(rendered.bytes)} bytes`, 'p50', 'p99'],
    ['in a warm renderer', rendered.p50.toFixed(1), rendered.p99.toFixed(1)],
    ...engines.map(({ engine, asked }) => [
      `from the request to its end, on ${engine}`,
      asked.p50.toFixed(1),
      asked.p99.toFixed(1),
    ]),
  ]);
  const rates = engines.map(({ engine, served }) =>
    aligned([
      [`served on ${engine}`, 'bytes', 'p50 ms', 'CPU us', 'of record'],
      ...served.map(({ name, bytes, p50, cpuMicroseconds, ofRecord }) => [
        name,
        whole(bytes),
        p50.toFixed(2),
        whole(cpuMicroseconds),
        ofRecord.toFixed(2),
      ]),
    ]),
  );
  const bursts = aligned([
    [`p99 of a record in ms, ${BURST} PDFs`, 'idle', 'meanwhile', 'ratio', 'when stored', 'ms for all'],
    ...engines.map(({ engine, idleP99, burstP99, burstOfIdle, storedOfIdle, burstMs }) => [
      engine,
      idleP99.toFixed(2),
      burstP99.toFixed(2),
      burstOfIdle.toFixed(2),
      storedOfIdle.toFixed(2),
      whole(burstMs),
    ]),
  ]);
  return [made, ...rates, bursts].join('\n\n');
}
