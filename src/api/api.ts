import type { IncomingMessage, ServerResponse } from 'node:http';

import { createAuthentication } from '../access/keys.ts';
import { AppError } from '../errors.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Engine } from '../store/engine.ts';
import type { Counted } from '../store/rate-counters.ts';
import { takeOut } from '../store/take-out.ts';
import { type AllowanceLimits, createAllowance, type Taken, WINDOW_SECONDS } from './allowance.ts';
import { sendBody } from './answer.ts';
import { authorise } from './authorisation.ts';
import { type Admit, type AnyReply, createDispatch } from './contract-backend.ts';
import { errorStatuses } from './error-replies.ts';
import type { Exchange } from './exchange.ts';
import { createFileSender } from './file-answer.ts';
import { createHandlers } from './handlers.ts';
import { createLoadLimit } from './load-limit.ts';
import { readQuery } from './parameters.ts';
import { createSendingTurn } from './sending-turn.ts';

export interface ApiOptions extends AllowanceLimits {
  engine: Engine;
  documents: Pick<Documents, 'find'>;
  keyPrefix: string;
  now: () => Date;
}

/** Answers a request, or throws the AppError to answer with; what it learns of the request goes into the exchange. */
export type Api = (req: IncomingMessage, res: ServerResponse, exchange: Exchange) => Promise<void>;

/** The contract over HTTP, for everything under `/api`. */
export async function createApi(options: ApiOptions): Promise<Api> {
  const handlers = createHandlers(options);
  const dispatch = await createDispatch(handlers, admission(options));
  const load = createLoadLimit();
  const sendingTurn = createSendingTurn();
  const sendFile = createFileSender();
  return async (req, res, exchange) => {
    const { method = 'GET', url = '/' } = req;
    const queryStart = url.indexOf('?');
    const path = queryStart < 0 ? url : url.slice(0, queryStart);
    let reply: AnyReply;
    if (!load.begin()) await load.refuse();
    try {
      const query = readQuery(queryStart < 0 ? '' : url.slice(queryStart + 1));
      reply = await dispatch({ method, path, query }, exchange);
    } finally {
      // An error is sent with the others too.
      await sendingTurn();
      load.end();
    }
    if ('body' in reply) {
      exchange.bodyBytes = sendBody(req, res, reply, exchange.headers);
      takeOut(reply.body.items);
    } else {
      // Who waits for a document to be printed keeps nobody else from being let in.
      exchange.bodyBytes = await sendFile(req, res, await reply.file(), exchange.headers);
    }
  };
}

/** The checks of design.md section 5 that come before the parameters: key, rate, company, scope, invoicing. */
function admission({ engine, keyPrefix, ...limits }: ApiOptions): Admit {
  const { windowSeconds = WINDOW_SECONDS } = limits;
  const authenticate = createAuthentication(engine, { keyPrefix, windowSeconds });
  const allowance = createAllowance(engine, limits);
  const take = (exchange: Exchange, { headers, refusal }: Taken) => {
    // Without a key that works only a refusal says how much is allowed: the contract's 401 states no allowance.
    if (exchange.caller || refusal) Object.assign(exchange.headers, headers);
    if (refusal) throw refusal;
  };
  return async (scope, exchange) => {
    let counted: Counted | undefined;
    try {
      ({ caller: exchange.caller, counted } = await authenticate(exchange.authorization));
    } catch (error) {
      // A fault of the database is not the caller's.
      if (error instanceof AppError && errorStatuses[error.code] === 401) {
        take(exchange, await allowance.takeWrongKey(exchange.address));
      }
      throw error;
    }
    take(exchange, await allowance.takeRequest(exchange.caller, counted));
    authorise(exchange.caller, scope);
  };
}
