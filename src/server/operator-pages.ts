import type { Server } from 'node:http';
import { isIP } from 'node:net';

import express, { type ErrorRequestHandler, Router } from 'express';

import { sendError } from './api/answer.ts';
import { errorReply } from './connections/error-replies.ts';
import { AppError, quote, unavailable } from '../errors.ts';
import { createHttpServer, EVERY_ANSWER } from './connections/http-server.ts';
import type { Logger } from './process/log.ts';
import { refuseBadHeaders } from './connections/malformed-requests.ts';
import type { Metrics } from './process/metrics.ts';
import type { Engine } from './store/engines/engine.ts';
import { machinesAway } from './store/machines.ts';
import { createWriteProbe } from './store/records/served-clock.ts';

export interface ProbeOptions {
  engine: Engine;
  log: Logger;
  now: () => Date;
  /** Returns false after the server is told to stop, so that a load balancer sends requests elsewhere. */
  isReady: () => boolean;
  /** Name of a part that isn't working although the server is ready; undefined if all parts work. */
  impairment?: string | undefined;
}

/** Creates the probes for a load balancer: `/healthz` (liveness) and `/readyz` (readiness). */
export function createProbes({ engine, log, now, isReady, impairment }: ProbeOptions): Router {
  const tryToWrite = createWriteProbe(engine, now);
  const router = Router({ caseSensitive: true, strict: true });
  router.get(['/healthz', '/readyz'], (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    next();
  });
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'alive' });
  });
  router.get('/readyz', async (_req, res) => {
    const check = async () => Promise.all([engine.answers(), tryToWrite()]);
    const problem = isReady() ? await problemOf(check) : new Error('The server is stopping.');
    // A planned stop isn't a fault.
    if (problem) log[isReady() ? 'warn' : 'info']({ err: problem }, 'readiness.refused');
    res
      .status(problem ? 503 : 200)
      .json({ status: problem ? 'not ready' : 'ready', impairment: impairment ?? machinesAway(engine) });
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
  /** Host names accepted for this server, in addition to IP addresses and names without a dot. */
  managementNames: readonly string[];
}

/** Creates the server for probes and metrics, not yet listening, on a port that only operators can reach. */
export function createManagement({ metrics, managementNames, ...options }: ManagementOptions): Server {
  const app = createApplication();
  app.use(refuseBadHeaders);
  app.use(createProbes(options));
  app.get('/metrics', async (req, res) => {
    refuseForeignName(req.headers.host, managementNames);
    res.type(metrics.contentType).send(await metrics.text());
  });
  app.use(() => {
    throw new AppError('not_found', 'There is nothing at this path: /healthz, /readyz and /metrics are.');
  });
  app.use(((error: unknown, req, res, _next) => {
    const reply = errorReply(error);
    if (reply.status === 503) options.log.error({ err: error }, 'management.failed');
    sendError(req, res, reply);
  }) satisfies ErrorRequestHandler);
  return createHttpServer(app, () => EVERY_ANSWER);
}

/** Creates a stand-in server, not yet listening, for while the database is down: all but the probes answer `unavailable`. */
export function createUnready(): Server {
  const app = createApplication();
  app.get('/healthz', (_req, res) => void res.json({ status: 'alive' }));
  app.get('/readyz', (_req, res) => void res.status(503).json({ status: 'not ready' }));
  app.use((req, res) => void sendError(req, res, errorReply(unavailable())));
  return createHttpServer(app, () => EVERY_ANSWER);
}

/** Creates an Express application whose responses must not be cached. */
export function createApplication(): express.Express {
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  app.use((_req, res, next) => {
    res.set({ ...EVERY_ANSWER, 'Cache-Control': 'no-store' });
    next();
  });
  return app;
}

/**
 * Refuses a Host header with a name that could belong to somebody else. They could point it at this machine, so that their
 * page in an operator's browser could read the response (DNS rebinding).
 */
function refuseForeignName(host = '', names: readonly string[]): void {
  const name = host.toLowerCase().replace(/:\d*$/, '');
  const isAddress = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  if (!isAddress && name.includes('.') && !names.includes(name))
    throw new AppError(
      'invalid_request',
      `This server has no name ${quote(name)}: add it to MANAGEMENT_NAMES.`,
    );
}
