import type { IncomingMessage, ServerResponse } from 'node:http';

import {
  type Context,
  OpenAPIBackend,
  OpenAPIRouter,
  OpenAPIValidator,
  type Operation,
  type ParsedRequest,
  type Request,
  type ValidationResult,
} from 'openapi-backend';

import { type ContractOperation, contractDocument, contractOperations } from '../../contract/document.ts';
import type { AnsweredFile, OperationId } from '../../contract/operations.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { createAjv } from '../../contract/validators.ts';
import { AppError } from '../../errors.ts';
import type { Exchange } from '../connections/exchange.ts';
import type { HandlerNeeds, Handlers } from './handler.ts';
import {
  explainParameters,
  isDecodable,
  readIntegers,
  readQuery,
  type ReadQuery,
  readTimes,
  readUuids,
  refuseForeignBytes,
} from './parameters.ts';

/** A request as openapi-backend sees it, with `query` not yet parsed and `path` not yet decoded. */
export interface ContractRequest extends Request {
  query: string;
  /** Parameters of the request; undefined until its operation is known. */
  parsed?: ParsedRequest;
}

export type AnyReply = JsonReply | { status: number; file: AnsweredFile };

export interface JsonReply {
  status: number;
  body: JsonText<unknown>;
  digests?: readonly string[];
}

export type HandlerArguments = [
  exchange: Exchange,
  req: IncomingMessage,
  res: ServerResponse,
  /** Releases the request's place among those that are being handled; see ./load-limit.ts. */
  leave: () => void,
];

/** The steps of answering a request that the contract leaves to the server. */
export interface Duties {
  handlers: Handlers;
  needs: HandlerNeeds;
  /** Admits a request and records its caller in the exchange, or throws an AppError to refuse it. */
  admit: (operation: ContractOperation, exchange: Exchange, res: ServerResponse) => Promise<void>;
  send: (reply: AnyReply, ...args: HandlerArguments) => Promise<void>;
}

/**
 * Returns the dispatcher of requests, built from the contract. Its `handleRequest` routes a request, authenticates and
 * validates it, calls the operation's handler and sends the reply, in that order (src/README.md, "Order of the checks"). It
 * rejects with the AppError to send.
 * @throws Error if a handler has no operation. The types ensure that every operation has a handler.
 */
export async function createContractBackend({
  handlers,
  needs,
  admit,
  send,
}: Duties): Promise<OpenAPIBackend> {
  const backend = new ContractBackend({
    definition: requestsOnly() as never,
    strict: true,
    handlers: {
      ...Object.fromEntries(Object.entries(handlers).map(([id, handler]) => [id, called(handler, needs)])),
      notFound: () => {
        throw new AppError(
          'not_found',
          'There is nothing at this path; the reference lists the paths of the API.',
        );
      },
      methodNotAllowed: (_context, ...[, req, res]: HandlerArguments) => {
        res.setHeader('Allow', 'GET, HEAD');
        throw new AppError('method_not_allowed', `This path answers GET and HEAD, not ${req.method}.`);
      },
      unauthorizedHandler: ({ security }) => {
        const { error } = (security.bearerAuth ?? {}) as { error?: Error };
        throw error ?? new AppError('invalid_key', 'The API key is missing or wrong.');
      },
      validationFail: ({ validation, request, operation }) => {
        const { parameters } = contractOperation(operation);
        throw explainParameters(validation.errors ?? [], parameters, request.query as ReadQuery);
      },
      postResponseHandler: ({ response }, ...args: HandlerArguments) => send(response as AnyReply, ...args),
    },
    securityHandlers: {
      async bearerAuth({ operation }, ...[exchange, , res]: HandlerArguments) {
        exchange.operation = contractOperation(operation);
        await admit(exchange.operation, exchange, res);
        return exchange.caller;
      },
    },
  });
  return backend.init();
}

/** Returns a handler in the form in which openapi-backend calls it, after authentication and validation. */
function called(handler: Handlers[OperationId], needs: HandlerNeeds) {
  return ({ request }: Context, ...[{ caller }, , , leave]: HandlerArguments) => {
    if (!caller) throw new Error('A request was admitted without a caller.');
    // Validated parameters match the schema from which the handler's types are generated.
    const asked = { caller, path: request.params as never, query: request.query as never, leave };
    return handler(asked, needs);
  };
}

/** Returns an operation with our router's type, which includes its scope and all its parameters, even the path's. */
function contractOperation(operation: Operation): ContractOperation {
  return operation as Operation & ContractOperation;
}

/** A version of openapi-backend that prepares its router and validator only once, not for each request. */
class ContractBackend extends OpenAPIBackend {
  /** Skips openapi-backend's check, which supports only OpenAPI 3.0 and would reject 3.1; `make lint` checks the contract. */
  override validateDefinition() {
    return this.document;
  }

