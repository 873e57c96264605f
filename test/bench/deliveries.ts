import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { JsonText } from '../../src/contract/json-text.ts';
import { createCompany } from '../../src/server/backoffice/companies.ts';
import { createLogger } from '../../src/server/process/log.ts';
import { createMetrics } from '../../src/server/process/metrics.ts';
import { appendEvents } from '../../src/server/store/records/events.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { DeliveryLoop } from '../../src/server/features/webhooks/deliveries/delivery-loop.ts';
import { createSecretBox } from '../../src/server/process/secret-box.ts';
import { createWebhookSender, type Sender } from '../../src/server/sending/sender.ts';
import { SECRET_KEY } from '../_command.ts';
import { engineNames, openTestDatabase } from '../_server.ts';
import type { ReceiverPlace } from './_receiver.ts';
import { aligned, compareRates, quantile, rateOf, whole } from './_rounds.ts';
import { highestMemory, memoryOf } from './_servers.ts';

const ROUNDS = Number(process.env.DELIVERIES_ROUNDS ?? 3);
const COUNT = Number(process.env.DELIVERIES_COUNT ?? 10_000);
/** Deliveries of a round: over connections that are kept, and over a new one each. */
const COUNTS = { kept: COUNT, close: COUNT / 5 };
type Connections = keyof typeof COUNTS;
const EVENTS = Number(process.env.DELIVERIES_EVENTS ?? 300);
const BACKLOG = Number(process.env.DELIVERIES_BACKLOG ?? 100_000);
/** Of a backlog so many are delivered; and as many again when there is none, to compare with. */
const DRAINED = COUNT * 2;

/** The deliveries go to 32 webhooks, each at a host of its own, so that no webhook's limit is the limit. */
const COMPANIES = 8;
const WEBHOOKS_EACH = 4;
/** The company of the webhook that hears of what is committed. */
const HEARING = 'hearing';
const AT_ONCE = 64;
/** Makes a body of 1 kB, beside what stands around a record. */
const DATA = JSON.stringify({ id: 'job_1', notes: 'x'.repeat(800) }) as JsonText<unknown>;
/** Rows of one INSERT, which the database makes by itself. */
const ROWS_MAX = 100_000;

interface Side {
  engine: Engine;
  sender: Sender;
  next: number;
}

/** Deliveries a second beside attempts alone, the time from a commit to its answer, and a backlog. */
export async function benchDeliveries(): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const receiver = fork(join(import.meta.dirname, '_receiver.ts'));
  stack.defer(() => receiver.disconnect());
  const [place] = (await once(receiver, 'message')) as [ReceiverPlace];
  const sender = createWebhookSender({
    resolve: async () => ['127.0.0.1'],
    isCallable: (address) => address === '127.0.0.1',
    ...place,
  });
  stack.use(sender);
  const sides: Side[] = [];
  for (const name of engineNames) {
    const { engine } = stack.use(await openTestDatabase(name));
    await addWebhooks(engine);
    sides.push({ engine, sender, next: 0 });
  }
  const tables: string[] = [];
  for (const connections of ['kept', 'close'] as const) {
    const alone = { name: 'the sender alone', rate: () => sendAlone(sender, connections) };
    const loops = sides.map((side) => ({
      name: side.engine.dialect.name,
      rate: () => deliverNew(side, connections, COUNTS[connections]),
    }));
    const unit = connections === 'kept' ? 'connections are kept' : 'a new connection each';
    tables.push(await compareRates(`${unit}: deliveries`, [alone, ...loops], ROUNDS));
  }
  const rowsOf = async (measure: (side: Side) => Promise<string[]>) => {
    const rows: string[][] = [];
    for (const side of sides) rows.push([side.engine.dialect.name, ...(await measure(side))]);
    return rows;
  };
  const heads = [`ms from commit to answer, ${EVENTS} events`, 'p50', 'p99', 'longest'];
  tables.push(aligned([heads, ...(await rowsOf(measureLatency))]));
  const dueHeads = [`${whole(BACKLOG)} deliveries are due`, 'more MB', 'deliveries/s without', 'with them'];
  tables.push(aligned([dueHeads, ...(await rowsOf(measureBacklog))]));
  return tables.join('\n\n');
}

/** Each of so many at once makes one attempt after the other, without store and signature. */
async function sendAlone(sender: Sender, connections: Connections): Promise<number> {
  const count = COUNTS[connections];
  let made = 0;
  const sendSome = async () => {
    while (made < count) {
      made += 1;
      const url = `https://h${made % (COMPANIES * WEBHOOKS_EACH)}.example.net/${connections}`;
      const { status, error } = await sender.send({ url, headers: {}, body: DATA });
      if (status !== 200) throw new Error(`An attempt came to ${status ?? error}.`);
    }
  };
  return rateOf(count, async () => Promise.all(Array.from({ length: AT_ONCE }, sendSome)));
}

