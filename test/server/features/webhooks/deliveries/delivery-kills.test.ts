// Long: it kills and freezes delivery workers on each engine.
// It takes longer than others: workers are killed, and what they had waits for the end of its lease.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { createCompany } from '../../../../../src/server/backoffice/companies.ts';
import { applyChange } from '../../../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../../../src/server/backoffice/backoffice.ts';
import type { Change } from '../../../../../src/contract/feed.ts';
import { countWaiting } from '../../../../../src/server/features/webhooks/deliveries/lease.ts';
import type { Engine } from '../../../../../src/server/store/engines/engine.ts';
import { until } from '../../../../_command.ts';
import { type EngineName, engineNames, openTestDatabase } from '../../../../_server.ts';
import { addWebhook } from '../../../backoffice/_backoffice.ts';
import { deliveryRows } from './_delivery-loop.ts';
import { HOST } from '../../../sending/_receivers.ts';
import {
  ca,
  endWorker,
  type Ledger,
  quickClock,
  startFickleReceiver,
  startWorker,
  type WorkerSettings,
} from './_workers.ts';

/** How often workers are killed; `make deliveries` asks for more. After every tenth of them one is frozen as well. */
const killCounts: Record<EngineName, number> = {
  sqlite: Number(process.env.DELIVERY_KILLS ?? 3),
  postgres: Math.ceil(Number(process.env.DELIVERY_KILLS ?? 10) / 5),
};
const WORKERS: Record<EngineName, number> = { sqlite: 1, postgres: 3 };
const CONCURRENCY_MAX = 16;
const WEBHOOKS = ['whk_a', 'whk_b', 'whk_c'];
/** An hour of the schedule passes in a second: so the longest time between two attempts is 13 seconds. */
const SPEED = 3_600;
/** The deadline of an attempt, by how quick the machine is just now: its own delays are no failures of a receiver. */
const DEADLINE_MS = { min: 1_000, max: 10_000 };
/** How long a worker takes to start, for a deadline of a second. */
const QUICK_START_MS = 700;
const WAITING_MAX = 200;
/** Twice the longest time between two attempts; a lease comes on top of it. */
const STANDSTILL_MS_MAX = 30_000;
const LOOK_MS = 250;

/** Makes jobs until it is told to stop, as fast as they are delivered. */
async function makeJobs(engine: Engine, now: () => Date, signal: AbortSignal): Promise<void> {
  const backoffice = openBackoffice(engine, { now });
  const labels = { statusLabelId: 'new', jobTypeId: 'type', jobTypeVersion: 1, createdBy: 'per' };
  // A move whose connection is cut is made or isn't; what is in the database counts.
  const make = (change: string, what: object) =>
    applyChange(backoffice, { company: 'acme', change, with: what } as Change).catch(() => undefined);
  const person = { displayName: 'P', email: 'p@p.example', roleId: 'r', roleName: 'R' };
  await make('person.save', { id: 'per', ...person });
  const address = { addressLines: ['1 Quay'], countryCode: 'IE', currency: 'EUR', paymentTermsDays: 14 };
  await make('customer.save', { id: 'cus', name: 'C', ...address });
  while (!signal.aborted) {
    const waitingCount = await countWaiting(engine, WAITING_MAX).catch(() => 0);
    if (waitingCount < WAITING_MAX) await make('job.create', { title: 'J', customerId: 'cus', ...labels });
    await pause(waitingCount < WAITING_MAX ? 10 : 200);
  }
}

/** Times that suit the machine: those of a quick one, or as much longer as a worker takes to start. */
async function suitableTimes(settings: WorkerSettings): Promise<WorkerSettings> {
  const startedAt = performance.now();
  const worker = await startWorker(settings);
  const slowness = (performance.now() - startedAt) / QUICK_START_MS;
  await endWorker(worker, 'SIGTERM');
  const deadlineMs = Math.round(Math.min(DEADLINE_MS.max, DEADLINE_MS.min * Math.max(1, slowness)));
  return { ...settings, deadlineMs, leaseMs: 3 * deadlineMs };
}

/** Kills a worker at a random instant. @returns the one in its place. */
async function killOne(worker: ChildProcess, settings: WorkerSettings): Promise<ChildProcess> {
  await pause(Math.random() * 400);
  await endWorker(worker, 'SIGKILL');
  return startWorker(settings);
}

