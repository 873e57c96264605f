import type { Test } from 'tap';

import { createCompany } from '../../../../../src/server/backoffice/companies.ts';
import type { Engine } from '../../../../../src/server/store/engines/engine.ts';
import type { DeliveryResult } from '../../../../../src/server/features/webhooks/deliveries/results.ts';

import { STORY_NOW } from '../../../../_server.ts';
import { onEachStore, type Store } from '../../../store/_stores.ts';
import { sealedSecret } from '../../../../_command.ts';

export const DUE_AT = '2026-11-20T12:00:00.000Z';

/** So many deliveries that wait for each webhook of each company. */
type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Runs a test on each engine, over companies whose webhooks have so many deliveries waiting. */
export function onDeliveries(
  title: string,
  counts: Counts,
  body: (t: Test, store: Store) => Promise<void>,
): void {
  onEachStore(title, async (t, store) => {
    await openWithDeliveries(store.engine, counts);
    await body(t, store);
  });
}

/** Creates companies whose webhooks have so many deliveries waiting. */
export async function openWithDeliveries(engine: Engine, counts: Counts): Promise<void> {
  for (const company of Object.keys(counts)) await createCompany(engine, company, {}, STORY_NOW);
  await fillDeliveries(engine, counts);
}

/** Adds a webhook to each company, and as many deliveries of one event as it is to have waiting, and tells workers of them. */
export async function fillDeliveries(engine: Engine, counts: Counts): Promise<void> {
  for (const [company, webhooks] of Object.entries(counts)) {
    const event = `evt_${company}`;
    await engine.run(
      `INSERT INTO events (id, company, kind, created_at, data) VALUES ('${event}', '${company}', 'job.created', '${DUE_AT}', '{"id":"job_1"}')`,
    );
    for (const [webhook, count] of Object.entries(webhooks)) {
      await engine.run(
        `INSERT INTO webhooks (company, id, url, events, secret, created_at)
         VALUES ('${company}', '${webhook}', 'https://hooks.example.com/', '[]', '${sealedSecret(company, webhook)}', '${DUE_AT}')`,
      );
      if (count === 0) continue;
      const [numbers, id] =
        engine.dialect.name === 'sqlite'
          ? [
              `WITH RECURSIVE g (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < ${count})`,
              `printf('%07d', n)`,
            ]
          : [`WITH g AS (SELECT generate_series(1, ${count}) AS n)`, `lpad(CAST(n AS TEXT), 7, '0')`];
      await engine.run(
        `${numbers} INSERT INTO deliveries (company, webhook, id, event, state, due_at)
         SELECT '${company}', '${webhook}', 'dlv_${company}_${webhook}_' || ${id}, '${event}', 'waiting', '${DUE_AT}' FROM g`,
      );
    }
  }
  await engine.transaction((transaction) => engine.dialect.tellWorkers(transaction));
}

/** A result of a leased delivery that was answered with 200. */
export function deliveredResult(
  delivery: Pick<DeliveryResult, 'company' | 'webhook' | 'id' | 'lease'> & { attempt: number },
): DeliveryResult {
  const { company, webhook, id, lease, attempt } = delivery;
  const phases = { dns: 1, connect: 2, tls: 3, firstByte: 4 };
  return {
    ...{ company, webhook, id, lease, state: 'delivered', dueAt: DUE_AT },
    ...{ failureCount: 0, interruptionCount: 0, withheldFor: null },
    attempt: {
      ...{ number: attempt, attemptedAt: DUE_AT, status: 200, error: null, phases },
      ...{ totalMs: 10, nextAttemptAt: null },
    },
  };
}