function startLoop({ engine, sender }: Side, onDelivered: () => void): DeliveryLoop {
  const metrics = createMetrics().deliveries;
  return new DeliveryLoop({
    engine,
    sender,
    secrets: createSecretBox(SECRET_KEY),
    serviceName: 'Fieldledger',
    log: createLogger('silent'),
    metrics: {
      ...metrics,
      attempted(outcome, seconds) {
        metrics.attempted(outcome, seconds);
        if (outcome !== 'delivered') throw new Error(`A delivery became ${outcome}.`);
        onDelivered();
      },
    },
    now: () => new Date(),
    concurrencyMax: AT_ONCE,
  });
}

/** Runs a loop until so many deliveries are made and written. @returns how many in a second. */
async function deliver(side: Side, count: number): Promise<number> {
  const { promise: enough, resolve } = Promise.withResolvers<undefined>();
  let made = 0;
  return rateOf(count, async () => {
    const loop = startLoop(side, () => {
      if (++made === count) resolve(undefined);
    });
    await enough;
    // Waits for what is under way, and until all of it is written.
    await loop[Symbol.asyncDispose]();
  });
}

async function deliverNew(side: Side, connections: Connections, count: number): Promise<number> {
  await addDeliveries(side, connections, count);
  return deliver(side, count);
}

/** Commits events one by one beside a loop that has nothing to do, and waits for each to be delivered. */
async function measureLatency(side: Side): Promise<string[]> {
  let onDelivered = () => {};
  await using loop = startLoop(side, () => onDelivered());
  await loop.idle();
  const times: number[] = [];
  for (let index = 0; index < EVENTS; index += 1) {
    const { promise: delivered, resolve } = Promise.withResolvers<undefined>();
    onDelivered = () => resolve(undefined);
    const createdAt = new Date().toISOString();
    const event = { id: `evt_${index}`, kind: 'job.created', createdAt, data: DATA } as const;
    let startedAt = 0;
    await side.engine.transaction(async (transaction) => {
      const options = { mintId: () => `dlv_${index}`, dueAt: createdAt };
      await appendEvents(transaction, HEARING, [event], options);
      startedAt = performance.now();
    });
    await delivered;
    times.push(performance.now() - startedAt);
    // Written, and the loop sleeps again.
    await loop.idle();
  }
  return [0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1));
}

async function measureBacklog(side: Side): Promise<string[]> {
  const { engine } = side;
  const alone = await deliverNew(side, 'kept', DRAINED);
  await addDeliveries(side, 'kept', BACKLOG);
  // A backlog grows over hours; written at once, it would keep PostgreSQL busy with it meanwhile.
  if (engine.dialect.name === 'postgres')
    for (const step of ['VACUUM ANALYZE deliveries', 'CHECKPOINT']) await engine.run(step);
  const before = memoryOf(process.pid);
  let draining = 0;
  const highest = await highestMemory(process.pid, async () => {
    draining = await deliver(side, DRAINED);
  });
  return [highest.own - before.own, alone, draining].map(whole);
}

/** Makes companies with webhooks for both kinds of connections, and one event of each. */
async function addWebhooks(engine: Engine): Promise<void> {
  const now = new Date();
  const created_at = now.toISOString();
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
  for (let index = 0; index < COMPANIES; index += 1) {
    const company = `c${index}`;
    await createCompany(engine, company, {}, now);
    const webhooks = Array.from({ length: WEBHOOKS_EACH }, (_, place) =>
      (['kept', 'close'] as const).map((connections) => {
        const url = `https://h${index * WEBHOOKS_EACH + place}.example.net/${connections}`;
        return { company, id: `whk_${connections}_${place}`, url, events: '[]', secret, created_at };
      }),
    ).flat();
    const event = { id: `evt_${company}`, company, kind: 'job.created', created_at, data: DATA };
    await engine.transaction(async (transaction) => {
      await transaction.insertInto('webhooks').values(webhooks).execute();
      await transaction.insertInto('events').values(event).execute();
    });
  }
  await createCompany(engine, HEARING, {}, now);
  const url = 'https://h0.example.net/kept';
  const webhook = { company: HEARING, id: 'whk', url, events: '["job.created"]', secret, created_at };
  await engine.transaction((transaction) => transaction.insertInto('webhooks').values(webhook).execute());
}

/** Adds deliveries that are due, spread over the webhooks. */
async function addDeliveries(side: Side, connections: Connections, count: number): Promise<void> {
  const end = side.next + count;
  for (let start = side.next; start < end; start += ROWS_MAX) {
    const last = Math.min(start + ROWS_MAX, end) - 1;
    await side.engine.run(`
      WITH RECURSIVE numbers (n) AS (SELECT ${start} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
      INSERT INTO deliveries (company, webhook, id, event, state, due_at)
      SELECT 'c' || (n % ${COMPANIES}), 'whk_${connections}_' || (n / ${COMPANIES} % ${WEBHOOKS_EACH}),
        'dlv_00000000-0000-7000-8000-' || (100000000000 + n), 'evt_c' || (n % ${COMPANIES}), 'waiting',
        '2026-01-01T00:00:00.' || (100 + n % 900) || 'Z'
      FROM numbers`);
  }
  side.next = end;
}
