/*
 * express-openapi-validator in front of the same handlers, with the same contract, on Express. It has the duties of the
 * real server: the key, the allowance and the company are checked by the same functions as its security handler, the
 * body is sent by the same function with its ETag, and each request leaves a line in the log. Only counts for metrics
 * are left out.
 */
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { middleware } from 'express-openapi-validator';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import { sendBody, sendError } from '../../src/server/api/answer.ts';
import type { AnyHandler } from '../../src/server/api/contract-backend.ts';
import { errorReply } from '../../src/server/api/error-replies.ts';
import { createHandlers } from '../../src/server/api/handlers.ts';
import { contractOperations } from '../../src/contract/document.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import { createLogger } from '../../src/server/log.ts';
import { type Admitted, createAdmission } from './_admission.ts';
import { listen, openGivenDatabase } from './_listen.ts';

const engine = await openGivenDatabase();
const log = createLogger('info');
const admit = createAdmission(engine);
const handlers: Record<OperationId, AnyHandler> = createHandlers({
  engine,
  documents: { find: async () => undefined, prepare: async () => undefined },
  now: () => new Date(),
});

const admitted = new WeakMap<Request, Admitted>();
/** Why a request wasn't let in: the validator's own error doesn't hold what its security handler has thrown. */
const refusals = new WeakMap<Request, unknown>();

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use(logged);
app.use(
  middleware({
    apiSpec: fileURLToPath(new URL('../../generated/openapi.json', import.meta.url)),
    validateResponses: false,
    validateSecurity: {
      handlers: {
        bearerAuth: async (req, scopes) => {
          try {
            admitted.set(req, await admit(req.headers.authorization, req.ip ?? '', scopes[0] ?? ''));
          } catch (error) {
            refusals.set(req, error);
            throw error;
          }
          return true;
        },
      },
    },
  }),
);
for (const { operationId, path } of contractOperations())
  app.get(path.replaceAll(/\{(\w+)\}/g, ':$1'), answer(handlers[operationId as OperationId]));
app.use(refuse());
await listen(createServer(app));

function logged(...[req, res, next]: Parameters<RequestHandler>): void {
  const startedAt = performance.now();
  res.once('close', () => {
    const ms = Math.round((performance.now() - startedAt) * 100) / 100;
    log.info(
      { method: req.method, status: res.statusCode, company: admitted.get(req)?.caller.company, ms },
      'answered',
    );
  });
  next();
}

function answer(handler: AnyHandler): RequestHandler {
  return async (req, res) => {
    const known = admitted.get(req);
    if (!known) throw new Error('A handler was reached without a caller.');
    // The validator has checked both against the contract.
    const parameters = { path: req.params as never, query: req.query as never };
    const reply = await handler({ caller: known.caller, ...parameters, leave: () => undefined });
    if (!('body' in reply)) throw new Error('The peers serve no files.');
    for (const [name, value] of Object.entries(known.headers)) res.setHeader(name, value);
    sendBody(req, res, reply);
  };
}

function refuse(): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    sendError(req, res, errorReply(refusals.get(req) ?? error));
  };
}
