import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { openTestDatabase } from '../_server.ts';
import type { Bench } from './_bench.ts';
import { fillCompany, jobChangedAt, jobId } from './_company.ts';
import { type Generator, type Loaded, startGenerator } from './_load.ts';
import { type Memory, type ServerProcess, startProduct } from './_process.ts';
import { aligned, whole } from './_rounds.ts';

const RECORDS = Number(process.env.LOAD_RECORDS ?? 100_000);
const BURST_SECONDS = Number(process.env.BURST_SECONDS ?? 30);
const ENGINE = process.env.LOAD_ENGINE === 'postgres' ? 'postgres' : 'sqlite';
const IDLE_CONNECTIONS = 1_000;
/** Connections that keep the server just busy, and ten times as many. */
const CAPACITY_CONNECTIONS = 100;
const BURST_CONNECTIONS = 1_000;
const SAMPLE_MS = 100;
const RECOVERY_ASK_MS = 10;
const RECOVERY_MS_MAX = 10_000;

/** Memory, idle connections, the event loop, and a burst. */
export const load: Bench = {
  about:
    'memory with LOAD_RECORDS records (100,000), idle connections, the event loop, a burst of BURST_SECONDS; LOAD_ENGINE=postgres',
  run: async () => {
    const figures = await benchLoad();
    return { figures, text: textOf(figures) };
  },
};

interface LoadFigures {
  records: number;
  memory: { started: Memory; highest: Memory };
  idle: { connections: number; before: Memory; after: Memory };
  loop: LoopDelay[];
  burst: Burst;
}

/** How long the event loop was blocked while one kind of request was answered, one after the other. */
interface LoopDelay {
  requests: string;
  perSecond: number;
  p99: number;
  longest: number;
}

interface Burst {
  capacity: Loaded;
  burst: Loaded;
  memory: { before: Memory; highestInHalf: Memory; highest: Memory; after: Memory };
  /** From the end of the burst to the first answer within the usual time. */
  recoveryMs: number;
}

interface Served {
  server: ServerProcess;
  generator: Generator;
  headers: Record<string, string>;
  delayFile: string;
}

async function benchLoad(): Promise<LoadFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  try {
    await using database = await openTestDatabase(ENGINE);
    const key = await fillCompany(database.engine, { jobs: RECORDS, invoices: 0 });
    const delayFile = join(folder, 'delay');
    const logFile = join(folder, 'log');
    // A place's first start compiles the program for all later ones, which it holds 20 MB more for.
    await (await startProduct(database.url, { logFile }))[Symbol.asyncDispose]();
    await using server = await startProduct(database.url, {
      logFile,
      environment: { LOOP_DELAY_FILE: delayFile },
      execArgv: ['--import', join(import.meta.dirname, '_loop-delay.js')],
    });
    await using generator = await startGenerator();
    const served = { server, generator, headers: { authorization: `Bearer ${key}` }, delayFile };
    const memory = await measureMemory(served);
    const idle = await measureIdle(served);
    const loop = await measureLoop(served);
    return { records: RECORDS, memory, idle, loop, burst: await measureBurst(served) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads the whole list, page after page, and then single records all over it. */
async function measureMemory({ server, generator, headers }: Served): Promise<LoadFigures['memory']> {
  const started = server.memory();
  using watch = watchMemory(server);
  let path = '/api/v1/jobs?limit=100';
  let read = 0;
  for (;;) {
    const response = await fetch(server.url + path, { headers });
    const page = (await response.json()) as { data: unknown[]; nextCursor: string | null };
    read += page.data.length;
    if (page.nextCursor === null) break;
    path = `/api/v1/jobs?limit=100&cursor=${page.nextCursor}`;
  }
  if (read !== RECORDS) throw new Error(`The list gives ${read} of ${RECORDS} records.`);
  const paths = Array.from(
    { length: 5_000 },
    (_, index) => `/api/v1/jobs/${jobId(1 + ((index * 7_919) % RECORDS))}`,
  );
  await generator.run({ url: server.url, paths, headers, connections: 20, seconds: 5 });
  return { started, highest: watch.highest() };
}

async function measureIdle({ server, headers }: Served): Promise<LoadFigures['idle']> {
  await pause(1_000);
  const before = server.memory();
  const agent = new Agent({
    keepAlive: true,
    maxSockets: IDLE_CONNECTIONS,
    maxFreeSockets: IDLE_CONNECTIONS,
  });
  const path = `/api/v1/jobs/${jobId(1)}`;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      get(server.url + path, { agent, headers }, (response) => response.resume().once('end', resolve)).once(
        'error',
        reject,
      );
    });
  await Promise.all(Array.from({ length: IDLE_CONNECTIONS }, one));
  await pause(2_000);
  const after = server.memory();
  const open = Object.values(agent.freeSockets).flat().length;
  agent.destroy();
  if (open !== IDLE_CONNECTIONS) throw new Error(`${open} of ${IDLE_CONNECTIONS} connections are kept.`);
  return { connections: open, before, after };
}

