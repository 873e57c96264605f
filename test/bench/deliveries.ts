import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Engine } from '../../src/server/store/engines/engine.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../src/server/store/migrations/migrate.ts';
import { createDatabase, startPostgres } from '../_postgres.ts';
import type { Bench } from './_bench.ts';
import { addDeliveries, addWebhooks, type Connections, countDeliveries } from './_delivery-rows.ts';
import type { Results, Settings, Task } from './_delivery-worker.ts';
import { type Memory, memoryOf } from './_process.ts';
import { aligned, compareRates, quantile, type Reached, tableOf, whole } from './_rounds.ts';
import { endChild, type ReceiverProcess, startReceiver } from './_receiver-process.ts';

const ROUNDS = Number(process.env.DELIVERIES_ROUNDS ?? 3);
/** Deliveries of a round, by their connections. */
const COUNTS: Record<Connections, number> = { kept: 10_000, close: 2_000 };
const EVENTS = Number(process.env.DELIVERIES_EVENTS ?? 300);
const BACKLOG = Number(process.env.DELIVERIES_BACKLOG ?? 100_000);
/** Of a backlog so many are delivered; and as many again when there is none, to compare with. */
const DRAINED = 20_000;
const SAMPLE_MS = 20;

/** The loop of deliveries as the product runs it, to a receiver on the same machine. */
export const deliveries: Bench = {
  about:
    'deliveries a second beside attempts alone, from commit to arrival, and a backlog of DELIVERIES_BACKLOG (100,000)',
  run: async () => {
    const figures = await benchDeliveries();
    return { figures, text: textOf(figures) };
  },
};

interface Figures {
  rates: { connections: Connections; reached: Reached[] }[];
  latencies: { engine: string; p50: number; p99: number; longest: number }[];
  backlogs: BacklogFigures[];
}

interface BacklogFigures {
  engine: string;
  /** Before anything was delivered with a backlog, and the most while it was being drained. */
  memory: { before: Memory; highest: Memory };
  /** Deliveries a second while no more than these were due, and with a backlog. */
  alone: number;
  draining: number;
}

interface Side {
  engine: Engine;
  worker: Worker;
  /** The number of the next delivery. */
  next: number;
}

