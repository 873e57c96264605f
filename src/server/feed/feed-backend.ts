import type { IncomingMessage, ServerResponse } from 'node:http';

import { type Context, type Document, OpenAPIBackend } from 'openapi-backend';

import { WINDOW_SECONDS } from '../api/allowance.ts';
import { createFeedAuthentication } from '../features/feed-tokens/feed-tokens.ts';
import { type Backoffice, openBackoffice } from '../backoffice/backoffice.ts';
import { feedDocument } from '../../contract/feed.ts';
import { AppError, quote, unknownName } from '../../errors.ts';
import type { FeedToken } from '../features/feed-tokens/stored-feed-tokens.ts';
import { createOwnCounter } from '../store/rate-counters.ts';
import type { FeedExchange, FeedServerOptions } from './feed-server.ts';
import { applyChanges } from './operations/applyChanges.ts';
import { createPortalLink } from './operations/createPortalLink.ts';
import { getChange } from './operations/getChange.ts';
import { getPosition } from './operations/getPosition.ts';

/** A request to an operation of the feed, with validated parameters. */
export interface FeedRequest {
  backoffice: Backoffice;
  token: FeedToken;
  params: Record<string, string>;
  query: Record<string, string>;
  exchange: FeedExchange;
  baseUrl: FeedServerOptions['baseUrl'];
  metrics: FeedServerOptions['metrics'];
  now: () => Date;
  req: IncomingMessage;
}

export interface FeedReply {
  mediaType: string;
  body: string;
}

const operations: Record<string, (request: FeedRequest) => Promise<FeedReply>> = {
  applyChanges,
  createPortalLink,
  getChange,
  getPosition,
};

const POSTED = ['/feed/v1/changes', '/feed/v1/portal-links'];

type Arguments = [exchange: FeedExchange, req: IncomingMessage, res: ServerResponse];

/** Maximum number of requests that each token may have at once, because each can hold a body and its answers in memory. */
const AT_ONCE_MAX = 8;

/**
 * Creates the feed's request dispatcher from its contract. It routes a request, checks token, rate limit and parameters, and
 * runs the operation. Its `handleRequest` rejects with the AppError to answer with.
 */
export async function createFeedBackend(options: FeedServerOptions): Promise<OpenAPIBackend> {
  const { engine, metrics, requestsPerMinute, baseUrl, now, accent } = options;
  const backoffice = openBackoffice(engine, { now: () => now(), accent });
  const authenticate = createFeedAuthentication(engine, options);
  const count = createOwnCounter({ name: 'feed', points: requestsPerMinute, seconds: WINDOW_SECONDS });
  const enter = createEntrance();
  const called =
    (operation: (request: FeedRequest) => Promise<FeedReply>) =>
    async ({ request, security }: Context, ...[exchange, req]: Arguments): Promise<FeedReply> => {
      const token = security.feedToken as FeedToken;
      // The parameters have been validated.
      const { params, query } = request as { params: Record<string, string>; query: Record<string, string> };
      return operation({ backoffice, token, params, query, exchange, baseUrl, metrics, now, req });
    };
  const backend = new OpenAPIBackend({
    definition: requestsOnly(),
    ignoreTrailingSlashes: false,
    // openapi-backend's own check supports only OpenAPI 3.0 and would reject 3.1; `make lint` checks the contract.
    quick: true,
    handlers: {
      ...Object.fromEntries(Object.entries(operations).map(([id, operation]) => [id, called(operation)])),
      notFound: () => {
        throw new AppError('not_found', `There is nothing here; see ${baseUrl()}/feed-reference.`);
      },
      methodNotAllowed: ({ request }: Context, ...[, req, res]: Arguments) => {
        const allowed = POSTED.includes(request.path) ? 'POST' : 'GET, HEAD';
        res.setHeader('Allow', allowed);
        throw new AppError('method_not_allowed', `This path takes ${allowed}; it got ${req.method}.`);
      },
      unauthorizedHandler: ({ security }: Context) => {
        const { error } = (security.feedToken ?? {}) as { error?: Error };
        throw error ?? new AppError('invalid_key', 'The feed token is missing or wrong.');
      },
      validationFail: explainParameters,
      postResponseHandler: ({ response }: Context, ...[, , res]: Arguments) => {
        const { mediaType, body } = response as FeedReply;
        res.setHeader('Content-Type', mediaType);
        res.setHeader('Content-Length', Buffer.byteLength(body));
        res.end(body);
      },
    },
    securityHandlers: {
      async feedToken({ operation }: Context, ...[exchange, req, res]: Arguments) {
        exchange.operation = String(operation.operationId);
        const token = await authenticate(req.headers.authorization);
        exchange.token = token.id;
        exchange.leave = enter(token.id, res);
        const { points, msBeforeNext } = await count(token.id);
        if (points <= requestsPerMinute) return token;
        const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
        throw limited(`This feed token may send ${requestsPerMinute} requests a minute.`, seconds);
      },
    },
  });
  return backend.init();
}

