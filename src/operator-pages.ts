import express, { type ErrorRequestHandler, type Express, Router } from 'express';

import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Engine } from './store/engines/engine.ts';
import { createWriteProbe } from './store/records/served-clock.ts';

export interface ProbeOptions {
  engine: Engine;
  log: Logger;
  now: () => Date;
  isReady: () => boolean;
}

/** The questions of a load balancer: whether the process lives, and whether it can serve. */
export function createProbes({ engine, log, now, isReady }: ProbeOptions): Router {
  const findAnyCompany = engine.prepare((db) => db.selectFrom('companies').select('id').limit(1));
  const tryToWrite = createWriteProbe(engine, now);
  const router = Router();
  router.get(['/healthz', '/readyz'], (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    next();
  });
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'alive' });
  });
  router.get('/readyz', async (_req, res) => {
    const problem = isReady()
      ? await problemOf(async () => Promise.all([findAnyCompany({}), tryToWrite()]))
      : new Error('The server is stopping.');
    // A stop is no trouble.
    if (problem) log[isReady() ? 'warn' : 'info']({ err: problem }, 'readiness.refused');
    res.status(problem ? 503 : 200).json({ status: problem ? 'not ready' : 'ready' });
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

export interface ManagementOptions extends ProbeOptions {
  metrics: Metrics;
}

/** Probes and metrics, for a port that only operators reach. */
export function createManagement({ metrics, ...options }: ManagementOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((_req, res, next) => {
    res.setHeader('X-Content-Type-Options', 'nosniff');
    next();
  });
  app.use(createProbes(options));
  app.get('/metrics', async (_req, res) => {
    res.type(metrics.contentType).send(await metrics.text());
  });
  app.use(((error: unknown, _req, res, _next) => {
    options.log.error({ err: error }, 'management.failed');
    res.status(503).json({ status: 'unavailable' });
  }) satisfies ErrorRequestHandler);
  return app;
}