  override async init() {
    // Otherwise, openapi-backend would also compile its own validator.
    this.validate = false;
    await super.init();
    this.validate = true;
    const { router, validator } = (prepared ??= prepare(this.definition));
    this.router = router;
    this.validator = validator;
    return this;
  }
}

/** The router and validator that all servers in the process share, because they depend only on the contract. */
let prepared: ReturnType<typeof prepare> | undefined;

function prepare(definition: ContractBackend['definition']) {
  const router = new ContractRouter({ definition });
  // All operations share one instance. openapi-backend would create one for each, which took most of the startup time.
  const ajv = createAjv({ useDefaults: true });
  // openapi-backend's type requires Ajv's draft-07 class, but uses only what both classes have.
  return { router, validator: new ContractValidator({ definition, router, customizeAjv: () => ajv }) };
}

/** A router that finds an operation by its path's segments, and parses a request's parameters only once. */
class ContractRouter extends OpenAPIRouter {
  readonly #routes = super.getOperations().map((operation) => {
    const declared = contractOperations().find(({ operationId }) => operationId === operation.operationId);
    const parameters = declared?.parameters ?? [];
    const known = { ...operation, parameters, scope: declared?.scope };
    return { operation: known as Operation, segments: operation.path.split('/'), parameters };
  });
  readonly #byId = new Map(this.#routes.map((route) => [route.operation.operationId, route]));

  override getOperations() {
    return this.#routes.map(({ operation }) => operation);
  }

  override getOperation(operationId: string) {
    return this.#byId.get(operationId)?.operation;
  }

  /** Finds a request's operation. @throws Error whose message makes openapi-backend call `notFound` or `methodNotAllowed`. */
  override matchOperation({ method, path }: Request): Operation {
    const given = path.split('/');
    const route = this.#routes.find(({ segments }) => matches(segments, given));
    if (!route) throw new Error('404-notFound');
    // The contract declares only GET, but HEAD is answered wherever GET is (RFC 9110 section 9.3.2).
    if (method !== 'GET' && method !== 'HEAD') throw new Error('405-methodNotAllowed');
    return route.operation;
  }

  /** Returns a request's parameters. Until its operation is known, the result is a placeholder that nothing uses. */
  override parseRequest(request: ContractRequest, operation?: Operation): ParsedRequest {
    const route = this.#byId.get(operation?.operationId ?? '');
    if (!route) return { ...unread, method: request.method, path: request.path };
    return (request.parsed ??= {
      ...unread,
      method: request.method,
      path: request.path,
      params: readUuids(pathParameters(route.segments, request.path.split('/')), route.parameters),
      query: readIntegers(readQuery(request.query), route.parameters),
    });
  }
}

/** Parameters of a request before parsing. No operation declares a body, headers or cookies, so these stay empty. */
const unread = { params: {}, query: {}, headers: {}, cookies: {}, requestBody: undefined };

/** A validator that runs an operation's compiled schemas on the parameters that the router has parsed. */
class ContractValidator extends OpenAPIValidator {
  override validateRequest(request: ContractRequest, operation: Operation): ValidationResult {
    refuseForeignBytes(request.query);
    const parsed = this.router.parseRequest(request, operation);
    const { params, query } = parsed as { params: object; query: ReadQuery };
    const given = { path: params, query, header: {}, cookie: {} };
    // Validation also fills in the contract's defaults.
    const errors = this.getRequestValidatorsForOperation(operation.operationId ?? '').flatMap((validate) =>
      validate(given) ? [] : (validate.errors ?? []),
    );
    if (errors.length > 0) return { valid: false, errors };
    readTimes(query, contractOperation(operation).parameters);
    return { valid: true, errors: null };
  }
}

/** Returns the contract without responses, whose validators openapi-backend would needlessly compile at startup. */
function requestsOnly(): object {
  const { openapi, info, components } = contractDocument();
  const requests = contractOperations().map(({ path, operationId, security, parameters }) => {
    return [path, { get: { operationId, security, parameters, responses: {} } }];
  });
  const { securitySchemes } = components;
  // Copied because openapi-backend mistakes an object that it meets twice for a cycle.
  return structuredClone<object>({
    openapi,
    info,
    paths: Object.fromEntries(requests) as object,
    components: { securitySchemes },
  });
}

function matches(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, index) =>
      part.startsWith('{') ? segments[index] !== '' : part === decoded(segments[index] ?? ''),
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

/** Returns a path segment decoded, or unchanged if it is invalid: its percent sign then ensures that it matches no id. */
function decoded(segment: string): string {
  return isDecodable(segment) ? decodeURIComponent(segment) : segment;
}