/**
 * Limits each token's concurrent requests. A request counts until its work is over and its connection or answer has ended.
 * @returns a function that admits a request, and returns a function to call when the work is over. It throws AppError
 * `rate_limited`.
 */
function createEntrance(): (token: string, res: ServerResponse) => () => void {
  const counts = new Map<string, number>();
  const add = (token: string, more: number) => counts.set(token, (counts.get(token) ?? 0) + more);
  return (token, res) => {
    if ((counts.get(token) ?? 0) >= AT_ONCE_MAX)
      throw limited(`This feed token may have ${AT_ONCE_MAX} requests under way.`, 1);
    add(token, 1);
    return () => {
      if (res.closed) add(token, -1);
      else res.once('close', () => add(token, -1));
    };
  };
}

function limited(rule: string, retryAfterSeconds: number): AppError {
  const wait = retryAfterSeconds === 1 ? 'a second' : `${retryAfterSeconds} seconds`;
  return new AppError('rate_limited', `${rule} Wait ${wait}.`, { retryAfterSeconds });
}

/** Refuses a request with an invalid parameter. @throws AppError describing the problem. */
function explainParameters({ validation, operation, request }: Context): never {
  const [error] = validation.errors ?? [];
  const [, place, at] = error?.instancePath.split('/') ?? [];
  // A malformed id can't belong to a change.
  if (place === 'path') throw new AppError('not_found', 'No change has this id.');
  const { missingProperty, additionalProperty } = error?.params as Record<string, string | undefined>;
  const parameters = operation.parameters as { name: string; in: string; schema: { maxLength: number } }[];
  const known = parameters.filter((parameter) => parameter.in === 'query');
  if (additionalProperty !== undefined) {
    const names = known.map(({ name }) => name);
    throw new AppError(
      'invalid_parameter',
      unknownName(additionalProperty, 'a parameter of this operation', names),
    );
  }
  const name = missingProperty ?? at ?? '';
  const charactersMax = known.find((parameter) => parameter.name === name)?.schema.maxLength;
  const rule = `must be given once, with 1 to ${charactersMax} characters that can be seen`;
  const given = [(request.query as Record<string, string | string[]>)[name] ?? []].flat();
  const what = given.length > 0 ? `, not ${given.map(quote).join(' and ')}` : '';
  throw new AppError('invalid_parameter', `${name} ${rule}${what}.`);
}

/** Returns the contract without request bodies and answers. Each change is validated separately, when it is applied. */
function requestsOnly(): Document {
  const { openapi, info, paths, components, security } = structuredClone(feedDocument());
  for (const item of Object.values(paths))
    for (const operation of Object.values(item)) {
      delete operation.requestBody;
      operation.responses = {};
    }
  return {
    openapi,
    info,
    paths,
    security,
    components: { securitySchemes: components.securitySchemes },
  } as unknown as Document;
}
