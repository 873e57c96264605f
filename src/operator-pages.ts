import { Router } from 'express';

import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Engine } from './store/engine.ts';
import { createWriteProbe } from './store/served-clock.ts';

/** What operators' tools ask: whether the process lives, whether it can serve, and what it counts. */
export function createOperatorPages(options: {
  engine: Engine;
  log: Logger;
  metrics: Metrics;
  now: () => Date;
  isReady: () => boolean;
}): Router {
  const { engine, log, metrics, now, isReady } = options;
  const findAnyCompany = engine.prepare((db) => db.selectFrom('companies').select('id').limit(1));
  const tryToWrite = createWriteProbe(engine, now);
  const router = Router();
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'alive' });
  });
  router.get('/readyz', async (_req, res) => {
    const problem = isReady()
      ? await problemOf(async () => Promise.all([findAnyCompany({}), tryToWrite()]))
      : new Error('The server is stopping.');
    if (problem) log.warn({ err: problem }, 'readiness.refused');
    res.status(problem ? 503 : 200).json({ status: problem ? 'not ready' : 'ready' });
  });
  router.get('/metrics', async (_req, res) => {
    res.type(metrics.contentType).send(await metrics.text());
  });
  return router;
}

async function problemOf(check: () => Promise<unknown>): Promise<unknown> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error;
  }
}