/** The first kind is asked nothing of the database, and tells what the machine does to any process on it. */
async function measureLoop({ server, generator, headers, delayFile }: Served): Promise<LoopDelay[]> {
  const late = jobChangedAt(RECORDS - 100);
  const deep = await cursorAfter(server, headers, Math.floor(RECORDS / 200));
  const kinds: [string, string][] = [
    ['/healthz', '/healthz'],
    ['one record', `/api/v1/jobs/${jobId(RECORDS)}`],
    ['a page of 100', '/api/v1/jobs?limit=100'],
    ['a page of 100 in the middle', `/api/v1/jobs?limit=100&cursor=${deep}`],
    ['the 100 changed last', `/api/v1/jobs?limit=100&updatedSince=${late}`],
    ['half, the first page', `/api/v1/jobs?limit=100&updatedSince=${jobChangedAt(Math.floor(RECORDS / 2))}`],
  ];
  const found: LoopDelay[] = [];
  for (const [requests, path] of kinds) {
    // Once to get warm, and to begin a new count.
    await generator.run({ url: server.url + path, headers, connections: 1, seconds: 1 });
    await readDelay(server, delayFile);
    const { byStatus } = await generator.run({ url: server.url + path, headers, connections: 1, seconds: 2 });
    const delay = await readDelay(server, delayFile);
    found.push({ requests, perSecond: byStatus['200']?.perSecond ?? 0, ...delay });
  }
  return found;
}

async function cursorAfter(
  server: ServerProcess,
  headers: Record<string, string>,
  pages: number,
): Promise<string> {
  let cursor = '';
  for (let page = 0; page < pages; page += 1) {
    const given = cursor === '' ? '' : `&cursor=${cursor}`;
    const response = await fetch(`${server.url}/api/v1/jobs?limit=100${given}`, { headers });
    cursor = ((await response.json()) as { nextCursor: string }).nextCursor;
  }
  return cursor;
}

async function readDelay(server: ServerProcess, file: string): Promise<{ p99: number; longest: number }> {
  rmSync(file, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(file)) await pause(10);
  return JSON.parse(readFileSync(file, 'utf8')) as { p99: number; longest: number };
}

/**
 * Sends ten times as many requests at once as keep the server busy, each connection the next one as soon as it has its
 * answer: a refusal is answered with a new request at once.
 */
async function measureBurst({ server, generator, headers }: Served): Promise<Burst> {
  const url = `${server.url}/api/v1/jobs?limit=50`;
  await generator.run({ url, headers, connections: CAPACITY_CONNECTIONS, seconds: 2 });
  const capacity = await generator.run({ url, headers, connections: CAPACITY_CONNECTIONS, seconds: 5 });
  const before = server.memory();
  using watch = watchMemory(server);
  const half = pause(BURST_SECONDS * 500).then(() => watch.highest());
  const burst = await generator.run({ url, headers, connections: BURST_CONNECTIONS, seconds: BURST_SECONDS });
  const recoveryMs = await measureRecovery(url, headers, capacity.byStatus['200']?.p99 ?? 0);
  const highest = watch.highest();
  await pause(5_000);
  const memory = { before, highestInHalf: await half, highest, after: server.memory() };
  return { capacity, burst, memory, recoveryMs };
}

