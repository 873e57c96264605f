import { readFileSync } from 'node:fs';

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { isScope, type Scope } from '../../src/contract/scopes.ts';

/** As much of JSON Schema 2020-12 as the tests look into. */
export interface Schema {
  type?: string | string[];
  description?: string;
  format?: string;
  pattern?: string;
  enum?: string[];
  const?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  dependentRequired?: Record<string, string[]>;
  maxProperties?: number;
  default?: unknown;
  examples?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  additionalProperties?: boolean | Schema;
  'x-enumDescriptions'?: Record<string, string>;
  'x-extensible-enum'?: string[];
  [keyword: string]: unknown;
}

export interface Example {
  summary: string;
  description?: string;
  value: unknown;
  'x-request'?: string;
}

export interface MediaType {
  schema: Schema;
  examples?: Record<string, Example>;
}

export interface Header {
  description: string;
  required: boolean;
  schema: Schema;
  example: unknown;
}

export interface Response {
  description: string;
  headers?: Record<string, Header>;
  content?: Record<string, MediaType>;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description: string;
  schema: Schema;
  example: unknown;
  'x-test-vector'?: { secret: string; t: number; body: string; header: string };
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, Response>;
  'x-scope'?: string;
  'x-codeSamples'?: { lang: string; source: string }[];
}

export interface Contract {
  openapi: string;
  info: { description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    securitySchemes: Record<string, { type: string; scheme: string }>;
  };
}

export const root = new URL('../../', import.meta.url);

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(`generated/${file}`, root), 'utf8'));

/** The contract with every reference resolved. */
export const contract = read('openapi.dereferenced.json') as Contract;
/** The contract as it is published, with its references. */
export const bundle = read('openapi.json') as Contract;

export const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method,
    scope: scopeOf(operation),
    ...operation,
  })),
);
export type DeclaredOperation = (typeof operations)[number];
export const events = Object.entries(contract.webhooks).flatMap(([kind, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ kind, method, ...operation })),
);

/** The scope of each operation as the guide's table has it (openapi.yaml, "Authentication"). */
export const scopesInGuide = new Map(
  [...contract.info.description.matchAll(/^\| `(\w+:read)` \|[^|]*\|([^|]*)\|$/gm)].flatMap(
    ([, scope = '', list = '']) => [...list.matchAll(/`(\w+)`/g)].map(([, id = '']) => [id, scope] as const),
  ),
);

function scopeOf({ operationId, security }: Operation): Scope {
  const [scope = ''] = security.flatMap((requirement) => requirement['bearerAuth'] ?? []);
  if (!isScope(scope)) throw new Error(`${operationId} names no scope.`);
  return scope;
}

export function operationOf(operationId: string): DeclaredOperation {
  const operation = operations.find((candidate) => candidate.operationId === operationId);
  if (!operation) throw new Error(`The contract has no operation ${operationId}.`);
  return operation;
}

/** The named examples of an operation's answers with a status; each success names the request that it answers. */
export function examplesOf(operationId: string, status: number): (Example & { name: string })[] {
  const contents = Object.values(operationOf(operationId).responses[status]?.content ?? {});
  return contents.flatMap(({ examples = {} }) =>
    Object.entries(examples).map(([name, example]) => ({ name, ...example })),
  );
}

/** The path of an operation whose answer the contract shows: its first example's, without the query. */
export function knownPath(operationId: string): string {
  const [example] = examplesOf(operationId, 200);
  return withoutQuery(example?.['x-request'] ?? '');
}

export function withoutQuery(target: string): string {
  return target.replace(/\?.*$/, '');
}

export function successOf({ responses }: Operation): MediaType {
  const [mediaType] = Object.values(responses['200']?.content ?? {});
  if (!mediaType) throw new Error('There is no successful answer.');
  return mediaType;
}

export function eventBodyOf(operation: Operation): MediaType {
  const mediaType = operation.requestBody?.content['application/json'];
  if (!mediaType) throw new Error(`${operation.operationId} has no body.`);
  return mediaType;
}

/** Ajv as strict as it can be: what it doesn't know, in a schema or in a format, is an error. */
export function strictAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: true, allErrors: true, allowUnionTypes: true });
  addFormats.default(ajv);
  ajv.addVocabulary([
    'x-enumDescriptions',
    'x-extensible-enum',
    'x-patternDescription',
    'x-before',
    'discriminator',
  ]);
  return ajv;
}

/** Every schema within a schema, itself included, with the path to it. */
export function* schemasIn(schema: Schema, path: string): Generator<{ path: string; schema: Schema }> {
  yield { path, schema };
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    yield* schemasIn(property, `${path}.${name}`);
  if (schema.items) yield* schemasIn(schema.items, `${path}[]`);
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])])
    yield* schemasIn(branch, `${path}|${String(branch.type)}`);
  if (typeof schema.additionalProperties === 'object')
    yield* schemasIn(schema.additionalProperties, `${path}.*`);
}

/** The keywords that bound a value of each type. */
const bounds: Record<string, readonly string[]> = {
  string: ['minLength', 'maxLength'],
  integer: ['minimum', 'maximum'],
  number: ['minimum', 'maximum'],
  array: ['items', 'maxItems'],
};

/** The bounds that a value still lacks, so that it could be of any size or look like anything. */
export function missingBounds(schema: Schema): string[] {
  if (schema.enum ?? schema.anyOf ?? schema.oneOf ?? schema.const) return [];
  const types = [schema.type ?? []].flat();
  const wanted = [
    ...types.flatMap((type) => bounds[type] ?? []),
    ...(types.includes('string') && !('format' in schema) ? ['pattern'] : []),
    ...((schema.additionalProperties as unknown) ? ['maxProperties'] : []),
  ];
  return types.length === 0 ? ['type'] : wanted.filter((keyword) => !(keyword in schema));
}

/** The schema with every object in it closed, so that a member it doesn't declare is an error. */
export function closed(schema: Schema): Schema {
  const copy = structuredClone(schema);
  for (const { schema: part } of schemasIn(copy, '')) {
    if (part.properties) part['unevaluatedProperties'] = false;
  }
  return copy;
}

export function isNullable({ type }: Schema): boolean {
  return Array.isArray(type) && type.includes('null');
}

/** Pairs of a value and its schema, for every value within an example. */
export function* valuesIn(
  schema: Schema,
  value: unknown,
  path: string,
): Generator<{ path: string; schema: Schema; value: unknown }> {
  yield { path, schema, value };
  if (Array.isArray(value) && schema.items) {
    for (const item of value) yield* valuesIn(schema.items, item, `${path}[]`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const property = schema.properties?.[name];
      if (property) yield* valuesIn(property, member, `${path}.${name}`);
      else if (typeof schema.additionalProperties === 'object') {
        yield* valuesIn(schema.additionalProperties, member, `${path}.*`);
      }
    }
  }
}

/** Every example of a body, of the API's answers and of the events. */
export function* bodies(): Generator<{ name: string; schema: Schema; example: Example }> {
  const answers = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) =>
      Object.values(content ?? {}).map((mediaType) => ({ name: `${operationId} ${status}`, ...mediaType })),
    ),
  );
  const deliveries = events.map((event) => ({ name: event.kind, ...eventBodyOf(event) }));
  for (const { name, schema, examples } of [...answers, ...deliveries]) {
    for (const [key, example] of Object.entries(examples ?? {}))
      yield { name: `${name} ${key}`, schema, example };
  }
}