async function benchDeliveries(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  try {
    await using receiver = await startReceiver();
    await using server = await startPostgres({ isDurable: true });
    const urls = [`sqlite:${join(folder, 'bench.db')}`, await createDatabase(server.url)];
    await using running = new AsyncDisposableStack();
    const sides: Side[] = [];
    for (const databaseUrl of urls) {
      const engine = running.use(await openEngine(databaseUrl));
      await migrate(engine);
      await addWebhooks(engine);
      const worker = running.use(startWorker({ databaseUrl, place: receiver.place }, join(folder, 'log')));
      sides.push({ engine, worker, next: 1 });
    }
    const rates = [];
    for (const connections of ['kept', 'close'] as const)
      rates.push({ connections, reached: await compareSides(sides, connections) });
    const latencies = [];
    for (const side of sides) latencies.push(await measureLatency(side, receiver));
    const backlogs = [];
    for (const side of sides) backlogs.push(await measureBacklog(side));
    return { rates, latencies, backlogs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareSides(sides: readonly Side[], connections: Connections): Promise<Reached[]> {
  const count = COUNTS[connections];
  const [{ worker: alone }] = sides as [Side];
  return await compareRates(
    [
      {
        name: 'the sender alone',
        rate: () => alone.perform({ task: 'send', path: `/${connections}`, count }),
      },
      ...sides.map((side) => ({
        name: side.engine.dialect.name,
        rate: () => deliverAll(side, connections, count),
      })),
    ],
    ROUNDS,
  );
}

/** Makes deliveries and lets the worker make all of them. */
async function deliverAll(side: Side, connections: Connections, count: number): Promise<number> {
  await addDue(side, connections, count);
  const delivered = await side.worker.perform({ task: 'deliver', count });
  const left = await countDeliveries(side.engine, 'waiting');
  if (left > 0) throw new Error(`${left} deliveries are left on ${side.engine.dialect.name}.`);
  return delivered;
}

async function addDue(side: Side, connections: Connections, count: number): Promise<void> {
  await addDeliveries(side.engine, { connections, first: side.next, count });
  side.next += count;
}

async function measureLatency({ engine, worker }: Side, receiver: ReceiverProcess) {
  const committed = await worker.perform({ task: 'commit', count: EVENTS });
  const arrivals = await receiver.arrivals(committed.map(({ delivery }) => delivery));
  const times = committed.map(({ delivery, atMs }) => (arrivals.get(delivery) ?? Infinity) - atMs);
  return {
    engine: engine.dialect.name,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    longest: quantile(times, 1),
  };
}

async function measureBacklog(side: Side): Promise<BacklogFigures> {
  const { engine, worker } = side;
  const alone = await deliverAll(side, 'kept', DRAINED);
  const before = worker.memory();
  await addDue(side, 'kept', BACKLOG);
  await settle(engine);
  using watch = watchMemory(worker);
  const draining = await worker.perform({ task: 'deliver', count: DRAINED });
  return { engine: engine.dialect.name, memory: { before, highest: watch.highest() }, alone, draining };
}

/** A backlog grows over hours; written at once, it would keep PostgreSQL busy with it while claims are measured. */
async function settle(engine: Engine): Promise<void> {
  if (engine.dialect.name !== 'postgres') return;
  await engine.run('VACUUM ANALYZE deliveries');
  await engine.run('CHECKPOINT');
}

function watchMemory(worker: Worker): Disposable & { highest: () => Memory } {
  const highest = worker.memory();
  const look = () => {
    const { residentMb, ownMb } = worker.memory();
    highest.residentMb = Math.max(highest.residentMb, residentMb);
    highest.ownMb = Math.max(highest.ownMb, ownMb);
  };
  const timer = setInterval(look, SAMPLE_MS);
  return { highest: () => highest, [Symbol.dispose]: () => clearInterval(timer) };
}

interface Worker extends AsyncDisposable {
  perform: <T extends Task>(task: T) => Promise<Results[T['task']]>;
  memory: () => Memory;
}

function startWorker(settings: Settings, logFile: string): Worker {
  const errors = openSync(logFile, 'a');
  const script = join(import.meta.dirname, '_delivery-worker.ts');
  const child = fork(script, [JSON.stringify(settings)], { stdio: ['ignore', 'inherit', errors, 'ipc'] });
  closeSync(errors);
  return {
    async perform<T extends Task>(task: T) {
      using ended = new DisposableStack();
      const failed = new AbortController();
      const fail = () => failed.abort(new Error(`The worker ended while it was to ${task.task}.`));
      child.once('exit', fail);
      ended.defer(() => child.off('exit', fail));
      child.send(task);
      const [answer] = (await once(child, 'message', { signal: failed.signal })) as [{ result: unknown }];
      // It answers each task with what belongs to it.
      return answer.result as Results[T['task']];
    },
    memory: () => memoryOf(child.pid ?? 0),
    [Symbol.asyncDispose]: () => endChild(child),
  };
}

function textOf({ rates, latencies, backlogs }: Figures): string {
  const tables = rates.map(({ connections, reached }) => {
    const unit = connections === 'kept' ? 'connections are kept' : 'a new connection each';
    return tableOf(`${unit}: deliveries`, reached);
  });
  const ms = (value: number) => value.toFixed(1);
  const latencyTable = aligned([
    [`ms from commit to arrival, ${EVENTS} events`, 'p50', 'p99', 'longest'],
    ...latencies.map(({ engine, p50, p99, longest }) => [engine, ms(p50), ms(p99), ms(longest)]),
  ]);
  const backlogTable = aligned([
    [
      `${whole(BACKLOG)} deliveries are due`,
      'own MB before',
      'while draining',
      'deliveries/s without',
      'with them',
    ],
    ...backlogs.map(({ engine, memory: { before, highest }, alone, draining }) => [
      engine,
      ...[before.ownMb, highest.ownMb, alone, draining].map(whole),
    ]),
  ]);
  return [...tables, latencyTable, backlogTable].join('\n\n');
}
