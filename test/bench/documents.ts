import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { setCompany } from '../../src/server/access/companies.ts';
import { exampleCompany } from '../../src/demo/example-company.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../src/server/store/migrations/migrate.ts';
import { createDatabase, startPostgres } from '../_postgres.ts';
import { createBareClient } from './_bare-client.ts';
import type { Bench } from './_bench.ts';
import { COMPANY, fillCompany, invoiceId, jobId } from './_company.ts';
import type { Pace, Stretch } from './_paced-reader.ts';
import type { Asked } from './_pdf-asker.ts';
import { startProduct } from './_process.ts';
import { aligned, quantile, takeTurns, whole } from './_rounds.ts';

const ROUNDS = Number(process.env.DOCUMENTS_ROUNDS ?? 3);
/** Documents that are asked for at once, in each round. */
const BURST = 200;
/** Documents that are asked for one after the other. */
const ALONE = 100;
const WARM_UP = 20;
/** A client that reads 200 records a second leaves the server idle most of the time. */
const PACE_MS = 5;
const IDLE_MS = 5_000;
/** A client that fails ends, and is not waited for. */
const bound = () => ({ signal: AbortSignal.timeout(60_000) });

/** PDFs, and a record that is read while they are made. */
export const documents: Bench = {
  about: 'a new PDF from its request to its end, 200 at once, and a record meanwhile',
  run: async () => {
    const figures = await benchDocuments();
    return { figures, text: textOf(figures) };
  },
};

/** Times in milliseconds; the medians of the rounds. */
interface Figures {
  engine: string;
  alone: { p50: number; p99: number };
  /** The p99 of a record's read, alone and during the burst. */
  idleP99: number;
  burstP99: number;
  /** From the first request of the burst to the last PDF. */
  burstMs: number;
}

async function benchDocuments(): Promise<Figures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  try {
    await using server = await startPostgres({ isDurable: true });
    const urls = { sqlite: `sqlite:${join(folder, 'bench.db')}`, postgres: await createDatabase(server.url) };
    const figures: Figures[] = [];
    for (const [engine, url] of Object.entries(urls)) {
      const key = await fill(url);
      await using product = await startProduct(url, { logFile: join(folder, 'log') });
      const side: Side = { url: product.url, key, next: 1 };
      figures.push({ engine, alone: await measureAlone(side), ...(await measureBursts(side)) });
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(url: string): Promise<string> {
  await using engine = await openEngine(url);
  await migrate(engine);
  const key = await fillCompany(engine, {
    jobs: 1_000,
    invoices: WARM_UP + ALONE + BURST * (ROUNDS + 1),
  });
  await setCompany(engine, COMPANY, { profile: exampleCompany.profile });
  return key;
}

const pdfPath = (number: number) => `/api/v1/invoices/${invoiceId(number)}/pdf`;

interface Side {
  url: string;
  key: string;
  /** The number of the first document that has no PDF yet. */
  next: number;
}

async function measureAlone(side: Side): Promise<Figures['alone']> {
  const times: number[] = [];
  const ask = createBareClient(side.url, side.key);
  for (let count = 0; count < WARM_UP + ALONE; count += 1) {
    const startedAt = performance.now();
    await ask(pdfPath(side.next++));
    if (count >= WARM_UP) times.push(performance.now() - startedAt);
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** Reads a record at a steady pace: alone, and while a crowd asks for PDFs. */
async function measureBursts(side: Side): Promise<Omit<Figures, 'engine' | 'alone'>> {
  const { url, key } = side;
  const pace: Pace = { url, path: `/api/v1/jobs/${jobId(1)}`, key, everyMs: PACE_MS };
  const reader = fork(join(import.meta.dirname, '_paced-reader.ts'), [JSON.stringify(pace)]);
  const asker = fork(join(import.meta.dirname, '_pdf-asker.ts'), [url, key]);
  const tell = (stretch: Stretch) => reader.send(stretch);
  const taken = async () => quantile(((await once(reader, 'message', bound())) as [number[]])[0], 0.99);
  const idle = async () => {
    tell({ forMs: IDLE_MS });
    return { p99: await taken(), ms: 0 };
  };
  const burst = async () => {
    tell({ forMs: undefined });
    const paths = Array.from({ length: BURST }, () => pdfPath(side.next++));
    // Hundreds in one turn of the event loop would be a crowd, which is refused whatever it asks for.
    asker.send({ paths, everyMs: 1 } satisfies Asked);
    const [ms] = (await once(asker, 'message', bound())) as [number];
    tell({ forMs: undefined });
    return { p99: await taken(), ms };
  };
  const [idles = [], bursts = []] = await takeTurns([idle, burst], ROUNDS);
  reader.disconnect();
  asker.disconnect();
  const median = (values: number[]) => quantile(values, 0.5);
  return {
    idleP99: median(idles.map(({ p99 }) => p99)),
    burstP99: median(bursts.map(({ p99 }) => p99)),
    burstMs: median(bursts.map(({ ms }) => ms)),
  };
}

function textOf(figures: readonly Figures[]): string {
  return aligned([
    ['ms', 'a new PDF, p50', 'p99', 'a record, p99', `beside ${BURST} PDFs`, 'these in all'],
    ...figures.map(({ engine, alone, idleP99, burstP99, burstMs }) => [
      engine,
      ...[alone.p50, alone.p99].map((ms) => ms.toFixed(1)),
      ...[idleP99, burstP99].map((ms) => ms.toFixed(2)),
      whole(burstMs),
    ]),
  ]);
}
