import type { ServerResponse } from 'node:http';

import type { RequestHandler } from 'express';

import type { Caller } from '../connections/exchange.ts';
import { createAuthentication } from '../features/keys/keys.ts';
import { moduleOf, type Scope } from '../../contract/scopes.ts';
import { type WithholdingReason, whyWithheld } from '../../contract/withholding.ts';
import { AppError } from '../../errors.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { Counted } from '../store/rate-counters.ts';
import { openGeneration } from '../store/records/generation.ts';
import { type AllowanceLimits, createAllowance, type Taken, WINDOW_SECONDS } from './allowance.ts';
import { createSendingTurn, sendBody } from './answer.ts';
import { type ContractRequest, createContractBackend, type Duties } from './contract-backend.ts';
import { errorStatuses } from '../connections/error-replies.ts';
import { type Exchange, exchangeOf } from '../connections/exchange.ts';
import { createFileSender } from './file-answer.ts';
import { handlers } from './handlers.ts';
import { createLoadLimit } from './load-limit.ts';

export interface ApiOptions extends AllowanceLimits {
  engine: Engine;
  documents: Documents;
  keyPrefix: string;
  now: () => Date;
}

/**
 * Returns the handler of all requests under `/api`, in which openapi-backend serves the contract. The handler rejects with
 * any error thrown, for Express's error handler.
 */
export async function createApi(options: ApiOptions): Promise<RequestHandler> {
  const { engine, documents, now } = options;
  const backend = await createContractBackend({
    handlers,
    needs: { db: engine.db, documents, now },
    admit: createAdmission(options),
    send: createSender(await openGeneration(engine)),
  });
  const enter = createLoadLimit();
  return async (req, res) => {
    const leave = await enter();
    try {
      const [path = '', query = ''] = req.originalUrl.split(/\?(.*)/s);
      const request: ContractRequest = { method: req.method, path, query, headers: {} };
      await backend.handleRequest(request, exchangeOf(res), req, res, leave);
    } finally {
      leave();
    }
  };
}

/** Returns the checks before validation: key, rate, company, scope, invoicing (src/README.md, "Order of the checks"). */
function createAdmission({ engine, keyPrefix, ...limits }: ApiOptions): Duties['admit'] {
  const { windowSeconds = WINDOW_SECONDS } = limits;
  const authenticate = createAuthentication(engine, { keyPrefix, windowSeconds });
  const allowance = createAllowance(engine, limits);
  const take = ({ caller }: Exchange, res: ServerResponse, { headers, refusal }: Taken) => {
    // A 401 doesn't state the allowance (see the contract), unlike a refusal when it is used up.
    if (caller || refusal) for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
    if (refusal) throw refusal;
  };
  return async ({ scope }, exchange, res) => {
    let counted: Counted | undefined;
    try {
      ({ caller: exchange.caller, counted } = await authenticate(exchange.authorization));
    } catch (error) {
      // A database failure isn't the caller's fault.
      if (error instanceof AppError && errorStatuses[error.code] === 401) {
        // The key is right, so its company and id are where they should be.
        const [, company = '', keyId = ''] = exchange.authorization?.split('.') ?? [];
        if (error.code === 'revoked_key') exchange.endedKey = { company, keyId };
        take(exchange, res, await allowance.takeWrongKey(exchange.address));
      }
      throw error;
    }
    take(exchange, res, await allowance.takeRequest(exchange.caller, counted));
    authorise(exchange.caller, scope);
  };
}

const refusals: Record<WithholdingReason, string> = {
  company_unavailable: 'The subscription of this company is not active.',
  api_not_enabled: 'API access is switched off for this company.',
  module_not_licensed: 'The plan of this company does not include this data.',
  invoicing_not_enabled: 'Invoicing is not switched on for this company.',
};

/**
 * Refuses a caller whose company or API key isn't allowed to read the data of a scope.
 * @throws AppError for the first check that fails.
 */
export function authorise(caller: Caller, scope: Scope): void {
  const reason = whyWithheld(caller, moduleOf(scope), caller.scopes);
  if (reason === 'missing_scope') throw new AppError(reason, `This API key lacks the scope ${scope}.`);
  if (reason !== undefined) throw new AppError(reason, refusals[reason]);
}

/** Returns the function that sends replies. JSON replies of one event loop turn are sent together, and files separately. */
function createSender(generation: () => string): Duties['send'] {
  const sendingTurn = createSendingTurn();
  const sendFile = createFileSender();
  return async (reply, exchange, req, res) => {
    if ('body' in reply) {
      await sendingTurn();
      res.setHeader('Store-Generation', generation());
      exchange.bodyBytes = sendBody(req, res, reply);
    } else {
      res.setHeader('Store-Generation', generation());
      exchange.bodyBytes = await sendFile(req, res, { ...reply.file, status: reply.status });
    }
  };
}
