import type { RequestHandler } from 'express';

import { createAuthentication } from '../access/keys.ts';
import { AppError } from '../errors.ts';
import type { Engine } from '../store/engine.ts';
import type { Counted } from '../store/rate-counters.ts';
import { type AllowanceLimits, createAllowance, type Taken, WINDOW_SECONDS } from './allowance.ts';
import { sendBody } from './answer.ts';
import { authorise } from './authorisation.ts';
import { type Admit, createDispatch } from './contract-backend.ts';
import { errorStatuses } from './error-replies.ts';
import type { Exchange } from './exchange.ts';
import { createHandlers } from './handlers.ts';
import { readQuery } from './parameters.ts';

export interface ApiOptions extends AllowanceLimits {
  engine: Engine;
  keyPrefix: string;
  now: () => Date;
}

/**
 * The contract over HTTP, as an Express handler for everything under `/api`. It finds the exchange of each request in
 * `res.locals`, and passes errors on.
 */
export async function createApi(options: ApiOptions): Promise<RequestHandler> {
  const handlers = createHandlers(options.engine, options.now);
  const dispatch = await createDispatch(handlers, admission(options));
  return async (req, res) => {
    const exchange = res.locals.exchange as Exchange;
    const queryStart = req.originalUrl.indexOf('?');
    const path = queryStart < 0 ? req.originalUrl : req.originalUrl.slice(0, queryStart);
    const query = readQuery(queryStart < 0 ? '' : req.originalUrl.slice(queryStart + 1));
    const reply = await dispatch({ method: req.method, path, query }, exchange);
    exchange.bodyBytes = sendBody(req, res, reply, exchange.headers);
  };
}

/** The checks of design.md section 5 that come before the parameters: key, rate, company, scope, invoicing. */
function admission({ engine, keyPrefix, ...limits }: ApiOptions): Admit {
  const { windowSeconds = WINDOW_SECONDS } = limits;
  const authenticate = createAuthentication(engine, { keyPrefix, windowSeconds });
  const allowance = createAllowance(engine, limits);
  const take = async (exchange: Exchange, counted: Promise<Taken>) => {
    const { headers, refusal } = await counted;
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
        await take(exchange, allowance.takeWrongKey(exchange.address));
      }
      throw error;
    }
    await take(exchange, allowance.takeRequest(exchange.caller, counted));
    authorise(exchange.caller, scope);
  };
}
