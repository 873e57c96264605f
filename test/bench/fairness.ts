import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createCompany } from '../../src/access/companies.ts';
import { createLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { type Engine, openEngine } from '../../src/store/engine.ts';
import { migrate } from '../../src/store/migrate.ts';
import { DeliveryLoop } from '../../src/webhooks/delivery-loop.ts';
import { createSecretBox } from '../../src/webhooks/secrets.ts';
import { createSender, type Sender } from '../../src/webhooks/sender.ts';
import { createDatabase, startPostgres } from '../_postgres.ts';
import type { Bench } from './_bench.ts';
import { addDeliveries, addWebhooks } from './_delivery-rows.ts';
import { startReceiver } from './_receiver-process.ts';
import { aligned, quantile, takeTurns } from './_rounds.ts';
import { SECRET_KEY } from '../_command.ts';
import type { ReceiverPlace } from './_webhook-receiver.ts';

const ROUNDS = Number(process.env.FAIRNESS_ROUNDS ?? 3);
const HEALTHY = 5_000;
const SICK_EACH = 256;
/** They come first in every order. */
const SICK = ['a-dead', 'a-drip'] as const;
const SLOTS = 64;
const AT = '2026-09-10T00:00:00.000Z';
/** Attempts of the sick that are waited for: all that were begun first. */
const SICK_ENDED = 8;

/** The loop as it is, to receivers of which two answer nothing or never come to an end. */
export const fairness: Bench = {
  about: '5,000 deliveries behind 256 to a dead receiver and 256 to a dripping one, and without them',
  run: async () => {
    const figures = await benchFairness();
    const header = ['ms until 95 % of 5,000 arrived, median of rounds', 'alone', 'behind 512', 'ratio'];
    const rows = figures.map(({ engine, alone, behind, heldMs }) => [
      [engine, alone.toFixed(0), behind.toFixed(0), (behind / alone).toFixed(2)],
      [`  longest time that a sick one had its slot: ${(heldMs / 1000).toFixed(2)} s`, '', '', ''],
    ]);
    return { figures, text: aligned([header, ...rows.flat()]) };
  },
};

interface Figures {
  engine: string;
  alone: number;
  behind: number;
  heldMs: number;
}

async function benchFairness(): Promise<Figures[]> {
  await using receiver = await startReceiver();
  await using server = await startPostgres({ isDurable: true });
  const figures: Figures[] = [];
  for (const engine of ['sqlite', 'postgres']) {
    const heldMs: number[] = [];
    const round = (isBehind: boolean) => async () => {
      const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
      try {
        const url =
          engine === 'sqlite' ? `sqlite:${join(folder, 'bench.db')}` : await createDatabase(server.url);
        const { p95Ms, sickMs } = await deliverBehind(url, receiver.place, isBehind);
        heldMs.push(...sickMs);
        return p95Ms;
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    };
    const times = await takeTurns([round(false), round(true)], ROUNDS);
    const [alone = 0, behind = 0] = times.map((some) => quantile(some, 0.5));
    figures.push({ engine, alone, behind, heldMs: Math.max(...heldMs) });
  }
  return figures;
}

/** Delivers the healthy ones of a new database, and waits for the first of the sick if there are any. */
async function deliverBehind(databaseUrl: string, place: ReceiverPlace, isBehind: boolean) {
  await using engine = await openEngine(databaseUrl);
  await migrate(engine);
  await addWebhooks(engine);
  await addDeliveries(engine, { connections: 'kept', first: 1, count: HEALTHY });
  if (isBehind) for (const company of SICK) await addSick(engine, company);
  await using sender = createSender({
    resolve: async () => ['127.0.0.1'],
    isCallable: (address) => address === '127.0.0.1',
    ...place,
  });
  const startedAt = performance.now();
  const healthyMs: number[] = [];
  const sickMs: number[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<undefined>();
  const timing: Pick<Sender, 'send'> = {
    async send(request) {
      const begunAt = performance.now();
      const result = await sender.send(request);
      const now = performance.now();
      if (result.status === 200) healthyMs.push(now - startedAt);
      else sickMs.push(now - begunAt);
      if (healthyMs.length >= HEALTHY && (!isBehind || sickMs.length >= SICK_ENDED)) resolve(undefined);
      return result;
    },
  };
  const loop = startLoop(engine, { ...sender, ...timing });
  await enough;
  await loop[Symbol.asyncDispose]();
  return { p95Ms: quantile(healthyMs, 0.95), sickMs };
}

function startLoop(engine: Engine, sender: Sender): DeliveryLoop {
  return new DeliveryLoop({
    ...{ engine, sender, secrets: createSecretBox(SECRET_KEY), serviceName: 'Fieldledger' },
    ...{ log: createLogger('silent'), metrics: createMetrics().deliveries, now: () => new Date() },
    concurrencyMax: SLOTS,
  });
}

async function addSick(engine: Engine, company: (typeof SICK)[number]): Promise<void> {
  await createCompany(engine, company, {}, new Date());
  const path = company.slice('a-'.length);
  await engine.run(
    `INSERT INTO events (id, company, kind, created_at, data) VALUES ('evt_${company}', '${company}', 'job.created', '${AT}', '{}')`,
  );
  await engine.run(
    `INSERT INTO webhooks (company, id, url, events, secret, created_at)
     VALUES ('${company}', 'whk_a', 'https://${path}.example.net/${path}', '[]', 'whsec_x', '${AT}')`,
  );
  await engine.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${SICK_EACH})
     INSERT INTO deliveries (company, webhook, id, event, state, due_at)
     SELECT '${company}', 'whk_a', 'dlv_' || (1000 + n), 'evt_${company}', 'waiting', '${AT}' FROM numbers`,
  );
}
