/*
 * A worker in a process of its own, which delivers as `fieldledger deliver` does, but to a receiver beside it. It does
 * one task after the other as its parent tells, and ends with it. Its first argument is a JSON object of `Settings`.
 */
import { setTimeout as pause } from 'node:timers/promises';

import { createIds } from '../../src/server/backoffice/ids.ts';
import type { JsonText } from '../../src/contract/json-text.ts';
import { createLogger } from '../../src/server/log.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { appendEvents } from '../../src/server/store/deliveries/events.ts';
import { DeliveryLoop } from '../../src/server/webhooks/delivery-loop.ts';
import { createSecretBox } from '../../src/server/webhooks/secrets.ts';
import { createSender } from '../../src/server/webhooks/sender.ts';
import { IDLE_COMPANY } from './_delivery-rows.ts';
import { steadyMs } from './_steady-clock.ts';
import { SECRET_KEY } from '../_command.ts';
import type { ReceiverPlace } from './_webhook-receiver.ts';

export interface Settings {
  databaseUrl: string;
  place: ReceiverPlace;
}

/** The tasks that the worker can be told to do so many times. */
export interface Tasks {
  /** Sends nothing but bodies, without store and signature. @returns how many in a second. */
  send: { path: string };
  /** Runs a loop until so many deliveries are made and written. @returns how many in a second. */
  deliver: object;
  /** Commits events one by one beside a loop that has nothing to do. */
  commit: object;
}

export interface Results {
  send: number;
  deliver: number;
  commit: Committed[];
}

export type Task = { [Name in keyof Tasks]: Tasks[Name] & { task: Name; count: number } }[keyof Tasks];

/** An event, and when its transaction was about to be committed. */
export interface Committed {
  delivery: string;
  atMs: number;
}

const AT_ONCE = 64;
const PER_WEBHOOK = 4;
const HOSTS = 32;
const BODY = JSON.stringify({ event: 'job.created', data: 'x'.repeat(960) });
/** Between an attempt and the next event: by then it is written, and the loop sleeps. */
const REST_MS = 15;

// The bench wrote them.
const { databaseUrl, place } = JSON.parse(process.argv[2] ?? '') as Settings;
const engine = await openEngine(databaseUrl);
const sender = createSender({
  resolve: async () => ['127.0.0.1'],
  isCallable: (address) => address === '127.0.0.1',
  ...place,
});
const log = createLogger('info');
const metrics = createMetrics().deliveries;

async function perform(task: Task): Promise<Results[Task['task']]> {
  switch (task.task) {
    case 'send':
      return await send(task.path, task.count);
    case 'deliver':
      return await deliver(task.count);
    case 'commit':
      return await commit(task.count);
  }
}

/** Each slot makes one request after the other. */
async function send(path: string, count: number): Promise<number> {
  let made = 0;
  const slot = async () => {
    while (made < count) {
      made += 1;
      const url = `https://h${made % HOSTS}.example.net${path}`;
      const { status, error } = await sender.send({ url, headers: {}, body: BODY });
      if (status !== 200) throw new Error(`An attempt came to ${status ?? error}.`);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, slot));
  return count / ((performance.now() - startedAt) / 1000);
}

function startLoop(onAttempted: () => void): DeliveryLoop {
  return new DeliveryLoop({
    engine,
    sender,
    secrets: createSecretBox(SECRET_KEY),
    serviceName: 'Fieldledger',
    log,
    metrics: {
      ...metrics,
      attempted(outcome, seconds) {
        metrics.attempted(outcome, seconds);
        if (outcome !== 'delivered') throw new Error(`A delivery became ${outcome}.`);
        onAttempted();
      },
    },
    now: () => new Date(),
    concurrencyMax: AT_ONCE,
    perWebhookMax: PER_WEBHOOK,
  });
}

async function deliver(count: number): Promise<number> {
  const { promise: enough, resolve } = Promise.withResolvers<undefined>();
  let made = 0;
  const startedAt = performance.now();
  const loop = startLoop(() => {
    if (++made === count) resolve(undefined);
  });
  await enough;
  // Waits for what is under way, and until all of it is written.
  await loop[Symbol.asyncDispose]();
  return made / ((performance.now() - startedAt) / 1000);
}

async function commit(count: number): Promise<Committed[]> {
  const { prefixed } = createIds();
  let onAttempted = () => {};
  await using loop = startLoop(() => onAttempted());
  await loop.idle();
  const committed: Committed[] = [];
  for (let index = 0; index < count; index += 1) {
    const { promise: attempted, resolve } = Promise.withResolvers<undefined>();
    onAttempted = () => resolve(undefined);
    const now = new Date();
    const [id, delivery] = [prefixed('evt_', now.getTime()), prefixed('dlv_', now.getTime())];
    const data = JSON.stringify({ id: 'job_1', notes: BODY }) as JsonText<unknown>;
    const event = { id, kind: 'job.created', createdAt: now.toISOString(), data } as const;
    await engine.transaction(async (transaction) => {
      const options = { mintId: () => delivery, dueAt: now.toISOString() };
      await appendEvents(transaction, IDLE_COMPANY, [event], options);
      committed.push({ delivery, atMs: steadyMs() });
    });
    await attempted;
    await pause(REST_MS + Math.random() * REST_MS);
  }
  return committed;
}

process.on('message', (task: Task) => {
  // A task that fails ends the process, and its parent notices.
  void perform(task).then((result) => process.send?.({ result }));
});
process.once('disconnect', () => process.exit());
