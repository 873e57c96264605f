import { setImmediate } from 'node:timers/promises';

import type { Backlog } from '../../../process/metrics.ts';
import { countWaiting } from './lease.ts';
import { findWaiting } from './waiting-deliveries.ts';
import type { WebhookRef } from './delivery-keys.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { countFailing } from '../stored-webhooks.ts';

const COUNT_MAX = 10_000;
/** Maximum number of webhooks whose oldest delivery is looked up; each costs an index lookup. */
const WEBHOOKS_MAX = 10_000;
/** Number of webhooks looked up before the event loop gets a turn. */
const WEBHOOKS_AT_ONCE = 100;

/** Builds the function that measures the backlog, at a bounded cost. */
export function createBacklog(engine: Engine, now: () => Date): () => Promise<Backlog> {
  const options = { webhooksMax: WEBHOOKS_AT_ONCE, perWebhook: 1, busy: [], busyCompanies: [] };
  return async () => {
    let oldestMs = now().getTime();
    let after: WebhookRef | undefined = { company: '', webhook: '' };
    for (let count = 0; after && count < WEBHOOKS_MAX; count += WEBHOOKS_AT_ONCE) {
      const { found, last } = await findWaiting(engine, { ...options, after });
      oldestMs = Math.min(oldestMs, ...found.map(({ dueAt }) => Date.parse(dueAt)));
      after = last;
      if (last) await setImmediate();
    }
    return {
      waitingCount: await countWaiting(engine, COUNT_MAX),
      oldestSeconds: (now().getTime() - oldestMs) / 1000,
      failingCount: await countFailing(engine),
    };
  };
}
