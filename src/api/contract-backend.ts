import { OpenAPIBackend, type OpenAPIRouter } from 'openapi-backend';

import { type ContractOperation, contractDocument, contractOperations } from '../contract/document.ts';
import type { OperationId } from '../contract/operations.ts';
import { isScope, type Scope } from '../contract/scopes.ts';
import { createAjv } from '../contract/validators.ts';
import { AppError } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import { explainParameters, type RawQuery, readIntegers, type ReadQuery } from './parameters.ts';

/** A request as the dispatcher takes it: the path still encoded, the query read. */
export interface ContractRequest {
  method: string;
  path: string;
  query: RawQuery;
}

/** Any operation's handler, as the dispatcher sees it. */
export type AnyHandler = (request: {
  caller: NonNullable<Exchange['caller']>;
  path: never;
  query: never;
}) => Promise<{ status: number; body: string }>;

/** Lets a request in, or throws the AppError that refuses it; notes what it learns in the exchange. */
export type Admit = (scope: Scope, exchange: Exchange) => Promise<void>;

/** Answers a request of the contract with its handler's reply, or throws the AppError to answer with. */
export type Dispatch = (
  request: ContractRequest,
  exchange: Exchange,
) => Promise<{ status: number; body: string }>;

/**
 * Builds the dispatcher from the contract: openapi-backend matches the request, has it admitted, validates its
 * parameters and calls its operation's handler, in that order (design.md section 5).
 * @throws Error when a handler has no operation; that every operation has a handler is in the types.
 */
export async function createDispatch(
  handlers: Record<OperationId, AnyHandler>,
  admit: Admit,
): Promise<Dispatch> {
  // One for all operations: openapi-backend would make one for each, which took most of the start.
  const ajv = createAjv({ coerceTypes: false, useDefaults: true });
  const backend = new ContractBackend({
    definition: requestsOnly() as never,
    strict: true,
    coerceTypes: true,
    ignoreTrailingSlashes: false,
    // openapi-backend's type asks for ajv's draft-07 class; it uses what both classes have.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment
    customizeAjv: () => ajv,
    securityHandlers: {
      bearerAuth: async (context, exchange: Exchange) => {
        const operation = operationOf(context);
        exchange.operation = operation;
        await admit(scopeOf(operation), exchange);
        return true;
      },
    },
    handlers: {
      ...Object.fromEntries(Object.entries(handlers).map(([id, handler]) => [id, withParameters(handler)])),
      notFound: refuseUnknownPath,
      methodNotAllowed: refuseMethod,
      unauthorizedHandler: (context) => {
        // What the security handler above has thrown.
        throw (context.security as { bearerAuth: { error: Error } }).bearerAuth.error;
      },
      validationFail: (context) => {
        throw explainParameters(
          context.validation.errors ?? [],
          operationOf(context).parameters,
          queryOf(context),
        );
      },
    },
  });
  await backend.init();
  const router = new ContractRouter(backend.router);
  backend.router = router as unknown as OpenAPIRouter;
  backend.validator.router = backend.router;
  return async (request, exchange) => {
    const { method, path, query } = request;
    const parsed = { method: method === 'HEAD' ? 'get' : method.toLowerCase(), path, query, headers: {} };
    return backend.handleRequest(parsed, exchange) as Promise<{ status: number; body: string }>;
  };
}

/** openapi-backend knows the rules of OpenAPI 3.0 only and would refuse 3.1; `make lint` checks the contract. */
class ContractBackend extends OpenAPIBackend {
  override validateDefinition() {
    return this.document;
  }
}

