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

/** A request as openapi-backend passes it around: `query` is still a text, `path` still encoded. */
export interface ContractRequest extends Request {
  query: string;
  /** The request's parameters, read once its operation is known. */
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
  /** Gives back the request's place among those in flight; see ./load-limit.ts. */
  leave: () => void,
];

/** The parts of an answer that the contract doesn't give. */
export interface Duties {
  handlers: Handlers;
  needs: HandlerNeeds;
  /** Lets a request in, or throws the AppError that refuses it; notes in the exchange what it learns. */
  admit: (operation: ContractOperation, exchange: Exchange, res: ServerResponse) => Promise<void>;
  send: (reply: AnyReply, ...args: HandlerArguments) => Promise<void>;
}

/**
 * Builds the dispatcher from the contract. `handleRequest` takes every request through routing, the security handler,
 * validation, its operation's handler and the sending of the reply, in that order (src/README.md, "Order of the checks"); it rejects with
 * the AppError to answer with.
 * @throws Error when a handler has no operation; that every operation has a handler is in the types.
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

/** A handler as openapi-backend calls it, once security handler and validation have passed. */
function called(handler: Handlers[OperationId], needs: HandlerNeeds) {
  return ({ request }: Context, ...[{ caller }, , , leave]: HandlerArguments) => {
    if (!caller) throw new Error('A request was admitted without a caller.');
    // Validated parameters have the shape that the handler's types are generated from.
    const asked = { caller, path: request.params as never, query: request.query as never, leave };
    return handler(asked, needs);
  };
}

/** An operation as our router has it: with its scope, and its path's parameters among its own. */
function contractOperation(operation: Operation): ContractOperation {
  return operation as Operation & ContractOperation;
}

/** openapi-backend with its router and its validator prepared once, instead of anew for each request. */
class ContractBackend extends OpenAPIBackend {
  /** openapi-backend knows the rules of OpenAPI 3.0 only and would refuse 3.1; `make lint` checks the contract. */
  override validateDefinition() {
    return this.document;
  }

  override async init() {
    // Otherwise it would compile a validator of its own as well.
    this.validate = false;
    await super.init();
    this.validate = true;
    const { router, validator } = (prepared ??= prepare(this.definition));
    this.router = router;
    this.validator = validator;
    return this;
  }
}

/** Router and validator follow from the contract alone, so all servers of the process share them. */
let prepared: ReturnType<typeof prepare> | undefined;

function prepare(definition: ContractBackend['definition']) {
  const router = new ContractRouter({ definition });
  // One for all operations: openapi-backend would make one for each, which took most of the start.
  const ajv = createAjv({ useDefaults: true });
  // openapi-backend's type asks for ajv's draft-07 class; it uses what both classes have.
  return { router, validator: new ContractValidator({ definition, router, customizeAjv: () => ajv }) };
}

/** Finds an operation by the segments of its path, and reads a request's parameters once. */
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

  /** @throws Error whose first word openapi-backend turns into `notFound` or `methodNotAllowed`. */
  override matchOperation({ method, path }: Request): Operation {
    const given = path.split('/');
    const route = this.#routes.find(({ segments }) => matches(segments, given));
    if (!route) throw new Error('404-notFound');
    // The contract declares GET alone; HEAD is answered wherever GET is (RFC 9110 section 9.3.2).
    if (method !== 'GET' && method !== 'HEAD') throw new Error('405-methodNotAllowed');
    return route.operation;
  }

  /** Reads a request's parameters. Before its operation is known, nobody looks at the result. */
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

/** No operation has a body, headers or cookies among its parameters. */
const unread = { params: {}, query: {}, headers: {}, cookies: {}, requestBody: undefined };

/** Runs the compiled validators of an operation over the parameters as the router has read them. */
class ContractValidator extends OpenAPIValidator {
  override validateRequest(request: ContractRequest, operation: Operation): ValidationResult {
    refuseForeignBytes(request.query);
    const parsed = this.router.parseRequest(request, operation);
    const { params, query } = parsed as { params: object; query: ReadQuery };
    const given = { path: params, query, header: {}, cookie: {} };
    // The validators also fill in the contract's defaults.
    const errors = this.getRequestValidatorsForOperation(operation.operationId ?? '').flatMap((validate) =>
      validate(given) ? [] : (validate.errors ?? []),
    );
    if (errors.length > 0) return { valid: false, errors };
    readTimes(query, contractOperation(operation).parameters);
    return { valid: true, errors: null };
  }
}

/** The contract without its responses: openapi-backend would compile a validator for each at start, for nothing. */
function requestsOnly(): object {
  const { openapi, info, components } = contractDocument();
  const requests = contractOperations().map(({ path, operationId, security, parameters }) => {
    return [path, { get: { operationId, security, parameters, responses: {} } }];
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

/** An escape that can't be decoded stays as it is; with its percent sign it is nobody's id. */
function decoded(segment: string): string {
  return isDecodable(segment) ? decodeURIComponent(segment) : segment;
}
