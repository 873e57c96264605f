import { bundledContract, type JsonSchema, type Prose } from '../../contract/document.ts';

/** A place of the contract, which may be a reference. */
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
  /** The path and query that the example answers. */
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

/** The bundled contract, as far as its publications look into it. */
export interface Bundle {
  info: Prose & { title: string; version: string };
  servers: [{ url: string }];
  tags: { name: string; description: string }[];
  paths: Record<string, { get: BundledOperation }>;
  webhooks: Record<string, { post: BundledOperation }>;
  components: { schemas: Record<string, BundledSchema>; headers: Record<string, BundledContent> };
}

let loaded: Bundle | undefined;

/** The contract in one file, with its references. */
export function readContractBundle(): Bundle {
  // The linters and the tests hold the contract to this shape.
  return (loaded ??= JSON.parse(bundledContract()) as Bundle);
}

/** A place of the contract together with what it refers to; its own members come first, as in OpenAPI 3.1. */
export function resolve<T extends Reference>(place: T): T {
  if (place.$ref === undefined) return place;
  const [, ...steps] = place.$ref.split('/');
  const beside = { ...place };
  delete beside.$ref;
  // The bundle refers to nothing but its own components.
  const named = steps.reduce<unknown>(
    (node, step) => (node as Record<string, unknown>)[step],
    readContractBundle(),
  ) as T;
  return resolve({ ...named, ...beside });
}

/** Whether a schema is of strings, numbers or truth values, null among them or not. */
export function isScalar({ type }: { type?: unknown }): boolean {
  return type !== undefined && ![type].flat().some((name) => name === 'object' || name === 'array');
}

/** The name of the component that a place refers to. */
export function componentName({ $ref }: Reference): string | undefined {
  return $ref?.split('/').at(-1);
}

export function bundledOperations(): (BundledOperation & { path: string })[] {
  return Object.entries(readContractBundle().paths).map(([path, { get }]) => ({ ...get, path }));
}

/** The body of an operation's good answer, or of an event. */
export function bodyOf({ requestBody, responses }: BundledOperation): BundledContent | undefined {
  return requestBody ?? responses['200'];
}

export function bundledExamples(body: BundledContent | undefined): Example[] {
  const { content = {} } = body === undefined ? {} : resolve(body);
  return Object.values(content).flatMap(({ examples = {} }) =>
    Object.values(examples).map((example) => resolve(example)),
  );
}
