/*
 * The same handlers on Fastify, in Fastify's own ways: its router, its validation by schemas (made from the contract's
 * parameters), its hooks and its logger. It has the duties of the real server: key, allowance and company are checked by
 * the same functions, the body carries an ETag of the same hash and the request's id, and each request is counted for
 * operators and for its key, and leaves one line of the same members in the log.
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

import type { Caller } from '../../src/server/connections/exchange.ts';
import { createAuthentication } from '../../src/server/features/keys/keys.ts';
import { createAllowance, WINDOW_SECONDS } from '../../src/server/api/allowance.ts';
import { authorise } from '../../src/server/api/api.ts';
import { digestOf } from '../../src/server/api/answer.ts';
import type { JsonReply } from '../../src/server/api/contract-backend.ts';
import { errorReply } from '../../src/server/connections/error-replies.ts';
import { handlers } from '../../src/server/api/handlers.ts';
import { contractOperations } from '../../src/contract/document.ts';
import type { ContractOperation, ContractParameter } from '../../src/contract/document.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import { createLogger } from '../../src/server/process/log.ts';
import { createMetrics } from '../../src/server/process/metrics.ts';
import { openKeyUsage } from '../../src/server/features/usage/key-usage.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';

/** `make bench` installs Fastify beside this file, so `make types` doesn't know it; these are the parts that are used. */
interface Incoming {
  id: string;
  ip: string;
  method: string;
  headers: Record<string, string | undefined>;
  params: unknown;
  query: unknown;
  routeOptions: { config: object };
}
interface Reply {
  statusCode: number;
  elapsedTime: number;
  getHeader: (name: string) => unknown;
  headers: (headers: Record<string, string>) => Reply;
  code: (status: number) => Reply;
  type: (mediaType: string) => Reply;
  send: (body?: string) => Reply;
}
type Hook<T> = (req: Incoming, reply: Reply) => Promise<T>;
interface App {
  decorateRequest: (name: string) => void;
  addHook: (name: 'onResponse', hook: Hook<void>) => void;
  setErrorHandler: (handler: (error: unknown, ...asked: Parameters<Hook<Reply>>) => Promise<Reply>) => void;
  route: (route: { [option: string]: unknown; onRequest: Hook<void>; handler: Hook<Reply> }) => void;
  log: { info: (members: object, message: string) => void };
  listen: (where: { port: number; host: string }) => Promise<string>;
}
const fastify = createRequire(import.meta.url)('fastify') as (options: object) => App;

const engine = await openEngine(process.env.DATABASE_URL ?? '');
const authenticate = createAuthentication(engine, { keyPrefix: 'fl', windowSeconds: WINDOW_SECONDS });
const allowance = createAllowance(engine, { rateLimitPerMinute: 10_000_000, wrongKeysPerMinute: 10_000_000 });
const metrics = createMetrics();
const usage = openKeyUsage(engine, {
  now: () => new Date(),
  onError(error) {
    throw error;
  },
});
const none = async () => undefined;
const documents = { find: none, prepare: none, prepareStatement: none };
const needs = { db: engine.db, documents, now: () => new Date() };

const app = fastify({
  loggerInstance: createLogger('info'),
  // Its own two lines for each request would be one more than the real server's.
  disableRequestLogging: true,
  genReqId: () => randomUUID(),
  // Unknown parameters are refused, not removed.
  ajv: { customOptions: { removeAdditional: false, coerceTypes: true, strict: false } },
});
app.decorateRequest('caller');
app.addHook('onResponse', async (req, reply) => {
  const { operationId: operation = 'none', path } = req.routeOptions.config as Partial<Configured>;
  const { company, keyId } = callerOf(req) ?? {};
  metrics.requestAnswered(operation, reply.statusCode, reply.elapsedTime / 1000);
  if (company !== undefined && keyId !== undefined) usage.count(company, keyId, false);
  const asked = { requestId: req.id, method: req.method, path, operation, status: reply.statusCode };
  const bytes = Number(reply.getHeader('content-length') ?? 0);
  const ms = Math.round(reply.elapsedTime * 100) / 100;
  app.log.info({ ...asked, company, keyId, address: req.ip, bytes, ms }, 'request.answered');
});
app.setErrorHandler(async (error, _req, reply) => {
  const { status, headers, body } = errorReply(error);
  return reply.code(status).headers(headers).type('application/json').send(body);
});
for (const operation of contractOperations()) route(operation);
process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`);

/** The names by which later hooks know an operation's route. */
type Configured = Pick<ContractOperation, 'operationId' | 'path'>;

function route({ operationId, path, parameters, scope }: ContractOperation): void {
  const handler = handlers[operationId as OperationId];
  app.route({
    method: 'GET',
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operationId, path } satisfies Configured,
    schema: { params: schemaOf(parameters, 'path'), querystring: schemaOf(parameters, 'query') },
    onRequest: async (req, reply) => {
      const { caller, counted } = await authenticate(req.headers.authorization);
      const { headers, refusal } = await allowance.takeRequest(caller, counted);
      if (refusal) throw refusal;
      authorise(caller, scope);
      Object.assign(req, { caller });
      reply.headers({ ...headers });
    },
    handler: async (req, reply) => {
      const caller = callerOf(req);
      if (!caller) throw new Error('A handler was reached without a caller.');
      // Fastify has checked both against the contract's schemas.
      const parameters = { path: req.params as never, query: req.query as never };
      const answered = await handler({ caller, ...parameters, leave: () => undefined }, needs);
      if (!('body' in answered)) throw new Error('The peers serve no files.');
      reply.type('application/json');
      return sendTagged(req, reply, answered);
    },
  });
}

function schemaOf(parameters: readonly ContractParameter[], place: 'path' | 'query'): object {
  const placed = parameters.filter((parameter) => parameter.in === place);
  return {
    type: 'object',
    properties: Object.fromEntries(placed.map(({ name, schema }) => [name, schema])),
    additionalProperties: false,
  };
}

function sendTagged(req: Incoming, reply: Reply, { body, digests }: JsonReply): Reply {
  const tag = `"${digestOf(body, digests)}"`;
  reply.headers({
    ETag: tag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept-Encoding',
    'X-Request-Id': req.id,
  });
  return req.headers['if-none-match'] === tag ? reply.code(304).send() : reply.send(body);
}

function callerOf(req: Incoming): Caller | undefined {
  return (req as Incoming & { caller?: Caller }).caller;
}