/**
 * The time to the first answer that takes no longer than usual. It is asked for steadily, whatever becomes of the requests
 * before: one that is still refused as part of the crowd is held back for a second, and says nothing of those after it.
 */
async function measureRecovery(
  url: string,
  headers: Record<string, string>,
  usualMs: number,
): Promise<number> {
  const beganAt = performance.now();
  const { promise: recovered, resolve, reject } = Promise.withResolvers<number>();
  const ask = async () => {
    const askedAt = performance.now();
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(RECOVERY_MS_MAX) });
    await response.arrayBuffer();
    const answeredAt = performance.now();
    if (response.status === 200 && answeredAt - askedAt <= usualMs) resolve(answeredAt - beganAt);
    else if (answeredAt - beganAt > RECOVERY_MS_MAX) reject(new Error('The server has not recovered.'));
  };
  const timer = setInterval(() => void ask().catch(reject), RECOVERY_ASK_MS);
  try {
    return await recovered;
  } finally {
    clearInterval(timer);
  }
}

function watchMemory(server: ServerProcess): Disposable & { highest: () => Memory } {
  let highest = server.memory();
  const timer = setInterval(() => {
    const { residentMb, ownMb } = server.memory();
    highest = { residentMb: Math.max(highest.residentMb, residentMb), ownMb: Math.max(highest.ownMb, ownMb) };
  }, SAMPLE_MS);
  return { highest: () => highest, [Symbol.dispose]: () => clearInterval(timer) };
}

function textOf({ records, memory, idle, loop, burst }: LoadFigures): string {
  const memoryRow = (name: string, { residentMb, ownMb }: Memory) => [name, whole(residentMb), whole(ownMb)];
  const memoryTable = aligned([
    ['memory in MB', 'resident', 'its own'],
    memoryRow('started', memory.started),
    memoryRow(`at most, reading all of ${whole(records)} records`, memory.highest),
    memoryRow('before idle connections', idle.before),
    memoryRow(`with ${whole(idle.connections)} idle connections`, idle.after),
    memoryRow('before the burst', burst.memory.before),
    memoryRow('at most in the first half of the burst', burst.memory.highestInHalf),
    memoryRow('at most in the burst', burst.memory.highest),
    memoryRow('5 seconds after the burst', burst.memory.after),
  ]);
  const loopTable = aligned([
    ['event loop blocked for ms', 'requests/s', 'p99', 'longest'],
    ...loop.map(({ requests, perSecond, p99, longest }) => [
      requests,
      whole(perSecond),
      p99.toFixed(1),
      longest.toFixed(1),
    ]),
  ]);
  const burstRows = (name: string, { errors, byStatus }: Loaded) =>
    Object.entries(byStatus).map(([status, { count, perSecond, p50, p99, longest }]) => {
      const cells = [count, perSecond].map(whole);
      const times = [p50, p99, longest].map((ms) => ms.toFixed(1));
      return [`${name}: ${status}`, ...cells, ...times, String(errors)];
    });
  const burstTable = aligned([
    ['a page of 50', 'answers', 'answers/s', 'p50 ms', 'p99 ms', 'longest', 'errors'],
    ...burstRows(`${CAPACITY_CONNECTIONS} connections`, burst.capacity),
    ...burstRows(`${whole(BURST_CONNECTIONS)} connections for ${BURST_SECONDS} s`, burst.burst),
  ]);
  const recovery = `After the burst an answer takes its usual time again within ${whole(burst.recoveryMs)} ms.`;
  return [memoryTable, loopTable, burstTable, recovery].join('\n\n');
}
