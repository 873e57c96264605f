import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { openTestDatabase } from '../_server.ts';
import type { Bench } from './_bench.ts';
import { fillCompany, jobId } from './_company.ts';
import { type Generator, type Loaded, startGenerator } from './_load.ts';
import { type Memory, type ServerProcess, startProduct } from './_process.ts';
import { aligned, whole } from './_rounds.ts';

const RECORDS = Number(process.env.LOAD_RECORDS ?? 1_000_000);
const BURST_SECONDS = Number(process.env.BURST_SECONDS ?? 30);
const ENGINE = process.env.LOAD_ENGINE === 'postgres' ? 'postgres' : 'sqlite';
/** Connections that keep the server just busy, and ten times as many. */
const CAPACITY_CONNECTIONS = 100;
const BURST_CONNECTIONS = 1_000;
/** Of each kind of request. */
const MEMORY_SECONDS = 10;
const SAMPLE_MS = 100;

/** Memory under load, and a burst. */
export const load: Bench = {
  about:
    'memory with LOAD_RECORDS records (1,000,000) under 100 connections, a burst of BURST_SECONDS; LOAD_ENGINE=postgres',
  run: async () => {
    const figures = await benchLoad();
    return { figures, text: textOf(figures) };
  },
};

interface LoadFigures {
  records: number;
  started: Memory;
  busy: Memory;
  capacity: Loaded;
  burst: Loaded;
  /** At most in the first half of the burst and in all of it, and five seconds later. */
  inHalf: Memory;
  inBurst: Memory;
  after: Memory;
}

interface Served {
  server: ServerProcess;
  generator: Generator;
  headers: Record<string, string>;
}

async function benchLoad(): Promise<LoadFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  try {
    await using database = await openTestDatabase(ENGINE);
    const key = await fillCompany(database.engine, { jobs: RECORDS, invoices: 0 });
    const logFile = join(folder, 'log');
    // A place's first start compiles the program for all later ones, which it holds 20 MB more for.
    await (await startProduct(database.url, { logFile }))[Symbol.asyncDispose]();
    await using server = await startProduct(database.url, { logFile });
    await using generator = await startGenerator();
    const served = { server, generator, headers: { authorization: `Bearer ${key}` } };
    const started = server.memory();
    const busy = await measureMemory(served);
    return { records: RECORDS, started, busy, ...(await measureBurst(served)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads single records all over the list, and pages. @returns the most that it took. */
async function measureMemory({ server, generator, headers }: Served): Promise<Memory> {
  using watch = watchMemory(server);
  const records = Array.from(
    { length: 5_000 },
    (_, index) => `/api/v1/jobs/${jobId(1 + ((index * 7_919) % RECORDS))}`,
  );
  for (const paths of [records, ['/api/v1/jobs?limit=100']]) {
    const load = { url: server.url, paths, headers, connections: CAPACITY_CONNECTIONS };
    await generator.run({ ...load, seconds: MEMORY_SECONDS });
  }
  return watch.highest();
}

/**
 * Sends ten times as many requests at once as keep the server busy, each connection the next one as soon as it has its
 * answer: a refusal is answered with a new request at once.
 */
async function measureBurst({ server, generator, headers }: Served) {
  const url = `${server.url}/api/v1/jobs?limit=50`;
  await generator.run({ url, headers, connections: CAPACITY_CONNECTIONS, seconds: 2 });
  const capacity = await generator.run({ url, headers, connections: CAPACITY_CONNECTIONS, seconds: 5 });
  using watch = watchMemory(server);
  const half = pause(BURST_SECONDS * 500).then(() => watch.highest());
  const burst = await generator.run({ url, headers, connections: BURST_CONNECTIONS, seconds: BURST_SECONDS });
  const inBurst = watch.highest();
  await pause(5_000);
  return { capacity, burst, inHalf: await half, inBurst, after: server.memory() };
}

function watchMemory(server: ServerProcess): Disposable & { highest: () => Memory } {
  let highest = server.memory();
  const timer = setInterval(() => {
    const { residentMb, ownMb } = server.memory();
    highest = { residentMb: Math.max(highest.residentMb, residentMb), ownMb: Math.max(highest.ownMb, ownMb) };
  }, SAMPLE_MS);
  return { highest: () => highest, [Symbol.dispose]: () => clearInterval(timer) };
}

function textOf({ records, started, busy, capacity, burst, inHalf, inBurst, after }: LoadFigures): string {
  const memory = { started, [`at most, of ${whole(records)} records`]: busy };
  const later = { 'in half of the burst': inHalf, 'in the burst': inBurst, '5 seconds after it': after };
  const memoryTable = aligned([
    ['memory in MB', 'resident', 'its own'],
    ...Object.entries({ ...memory, ...later }).map(([name, { residentMb, ownMb }]) => [
      name,
      whole(residentMb),
      whole(ownMb),
    ]),
  ]);
  const rowsOf = (name: string, { errors, byStatus }: Loaded) =>
    Object.entries(byStatus).map(([status, { count, perSecond, p50, p99, longest }]) => {
      const times = [p50, p99, longest].map((ms) => ms.toFixed(1));
      return [`${name}: ${status}`, ...[count, perSecond].map(whole), ...times, String(errors)];
    });
  const burstTable = aligned([
    ['a page of 50', 'answers', 'answers/s', 'p50 ms', 'p99 ms', 'longest', 'errors'],
    ...rowsOf(`${CAPACITY_CONNECTIONS} connections`, capacity),
    ...rowsOf(`${whole(BURST_CONNECTIONS)} connections for ${BURST_SECONDS} s`, burst),
  ]);
  return `${memoryTable}\n\n${burstTable}`;
}
