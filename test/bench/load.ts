import { setTimeout as pause } from 'node:timers/promises';

import { type EngineName, openTestDatabase } from '../_server.ts';
import { fillCompany, idAt } from './_company.ts';
import { type Loaded, startGenerator } from './_load.ts';
import { aligned, whole } from './_rounds.ts';
import { highestMemory, type Memory, memoryOf, startProduct } from './_servers.ts';

const RECORDS = Number(process.env.LOAD_RECORDS ?? 1_000_000);
const BURST_SECONDS = Number(process.env.BURST_SECONDS ?? 30);
const ENGINE: EngineName = process.env.LOAD_ENGINE === 'postgres' ? 'postgres' : 'sqlite';
/** Connections that keep the server just busy, and ten times as many. */
const CAPACITY = 100;
const CROWD = 1_000;

/**
 * Memory with many records under load, and a burst: ten times as many requests at once as keep the server busy, each
 * connection with a new one as soon as the last is answered or refused.
 */
export async function benchLoad(): Promise<string> {
  await using database = await openTestDatabase(ENGINE);
  const key = await fillCompany(database.engine, { jobs: RECORDS, invoices: 0, quotes: 0 });
  // A place's first start compiles the program for all later ones, which it holds 20 MB more for.
  await (await startProduct(database.url))[Symbol.asyncDispose]();
  await using server = await startProduct(database.url);
  await using generator = await startGenerator();
  const { url, pid } = server;
  const run = (paths: readonly string[], connections: number, seconds: number) =>
    generator.run({ url, key, paths, connections, seconds });
  const started = memoryOf(pid);
  const records = Array.from(
    { length: 5_000 },
    (_, index) => `/api/v1/jobs/${idAt((index * 7_919) % RECORDS)}`,
  );
  const busy = await highestMemory(pid, async () => {
    await run(records, CAPACITY, 10);
    await run(['/api/v1/jobs?limit=100'], CAPACITY, 10);
  });
  const page = ['/api/v1/jobs?limit=50'];
  await run(page, CAPACITY, 2);
  const capacity = await run(page, CAPACITY, 5);
  let burst: Loaded | undefined;
  const inBurst = await highestMemory(pid, async () => {
    burst = await run(page, CROWD, BURST_SECONDS);
  });
  await pause(5_000);
  const memory = {
    started,
    [`at most, of ${whole(RECORDS)} records`]: busy,
    'in the burst': inBurst,
    '5 seconds after it': memoryOf(pid),
  };
  const loads = { [`${CAPACITY} connections`]: capacity, [`${CROWD} for ${BURST_SECONDS} s`]: burst };
  return `${memoryTable(memory)}\n\n${loadTable(loads)}`;
}

function memoryTable(memory: Record<string, Memory>): string {
  const rows = Object.entries(memory).map(([name, { resident, own }]) => [name, whole(resident), whole(own)]);
  return aligned([['memory in MB', 'resident', 'its own'], ...rows]);
}

function loadTable(loads: Record<string, Loaded | undefined>): string {
  const rows = Object.entries(loads).flatMap(([name, { errors = 0, byStatus = {} } = {}]) =>
    Object.entries(byStatus).map(([status, { count, perSecond, p50, p99, longest }]) => {
      const times = [p50, p99, longest].map((ms) => ms.toFixed(1));
      return [`${name}: ${status}`, whole(count), whole(perSecond), ...times, String(errors)];
    }),
  );
  return aligned([
    ['a page of 50', 'answers', 'answers/s', 'p50 ms', 'p99 ms', 'longest', 'errors'],
    ...rows,
  ]);
}
