import { randomUUID } from 'node:crypto';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';

import express, { type Express, type Request, type Response } from 'express';
import proxyAddr from 'proxy-addr';

import { sendError } from './api/answer.ts';
import { createApi } from './api/api.ts';
import { errorReply } from './api/error-replies.ts';
import type { Exchange } from './api/exchange.ts';
import { AppError } from './errors.ts';
import type { Documents } from './invoice-pdf/documents.ts';
import type { Logger } from './log.ts';
import { problemOfHeaders, refuseMalformed, refuseRaw } from './malformed-requests.ts';
import type { Metrics } from './metrics.ts';
import { createOperatorPages } from './operator-pages.ts';
import type { PortalSettings } from './portal/options.ts';
import { createPortal, PORTAL_PATH } from './portal/portal.ts';
import { createPublication } from './publication.ts';
import type { Engine } from './store/engine.ts';
import type { KeyUsage } from './store/key-usage.ts';

export interface ServerOptions {
  engine: Engine;
  documents: Pick<Documents, 'find'>;
  log: Logger;
  metrics: Metrics;
  usage: KeyUsage;
  now: () => Date;
  /** The address that integrators use; asked once the server listens. */
  baseUrl: () => string;
  /** Where integrators get help; undefined for that address too. */
  supportUrl: string | undefined;
  serviceName: string;
  keyPrefix: string;
  rateLimitPerMinute: number;
  wrongKeysPerMinute: number;
  windowSeconds?: number;
  trustedProxies: number;
  /** Undefined for a server without the portal. */
  portal: PortalSettings | undefined;
  /** False once the server has been told to stop: a load balancer then sends its requests elsewhere. */
  isReady: () => boolean;
}

