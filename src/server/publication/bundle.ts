import { bundledContract, type JsonSchema, type Prose } from '../../contract/document.ts';

/** A node of the contract, which may be a `$ref`. */
interface Reference {
  $ref?: string;
}

export interface Parameter extends Reference {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description: string;
  schema: BundledSchema;
  example?: string | number;
}

export interface BundledSchema extends JsonSchema, Reference {
  description?: string;
  const?: string;
  default?: string | number;
  properties?: Record<string, BundledSchema>;
  items?: BundledSchema;
  additionalProperties?: BundledSchema;
  anyOf?: BundledSchema[];
  oneOf?: BundledSchema[];
  enum?: string[];
  'x-enumDescriptions'?: Record<string, string>;
  'x-extensible-enum'?: string[];
}

export interface Example extends Reference {
  summary?: string;
  /** Path and query of the request that the example answers; absent for other examples. */
  'x-request'?: string;
  value?: unknown;
}

export interface BundledContent extends Reference {
  description: string;
  content?: Record<string, { schema: BundledSchema; examples?: Record<string, Example> }>;
}

export interface BundledOperation extends Prose {
  operationId: string;
  tags: [string];
  security: Record<string, string[]>[];
  parameters: Parameter[];
  requestBody?: BundledContent;
  responses: Record<string, BundledContent>;
  'x-scope'?: string;
  'x-codeSamples'?: { lang: string; source: string }[];
}

/** The parts of the bundled contract from which the published pages are made. */
export interface Bundle {
  info: Prose & { title: string; version: string };
  servers: [{ url: string }];
  tags: { name: string; description: string }[];
  paths: Record<string, { get: BundledOperation }>;
  webhooks: Record<string, { post: BundledOperation }>;
  components: { schemas: Record<string, BundledSchema>; headers: Record<string, BundledContent> };
}

let loaded: Bundle | undefined;

/** Returns the bundled contract, with its `$ref`s unresolved. */
export function readContractBundle(): Bundle {
  // Linters and tests ensure that the contract has this shape.
  return (loaded ??= JSON.parse(bundledContract()) as Bundle);
}

/** Returns a node with its `$ref`, if it has one, resolved. The node's own properties take precedence, as in OpenAPI 3.1. */
export function resolve<T extends Reference>(place: T): T {
  if (place.$ref === undefined) return place;
  const [, ...steps] = place.$ref.split('/');
  const beside = { ...place };
  delete beside.$ref;
  // All references in the bundle are to its own components.
  const named = steps.reduce<unknown>(
    (node, step) => (node as Record<string, unknown>)[step],
    readContractBundle(),
  ) as T;
  return resolve({ ...named, ...beside });
}

/** Whether a schema describes a string, number or boolean, with or without null. */
export function isScalar({ type }: { type?: unknown }): boolean {
  return type !== undefined && ![type].flat().some((name) => name === 'object' || name === 'array');
}

/** Returns the name of the component that a node refers to; undefined if it doesn't. */
export function componentName({ $ref }: Reference): string | undefined {
  return $ref?.split('/').at(-1);
}

export function bundledOperations(): (BundledOperation & { path: string })[] {
  return Object.entries(readContractBundle().paths).map(([path, { get }]) => ({ ...get, path }));
}

/** Returns the content of an operation's successful response, or of an event; undefined if there is none. */
export function bodyOf({ requestBody, responses }: BundledOperation): BundledContent | undefined {
  return requestBody ?? responses['200'];
}

export function bundledExamples(body: BundledContent | undefined): Example[] {
  const { content = {} } = body === undefined ? {} : resolve(body);
  return Object.values(content).flatMap(({ examples = {} }) =>
    Object.values(examples).map((example) => resolve(example)),
  );
}