/** The contract without its responses: openapi-backend would compile a validator for each at start, for nothing. */
function requestsOnly(): object {
  const { openapi, info, paths, components } = contractDocument() as ReturnType<typeof contractDocument> & {
    components: { securitySchemes: object };
  };
  const requests = Object.entries(paths).map(([path, { get, parameters = [] }]) => {
    const { operationId, security, parameters: own = [] } = get;
    return [path, { get: { operationId, security, parameters: [...parameters, ...own], responses: {} } }];
  });
  const { securitySchemes } = components;
  // A fresh copy: openapi-backend takes an object that it meets twice for a cycle.
  return structuredClone<object>({
    openapi,
    info,
    paths: Object.fromEntries(requests) as object,
    components: { securitySchemes },
  });
}

interface Route extends ContractOperation {
  method: 'get';
  security: Record<string, string[]>[];
  segments: string[];
}

/**
 * Stands in for openapi-backend's router, which builds its path patterns anew for each request, trims paths, splits
 * cookies and throws on a malformed escape.
 */
class ContractRouter {
  readonly #routes: readonly Route[];
  readonly #byId: ReadonlyMap<string, Route>;

  constructor(router: OpenAPIRouter) {
    const security = new Map(
      router.getOperations().map((operation) => [operation.operationId, operation.security]),
    );
    this.#routes = contractOperations().map((operation) => ({
      ...operation,
      method: 'get',
      security: security.get(operation.operationId) ?? [],
      segments: operation.path.split('/'),
    }));
    this.#byId = new Map(this.#routes.map((route) => [route.operationId, route]));
  }

  getOperations(): readonly Route[] {
    return this.#routes;
  }

  getOperation(operationId: string): Route | undefined {
    return this.#byId.get(operationId);
  }

  matchOperation({ method, path }: ContractRequest): Route {
    const segments = path.split('/');
    const route = this.#routes.find((candidate) => matches(candidate.segments, segments));
    // The messages are openapi-backend's own: it tells the two cases apart by them.
    if (!route) throw new Error('404-notFound: no route matches request');
    if (method !== 'get')
      throw new Error('405-methodNotAllowed: this method is not registered for the route');
    return route;
  }

  parseRequest(request: ContractRequest, operation?: Route) {
    const params = operation ? pathParameters(operation.segments, request.path.split('/')) : {};
    const query = operation ? readIntegers(request.query, operation.parameters) : request.query;
    return { ...request, params, query, headers: {}, cookies: {}, requestBody: undefined };
  }
}

function matches(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) =>
      part.startsWith('{') ? segments[index] !== '' : part === segments[index],
    )
  );
}

function pathParameters(template: readonly string[], segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  template.forEach((part, index) => {
    if (part.startsWith('{')) params[part.slice(1, -1)] = decoded(segments[index] ?? '');
  });
  return params;
}

/** An escape that can't be decoded stays as it is; with its percent sign it is nobody's id. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

interface Context {
  operation?: unknown;
  request: { method: string; params: unknown; query: unknown };
}

function operationOf(context: Context): Route {
  // `matchOperation` above is what puts it there.
  return context.operation as Route;
}

function queryOf(context: Context): ReadQuery {
  // `parseRequest` above is what puts it there.
  return context.request.query as ReadQuery;
}

function scopeOf({ scope, operationId }: ContractOperation): Scope {
  if (!isScope(scope)) throw new Error(`${operationId} names the scope ${scope}, which no key can hold.`);
  return scope;
}

function withParameters(handler: AnyHandler) {
  return (context: Context, exchange: Exchange) => {
    if (!exchange.caller) throw new Error('A handler was reached without a caller.');
    // The validator has checked both against the contract that the handler's types are generated from.
    return handler({
      caller: exchange.caller,
      path: context.request.params as never,
      query: context.request.query as never,
    });
  };
}

function refuseUnknownPath(): never {
  throw new AppError('not_found', 'There is nothing at this path; the reference lists the paths of the API.');
}

function refuseMethod({ request }: Context, exchange: Exchange): never {
  exchange.headers.Allow = 'GET, HEAD';
  const method = request.method.toUpperCase();
  throw new AppError('method_not_allowed', `This path answers GET and HEAD, not ${method}.`);
}