const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 30_000;
/** How often Node looks for requests that take longer: its own half minute would let them take three times as long. */
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the idle time of common load balancers, so that it is they who close a connection. */
const KEEP_ALIVE_MS = 65_000;
const YEAR_SECONDS = 31_536_000;
/** The meaning of the parser's errors to a client. */
const MALFORMED: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The request is not well-formed: its headers are larger than 16 kB.',
  ERR_HTTP_REQUEST_TIMEOUT: `The request must be complete within ${REQUEST_MS_MAX / 1000} seconds.`,
};
const API_PATH = /^\/api(?:[/?#]|$)/i;

/** Creates the HTTP server, not yet listening. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const api = await createApi(options);
  const pages = createPages(options);
  const everyAnswer = headersOfEveryAnswer(options.baseUrl);
  const latest = new WeakMap<Socket, ServerResponse>();
  const answer: RequestListener = (req, res) => {
    req.url = originForm(req.url ?? '/');
    latest.set(req.socket, res);
    const exchange = beginExchange(req, res, everyAnswer(), options);
    const fail = (error: unknown) => answerError(req, res, exchange, error, options.log);
    const problem = problemOfHeaders(req);
    if (problem !== undefined) {
      fail(new AppError('invalid_request', `The request is not well-formed: ${problem}`));
    } else if (API_PATH.test(req.url)) {
      api(req, res, exchange).catch(fail);
    } else {
      for (const [name, value] of Object.entries(exchange.headers)) res.setHeader(name, value);
      const reply = Object.assign(res as Response, { locals: { exchange } });
      pages(req as Request, reply, (error: unknown) => fail(error ?? unknownPath()));
    }
  };
  const server = createHttpServer(
    {
      requestTimeout: REQUEST_MS_MAX,
      headersTimeout: HEADERS_MS_MAX,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Node would answer a request without a Host with a bare 400, and not with an error's body.
      requireHostHeader: false,
    },
    answer,
  );
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const message = MALFORMED[error.code ?? ''] ?? 'The request is not well-formed.';
    const refusal = { status: 400, code: 'invalid_request', message } as const;
    refuseMalformed(socket, latest.get(socket), refusal, everyAnswer());
  });
  // Without a listener Node answers an unknown expectation with a bare 417; the API has no use for a body anyway.
  server.on('checkExpectation', answer);
  server.on('connect', (_req, socket: Socket) => {
    // Node hands the socket over: without a listener, a client that resets it would end the process.
    socket.on('error', () => socket.destroy());
    const message = 'This path answers GET and HEAD, not CONNECT.';
    refuseRaw(socket, { status: 405, code: 'method_not_allowed', message }, everyAnswer());
  });
  return server;
}

/**
 * Everything beside the API, for people and for operators. The API itself answers without Express: its way to a handler
 * costs more than the look-up of a record.
 */
function createPages(options: ServerOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use(createOperatorPages(options));
  app.use(createPublication(options));
  if (options.portal) app.use(PORTAL_PATH, createPortal({ ...options, ...options.portal }));
  return app;
}

function unknownPath(): AppError {
  return new AppError('not_found', 'There is nothing at this path; the description of the API is at /.');
}

/**
 * A request's target as a path with its query. Clients may also send it with scheme and host (RFC 9112 section 3.2.2),
 * which say nothing here; whatever else a target can be, such as `*`, is no path of ours.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const [, path] = /^https?:\/\/[^/?#]*(.*)$/is.exec(target) ?? [];
  if (path === undefined) return '/*';
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * What each answer carries, whoever makes it: a browser is not to guess its type, and keeps to https (RFC 6797) where
 * integrators and administrators are told an https address.
 */
function headersOfEveryAnswer(baseUrl: () => string): () => Record<string, string> {
  let headers: Record<string, string> | undefined;
  // The address is known once the server listens.
  return () => (headers ??= { 'X-Content-Type-Options': 'nosniff', ...strictTransport(baseUrl()) });
}

function strictTransport(baseUrl: string): Record<string, string> {
  return baseUrl.startsWith('https:') ? { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` } : {};
}

/** Gives each request its id, and one log line and one count when it is over. */
function beginExchange(
  req: IncomingMessage,
  res: ServerResponse,
  everyAnswer: Record<string, string>,
  { log, metrics, usage, isReady, trustedProxies }: ServerOptions,
): Exchange {
  // A server that stops answers what is under way, and asks for no more on that connection.
  if (!isReady()) res.shouldKeepAlive = false;
  const startedAt = performance.now();
  const requestId = randomUUID();
  const exchange: Exchange = {
    requestId,
    authorization: req.headers.authorization,
    address: addressOf(req, trustedProxies),
    headers: { 'X-Request-Id': requestId, ...everyAnswer },
  };
  // Only forms of the portal are read; elsewhere the connection ends rather than read a body of any length.
  const hasBody =
    req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined;
  if (hasBody && !req.url?.startsWith(PORTAL_PATH)) exchange.headers.Connection = 'close';
  res.once('close', () => {
    const elapsedMs = performance.now() - startedAt;
    const operation = exchange.operation?.operationId ?? (exchange.page === undefined ? 'none' : 'portal');
    // A client that went away before its answer began has got none.
    if (res.headersSent) {
      metrics.requestAnswered(operation, res.statusCode, elapsedMs / 1000);
      const { caller, errorCode } = exchange;
      if (caller) usage.count(caller.company, caller.keyId, errorCode === 'rate_limited');
    }
    log.line(requestLine(req, res, exchange, elapsedMs), 'request.answered');
  });
  return exchange;
}

/** The client's address, as far as proxies are trusted to tell it. */
function addressOf(req: IncomingMessage, trustedProxies: number): string {
  const address =
    trustedProxies === 0 ? req.socket.remoteAddress : proxyAddr(req, (_address, hop) => hop < trustedProxies);
  return address ?? 'unknown';
}

function requestLine(req: IncomingMessage, res: ServerResponse, exchange: Exchange, elapsedMs: number) {
  const { caller, visitor } = exchange;
  return {
    requestId: exchange.requestId,
    method: req.method,
    // Templates and names only: what a client puts into a path or a value could be its key.
    path: pathOf(exchange),
    operation: exchange.operation?.operationId,
    status: res.headersSent ? res.statusCode : undefined,
    code: exchange.errorCode,
    // A key of a company, or somebody who is signed in to the portal.
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

/** The one place where an error becomes an answer. */
function answerError(
  req: IncomingMessage,
  res: ServerResponse,
  exchange: Exchange,
  error: unknown,
  log: Logger,
): void {
  const reply = errorReply(error);
  exchange.errorCode = reply.code;
  const cause = error instanceof AppError ? error.cause : error;
  if (cause !== undefined) log.error({ requestId: exchange.requestId, err: cause }, 'request.failed');
  if (res.headersSent) res.destroy();
  else exchange.bodyBytes = sendError(req, res, reply, exchange.headers);
}
