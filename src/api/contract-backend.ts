import type { ValidateFunction } from 'ajv/dist/2020.js';
import { OpenAPIBackend } from 'openapi-backend';

import { type ContractOperation, contractDocument, contractOperations } from '../contract/document.ts';
import type { AnsweredFile, OperationId } from '../contract/operations.ts';
import type { JsonParts } from '../contract/json-text.ts';
import { isScope, type Scope } from '../contract/scopes.ts';
import { createAjv } from '../contract/validators.ts';
import { AppError } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import {
  explainParameters,
  integersOf,
  type RawQuery,
  readIntegers,
  readUuids,
  uuidsOf,
} from './parameters.ts';

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
}) => Promise<AnyReply>;

/** What a handler answers; see `Reply`. */
export type AnyReply = JsonReply | FileReply;

export interface JsonReply {
  status: number;
  body: JsonParts<unknown>;
  digests?: readonly (string | null)[];
}

export interface FileReply {
  status: number;
  file: () => Promise<AnsweredFile>;
}

/** Lets a request in, or throws the AppError that refuses it; notes what it learns in the exchange. */
export type Admit = (scope: Scope, exchange: Exchange) => Promise<void>;

/** Answers a request of the contract with its handler's reply, or throws the AppError to answer with. */
export type Dispatch = (request: ContractRequest, exchange: Exchange) => Promise<AnyReply>;

/**
 * Builds the dispatcher from the contract: a request is matched, admitted, has its parameters validated, and is passed
 * to its operation's handler, in that order (design.md section 5). openapi-backend holds handlers and contract
 * together and builds the validators, once at the start; its own way through a request costs more than a look-up.
 * @throws Error when a handler has no operation; that every operation has a handler is in the types.
 */
export async function createDispatch(
  handlers: Record<OperationId, AnyHandler>,
  admit: Admit,
): Promise<Dispatch> {
  const backend = await openBackend(handlers);
  const routes = contractOperations().map((operation): Route => {
    const id = operation.operationId as OperationId;
    return {
      operation,
      segments: operation.path.split('/'),
      scope: scopeOf(operation),
      integers: integersOf(operation.parameters),
      uuids: uuidsOf(operation.parameters),
      validators: backend.validator.getRequestValidatorsForOperation(id),
      handler: handlers[id],
    };
  });
  return async ({ method, path, query }, exchange) => {
    const segments = path.split('/');
    const route = routes.find((candidate) => matches(candidate.segments, segments));
    if (!route) throw unknownPath();
    if (method !== 'GET' && method !== 'HEAD') throw refusedMethod(method, exchange);
    exchange.operation = route.operation;
    await admit(route.scope, exchange);
    if (!exchange.caller) throw new Error('A request was admitted without a caller.');
    const parameters = checkedParameters(route, segments, query);
    return route.handler({ caller: exchange.caller, ...parameters });
  };
}

async function openBackend(handlers: Record<OperationId, AnyHandler>): Promise<OpenAPIBackend> {
  // One for all operations: openapi-backend would make one for each, which took most of the start.
  const ajv = createAjv({ coerceTypes: false, useDefaults: true });
  const backend = new ContractBackend({
    definition: requestsOnly() as never,
    strict: true,
    // openapi-backend's type asks for ajv's draft-07 class; it uses what both classes have.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment
    customizeAjv: () => ajv,
    // Their names are held against the contract; requests don't pass through here.
    handlers: Object.fromEntries(Object.keys(handlers).map((name) => [name, () => undefined])),
  });
  await backend.init();
  return backend;
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

/** An operation as requests meet it. */
interface Route {
  operation: ContractOperation;
  /** Of the path's template. */
  segments: readonly string[];
  scope: Scope;
  /** Names of the parameters that are integers. */
  integers: readonly string[];
  /** Names of the parameters of the path that are UUIDs. */
  uuids: readonly string[];
  validators: readonly ValidateFunction[];
  handler: AnyHandler;
}

/** @throws AppError for the first parameter that the contract refuses. */
function checkedParameters(
  { operation: { parameters }, segments: template, integers, uuids, validators }: Route,
  segments: readonly string[],
  query: RawQuery,
): { path: never; query: never } {
  const given = {
    path: readUuids(pathParameters(template, segments), uuids),
    query: readIntegers(query, integers),
    header: {},
    cookie: {},
  };
  // It also fills in the contract's defaults.
  const refusing = validators.find((validate) => !validate(given));
  if (refusing) throw explainParameters(refusing.errors ?? [], parameters, given.query);
  // What has passed has the shape that the handler's types are generated from.
  return given as unknown as { path: never; query: never };
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

function scopeOf({ scope, operationId }: ContractOperation): Scope {
  if (!isScope(scope)) throw new Error(`${operationId} names the scope ${scope}, which no key can hold.`);
  return scope;
}

function unknownPath(): AppError {
  return new AppError(
    'not_found',
    'There is nothing at this path; the reference lists the paths of the API.',
  );
}

function refusedMethod(method: string, exchange: Exchange): AppError {
  exchange.headers.Allow = 'GET, HEAD';
  return new AppError('method_not_allowed', `This path answers GET and HEAD, not ${method}.`);
}
