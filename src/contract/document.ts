import { existsSync, readFileSync } from 'node:fs';

import type { EventKind } from './events.ts';
import { isScope, type Scope } from './scopes.ts';

/** Summary and description of a part of the contract, in Markdown. */
export interface Prose {
  summary: string;
  description: string;
}

interface DeclaredOperation extends Prose {
  operationId: string;
  security: Record<string, string[]>[];
  parameters?: ContractParameter[];
  responses: Record<
    string,
    { content?: Record<string, { schema: JsonSchema; examples?: Examples<unknown> }> }
  >;
}

type Examples<Value> = Record<string, { value: Value }>;

/** An operation of the contract, with its path. Its parameters include those of the path, which come first. */
export interface ContractOperation extends DeclaredOperation {
  /** Path template, for example `/api/v1/jobs/{jobId}`. */
  path: string;
  /** Scope that an API key needs to call the operation (openapi.yaml, "Authentication"). */
  scope: Scope;
  parameters: ContractParameter[];
}

export interface ContractParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  schema: JsonSchema;
  example?: unknown;
}

/** The keywords of JSON Schema 2020-12 that the program reads. */
export interface JsonSchema {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  required?: string[];
  [keyword: string]: unknown;
}

interface EventOperation extends Prose {
  'x-scope'?: Scope;
  parameters: { name: string; 'x-test-vector'?: { secret: string } }[];
  requestBody: { content: { 'application/json': { examples: Examples<{ id: string }> } } };
}

export interface ContractDocument {
  openapi: string;
  info: Prose & { title: string; version: string };
  paths: Record<string, { get: DeclaredOperation; parameters?: ContractParameter[] }>;
  /** Events of the contract by name; a test checks that these are the names in the type. */
  webhooks: Record<EventKind, { post: EventOperation }>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: object };
}

const generated = new URL('../../generated/', import.meta.url);
let loaded: ContractDocument | undefined;

export function contractDocument(): ContractDocument {
  loaded ??= JSON.parse(
    readFileSync(new URL('openapi.dereferenced.json', generated), 'utf8'),
  ) as ContractDocument;
  return loaded;
}

/** Returns the contract's version, for example `1.0.0`. It goes up with each addition to the contract. */
export function contractVersion(): string {
  return contractDocument().info.version;
}

/** Returns the text of the contract, bundled into one file that keeps its `$ref`s. */
export function bundledContract(): string {
  return readFileSync(new URL('openapi.json', generated), 'utf8');
}

/** File with the API reference page, built by `make docs`. */
export const referenceFile: URL = new URL('reference.html', generated);

/** Returns the text of the feed's contract, bundled into one file that keeps its `$ref`s. */
export function bundledFeed(): string {
  return readFileSync(new URL('feed.json', generated), 'utf8');
}

/** File with the feed's reference page, also built by `make docs`. */
export const feedReferenceFile: URL = new URL('feed-reference.html', generated);

/** File with the npm package for integrators, built by `make client`. */
export const clientFile: URL = new URL('client.tgz', generated);

export function isReferenceBuilt(): boolean {
  return existsSync(referenceFile);
}

export function contractOperations(): ContractOperation[] {
  return Object.entries(contractDocument().paths).map(([path, item]) => ({
    ...item.get,
    path,
    scope: onlyScope(item.get),
    parameters: [...(item.parameters ?? []), ...(item.get.parameters ?? [])],
  }));
}

function onlyScope({ operationId, security }: DeclaredOperation): Scope {
  const scopes = security.flatMap((requirement) => requirement.bearerAuth ?? []);
  const [scope, ...others] = scopes;
  if (scope === undefined || others.length > 0)
    throw new Error(`${operationId} must name exactly one scope.`);
  if (!isScope(scope)) throw new Error(`${operationId} names the scope ${scope}, which no key can hold.`);
  return scope;
}
