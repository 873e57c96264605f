import { existsSync, readFileSync } from 'node:fs';

import type { EventKind } from './events.ts';
import { isScope, type Scope } from './scopes.ts';

/** The words for people about a part of the contract, in Markdown. */
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

/** An operation with its path, and the path's parameters before its own. */
export interface ContractOperation extends DeclaredOperation {
  /** Path template, for example `/api/v1/jobs/{jobId}`. */
  path: string;
  /** The scope that a key needs (openapi.yaml, "Authentication"). */
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

/** As much of JSON Schema 2020-12 as the program looks into. */
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
  /** A test holds the contract's events and the names of the type together. */
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

/** The version of the contract, `1.0.0` for example. It grows with whatever the contract gains. */
export function contractVersion(): string {
  return contractDocument().info.version;
}

/** The text of the bundled contract: one file, with its references. */
export function bundledContract(): string {
  return readFileSync(new URL('openapi.json', generated), 'utf8');
}

/** The reference's file, which `make docs` builds. */
export const referenceFile: URL = new URL('reference.html', generated);

/** The text of the feed's contract: one file, with its references. */
export function bundledFeed(): string {
  return readFileSync(new URL('feed.json', generated), 'utf8');
}

/** The file of the feed's reference, which `make docs` builds too. */
export const feedReferenceFile: URL = new URL('feed-reference.html', generated);

/** The integrators' package, which `make client` builds. */
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