/** Freezes a worker at a random instant, beyond its lease. */
async function freeze(worker: ChildProcess, settings: WorkerSettings): Promise<void> {
  await pause(Math.random() * 400);
  worker.kill('SIGSTOP');
  await pause(settings.leaseMs * 1.3);
  worker.kill('SIGCONT');
}

/**
 * Waits until everything is delivered, for as long as it goes on. It looks seldom, and lets the database count: the
 * receiver lives in this process too.
 */
async function allDelivered(engine: Engine, standstillMsMax: number): Promise<void> {
  let last = '';
  let changedAt = performance.now();
  for (;;) {
    const left = await engine.run(
      `SELECT state, COUNT(*) AS deliveries, SUM(attempt_count) AS attempts, MAX(failure_count) AS failures
       FROM deliveries WHERE state <> 'delivered' GROUP BY state ORDER BY state`,
    );
    if (left.length === 0) return;
    const now = JSON.stringify(left);
    if (now !== last) changedAt = performance.now();
    last = now;
    const isOver = left.every(({ state }) => state === 'failed' || state === 'withheld');
    if (isOver || performance.now() > changedAt + standstillMsMax)
      throw new Error(`Not all is delivered, and nothing goes on. What is left: ${now}`);
    await pause(LOOK_MS);
  }
}

/** Requests that came for deliveries which their receiver had accepted before. */
const duplicates = ({ accepted }: Ledger) =>
  [...accepted.values()].reduce((sum, count) => sum + count - 1, 0);

for (const name of engineNames) {
  t.test(`${name}: every event reaches every webhook, however workers die`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine, url } = database;
    await createCompany(engine, 'acme', {}, new Date());
    for (const id of WEBHOOKS)
      await addWebhook(engine, 'acme', id, { kinds: ['job.created'], url: `https://${HOST}/${id}` });
    await using receiver = await startFickleReceiver();
    const settings = await suitableTimes({
      ...{ databaseUrl: url, port: receiver.port, ca, deadlineMs: DEADLINE_MS.min, leaseMs: DEADLINE_MS.max },
      ...{ concurrencyMax: CONCURRENCY_MAX, speed: SPEED, startMs: Date.now() },
    });
    const workers = await Promise.all(Array.from({ length: WORKERS[name] }, () => startWorker(settings)));
    t.teardown(() => Promise.all(workers.map((worker) => endWorker(worker, 'SIGKILL'))));
    const stop = new AbortController();
    const made = makeJobs(engine, quickClock(settings), stop.signal);
    let freezeCount = 0;
    for (let kill = 0; kill < killCounts[name]; kill += 1) {
      const place = kill % workers.length;
      const [worker] = workers.slice(place, place + 1);
      if (worker) workers[place] = await killOne(worker, settings);
      if (name === 'postgres' && kill === 1) await cutConnections(engine);
      if (kill % 10 !== 2) continue;
      freezeCount += 1;
      if (workers[0]) await freeze(workers[0], settings);
    }
    // Where the kills were quick, some moves are still to come.
    await until(async () => (await engine.db.selectFrom('events').select('id').execute()).length > 20);
    stop.abort();
    await made;
    await allDelivered(engine, STANDSTILL_MS_MAX + settings.leaseMs);
    for (const worker of workers) await endWorker(worker, 'SIGTERM');
    const { ledger } = receiver;
    const rows = await deliveryRows(engine);
    const events = await engine.db.selectFrom('events').select('id').execute();
    t.equal(rows.length, events.length * WEBHOOKS.length);
    t.ok(events.length > 20, 'moves went on all the time');
    const missing = rows.filter(({ id }) => !ledger.accepted.has(id));
    t.strictSame(missing, [], 'each was accepted');
    t.equal(ledger.requests.size, rows.length, 'and nothing else was sent');
    t.equal(ledger.mismatches, 0);
    const count = duplicates(ledger);
    t.ok(count <= (killCounts[name] + freezeCount) * CONCURRENCY_MAX, `${count} were sent twice`);
    t.comment(
      `${killCounts[name]} kills, ${freezeCount} freezes, ${rows.length} deliveries, ${count} accepted twice, ` +
        `deadline ${settings.deadlineMs} ms`,
    );
  });
}

/** As a restart of the database does, or a network that fails. */
async function cutConnections(engine: Engine): Promise<void> {
  await engine
    .run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    )
    .catch(() => undefined);
}
