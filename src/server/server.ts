import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';

import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import proxyAddr from 'proxy-addr';

import { sendError } from './api/answer.ts';
import { type ApiOptions, createApi } from './api/api.ts';
import { errorReply } from './connections/error-replies.ts';
import { type Exchange, exchangeOf } from './connections/exchange.ts';
import { AppError } from '../errors.ts';
import { createHttpServer, EVERY_ANSWER } from './connections/http-server.ts';
import type { Logger } from './process/log.ts';
import { refuseBadHeaders } from './connections/malformed-requests.ts';
import type { Metrics } from './process/metrics.ts';
import { createProbes, type ProbeOptions } from './operator-pages.ts';
import type { PortalSettings } from './views/services.ts';
import { createPortal, PORTAL_PATH } from './portal/portal.ts';
import { createPublication, type PublicationOptions } from './publication/publication.ts';
import type { KeyUsage } from './features/usage/key-usage.ts';
import { traceIdIn } from '../contract/trace-context.ts';

export interface ServerOptions extends ApiOptions, ProbeOptions, PublicationOptions {
  metrics: Metrics;
  usage: KeyUsage;
  trustedProxies: number;
  hstsSubdomains: boolean;
  /** Settings of the portal; undefined for a server without it. */
  portal: PortalSettings | undefined;
}

const YEAR_SECONDS = 31_536_000;

/** Creates the HTTP server, not yet listening. Every request passes through the middleware below, in order. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const everyAnswer = headersOfEveryAnswer(options);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  app.set('query parser', false);
  app.use(beginExchange(options, everyAnswer));
  app.use(refuseBadHeaders);
  app.use(createProbes(options));
  app.use(createPublication(options));
  app.use('/api', await createApi(options));
  if (options.portal) app.use(PORTAL_PATH, createPortal({ ...options, ...options.portal }));
  app.use(refuseUnknownPath);
  app.use(answerError(options.log));

  return createHttpServer(app, everyAnswer);
}

/** Returns the headers of every response. With an https base URL, they make browsers use only https (RFC 6797). */
function headersOfEveryAnswer({ baseUrl, hstsSubdomains }: ServerOptions): () => Record<string, string> {
  let headers: Record<string, string> | undefined;
  return () => (headers ??= { ...EVERY_ANSWER, ...strictTransport(baseUrl(), hstsSubdomains) });
}

function strictTransport(baseUrl: string, hasSubdomains: boolean): Record<string, string> {
  const value = `max-age=${YEAR_SECONDS}${hasSubdomains ? '; includeSubDomains' : ''}`;
  return baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': value } : {};
}

/** Assigns each request an id, and logs and counts it when it ends. */
function beginExchange(
  { log, metrics, usage, isReady, trustedProxies }: ServerOptions,
  everyAnswer: () => Record<string, string>,
): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    const exchange: Exchange = {
      requestId: randomUUID(),
      authorization: req.headers.authorization,
      traceId: traceIdIn(req.headers.traceparent),
      address: addressOf(req, trustedProxies),
    };
    res.locals.exchange = exchange;
    res.setHeader('X-Request-Id', exchange.requestId);
    for (const [name, value] of Object.entries(everyAnswer())) res.setHeader(name, value);
    // Only the portal reads bodies. Elsewhere, the connection is closed instead of reading a body of any length.
    const hasBody =
      req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined;
    if (hasBody && !req.url.startsWith(PORTAL_PATH)) res.setHeader('Connection', 'close');
    // A stopping server answers requests in progress, but accepts no more on their connections.
    if (!isReady()) res.shouldKeepAlive = false;
    res.once('close', () => {
      const elapsedMs = performance.now() - startedAt;
      const operation = exchange.operation?.operationId ?? (exchange.page === undefined ? 'none' : 'portal');
      // A client that disconnected before its response began received none.
      if (res.headersSent) {
        metrics.requestAnswered(operation, res.statusCode, elapsedMs / 1000);
        const { caller, endedKey, operation: asked, requestId: id, errorCode: code = null } = exchange;
        if (caller) usage.count(caller.company, caller.keyId, code === 'rate_limited');
        const { company, keyId } = caller ?? endedKey ?? {};
        const answer = { id, method: req.method, status: res.statusCode, code, ms: elapsedMs };
        if (company && keyId && asked) usage.note({ company, keyId, operation: asked.path, ...answer });
      }
      log.info(requestLine(req, res, exchange, elapsedMs), 'request.answered');
    });
    next();
  };
}

function addressOf(req: IncomingMessage, trustedProxies: number): string {
  const address =
    trustedProxies === 0 ? req.socket.remoteAddress : proxyAddr(req, (_address, hop) => hop < trustedProxies);
  return address ?? 'unknown';
}

function requestLine(req: IncomingMessage, res: Response, exchange: Exchange, elapsedMs: number) {
  const { operation, caller, visitor } = exchange;
  return {
    requestId: exchange.requestId,
    traceId: exchange.traceId,
    method: req.method,
    // Only templates and names, because a client could have put its key in a path or value.
    path: pathOf(exchange),
    operation: operation?.operationId,
    status: res.headersSent ? res.statusCode : undefined,
    code: exchange.errorCode,
    // From the API key, or from the person signed in to the portal.
    company: caller?.company ?? visitor?.company,
    keyId: caller?.keyId,
    administrator: visitor?.administrator,
    address: exchange.address,
    bytes: exchange.bodyBytes ?? (req.method === 'HEAD' ? 0 : Number(res.getHeader('Content-Length') ?? 0)),
    ms: Math.round(elapsedMs * 100) / 100,
    aborted: res.writableFinished ? undefined : true,
  };
}

function pathOf({ operation, page }: Exchange): string | undefined {
  return operation?.path ?? page;
}

const refuseUnknownPath: RequestHandler = () => {
  throw new AppError('not_found', 'There is nothing at this path; the description of the API is at /.');
};

/** Creates the error handler, the only place that turns an error into a response. */
function answerError(log: Logger): ErrorRequestHandler {
  // Express recognises error handlers by their four parameters.
  return (error: unknown, req, res, _next) => {
    const exchange = exchangeOf(res);
    const reply = errorReply(error);
    exchange.errorCode = reply.code;
    const cause = error instanceof AppError ? error.cause : error;
    if (cause !== undefined) log.error({ requestId: exchange.requestId, err: cause }, 'request.failed');
    if (res.headersSent) res.destroy();
    else exchange.bodyBytes = sendError(req, res, reply);
  };
}
