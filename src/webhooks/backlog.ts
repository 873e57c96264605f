import type { Backlog } from '../metrics.ts';
import { createDeliveryQueue } from '../store/deliveries.ts';
import { createWaitingWalk } from '../store/deliveries-walk.ts';
import type { Engine } from '../store/engine.ts';

const COUNT_MAX = 10_000;
/** The longest wait is looked for among so many webhooks: each costs a look into the index. */
const WEBHOOKS_MAX = 200;

/** Builds what tells how much waits to be sent, at a bounded cost however much that is. */
export function createBacklog(engine: Engine, now: () => Date): () => Promise<Backlog> {
  const { countWaiting } = createDeliveryQueue(engine);
  const walk = createWaitingWalk(engine);
  return async () => {
    const after = { company: '', webhook: '' };
    const { found } = await walk({
      after,
      webhooksMax: WEBHOOKS_MAX,
      perWebhook: 1,
      busy: [],
      busyCompanies: [],
    });
    const oldestMs = Math.min(now().getTime(), ...found.map(({ dueAt }) => Date.parse(dueAt)));
    return {
      waitingCount: await countWaiting(COUNT_MAX),
      oldestSeconds: (now().getTime() - oldestMs) / 1000,
    };
  };
}
