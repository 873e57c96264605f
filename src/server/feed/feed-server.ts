import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import { finished } from 'node:stream';

import type { ErrorRequestHandler, RequestHandler } from 'express';

import { sendError } from '../api/answer.ts';
import { errorReply } from '../connections/error-replies.ts';
import { isDecodable, readQuery, refuseForeignBytes } from '../api/parameters.ts';
import { AppError } from '../../errors.ts';
import { createHttpServer, EVERY_ANSWER } from '../connections/http-server.ts';
import type { Logger } from '../process/log.ts';
import { refuseBadHeaders } from '../connections/malformed-requests.ts';
import type { FeedMetrics } from '../process/metrics.ts';
import { createApplication, createProbes, type ProbeOptions } from '../operator-pages.ts';
import { createFeedBackend } from './feed-backend.ts';

export interface FeedServerOptions extends ProbeOptions {
  metrics: FeedMetrics;
  keyPrefix: string;
  /** Returns the portal's base URL, without a path. */
  baseUrl: () => string;
  /** Maximum number of requests that each token may make in a minute. */
  requestsPerMinute: number;
  /** The operator's accent colour for issued documents, as `#rrggbb`; absent for the default. */
  accent?: string | undefined;
}

/** The state of one request to the feed and of its answer, for the log line. */
export interface FeedExchange {
  readonly requestId: string;
  operation?: string;
  token?: string;
  /** Number of changes in the batch, by the status of their answers. */
  counts?: Partial<Record<string, number>>;
  errorCode?: string;
  /** The error that stopped a batch before all of its changes were tried; absent if none did. */
  fault?: unknown;
  /** Releases the request's place among its token's; called when its work is over. */
  leave?: () => void;
}

/** Returns an HTTP server for the feed's own port, not yet listening, with only the feed and the probes. */
export async function createFeedServer(options: FeedServerOptions): Promise<Server> {
  const { log, metrics } = options;
  const app = createApplication();
  app.use(beginExchange(log, metrics));
  app.use(refuseBadHeaders);
  app.use(createProbes(options));
  const backend = await createFeedBackend(options);
  app.use(async (req, res) => {
    const [path = '', query = ''] = req.originalUrl.split(/\?(.*)/s);
    if (!isDecodable(path)) throw new AppError('not_found', 'The escapes of this path are not of UTF-8.');
    refuseForeignBytes(query);
    // HEAD is answered wherever GET is (RFC 9110 section 9.3.2); Node omits the body.
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const request = { method, path, query: readQuery(query), headers: {} };
    const exchange = exchangeOf(res.locals);
    try {
      await backend.handleRequest(request, exchange, req, res);
    } finally {
      exchange.leave?.();
    }
  });
  app.use(answerError(log));
  return createHttpServer(app, () => EVERY_ANSWER);
}

function exchangeOf(locals: Record<string, unknown>): FeedExchange {
  return locals.exchange as FeedExchange;
}

/** Returns a handler that gives each request an id, and logs and counts the request when it ends. */
function beginExchange(log: Logger, metrics: FeedMetrics): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    const exchange: FeedExchange = { requestId: randomUUID() };
    res.locals.exchange = exchange;
    res.setHeader('X-Request-Id', exchange.requestId);
    res.once('close', () => {
      const ms = performance.now() - startedAt;
      const { operation = 'none', token, counts, errorCode: code, requestId, fault } = exchange;
      if (fault !== undefined) log.error({ requestId, err: fault }, 'feed.failed');
      const status = res.headersSent ? res.statusCode : undefined;
      if (status !== undefined) metrics.requestAnswered(operation, status, ms / 1000);
      log.info(
        {
          requestId,
          method: req.method,
          operation,
          status,
          code,
          token,
          ...counts,
          ms: Math.round(ms * 100) / 100,
        },
        'feed.answered',
      );
    });
    next();
  };
}

function answerError(log: Logger): ErrorRequestHandler {
  // Express recognises error handlers by their four parameters.
  return (error: unknown, req, res, _next) => {
    const exchange = exchangeOf(res.locals);
    const reply = errorReply(error);
    exchange.errorCode = reply.code;
    const cause = error instanceof AppError ? error.cause : error;
    if (cause !== undefined) log.error({ requestId: exchange.requestId, err: cause }, 'feed.failed');
    const answer = () => {
      if (res.headersSent) res.destroy();
      else sendError(req, res, reply);
    };
    // Discards the rest of a refused body before answering. Closing the connection earlier would reset it, so clients that
    // finish sending before they read, as Python's do, would never see the error.
    finished(req, answer);
    req.resume();
  };
}
