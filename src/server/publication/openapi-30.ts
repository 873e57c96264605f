import { bundledContract } from '../../contract/document.ts';
import { isScalar } from './bundle.ts';

type Json = null | boolean | number | string | Json[] | JsonObject;
interface JsonObject {
  [name: string]: Json;
}

interface Contract extends JsonObject {
  info: JsonObject;
  paths: Record<string, { get: { security: [{ bearerAuth: string[] }] } & JsonObject }>;
  components: { schemas: Record<string, JsonObject> } & JsonObject;
}

/** Below these names are values, which stay as they are. */
const VALUES: readonly string[] = ['default', 'enum', 'example', 'examples'];

/**
 * The contract in OpenAPI 3.0, for generators that read nothing later. It describes the same requests and answers:
 * `nullable` stands for the type `null`, an `enum` of one for `const`, and `example` for the `examples` of a schema.
 * Version 3.0 has no webhooks, and no scopes for a bearer token: an operation names its scope as `x-scope`.
 *
 * A converter from npm would bring a second TypeScript with it, and drop the descriptions that stand beside references.
 */
export function openapi30(): object {
  const contract = JSON.parse(bundledContract()) as Contract;
  delete contract['webhooks'];
  delete contract.info['summary'];
  for (const { get } of Object.values(contract.paths)) {
    const [{ bearerAuth }] = get.security;
    get['x-scope'] = bearerAuth.pop() ?? null;
  }
  const each = (node: JsonObject, isNamed: boolean) =>
    Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, rewritten(value, isNamed ? '' : key)]),
    );
  const rewritten = (value: Json, name = ''): Json => {
    if (Array.isArray(value)) return value.map((item) => rewritten(item));
    if (value === null || typeof value !== 'object' || VALUES.includes(name)) return value;
    // Members of records may have the names of keywords.
    if (name === 'properties') return each(value, true);
    return each(inWordsOf30(withoutSiblings(value, contract.components.schemas)), false);
  };
  return withoutUnused(rewritten({ ...contract, openapi: '3.0.3' }) as Contract);
}

/** Leaves out what only webhooks used, and scalars, which are written out. `Event` is there for a receiver's types. */
function withoutUnused(edition: Contract): JsonObject {
  const text = JSON.stringify(edition);
  const components = Object.entries(edition.components).map(([kind, named]) => {
    const used = Object.entries(named as JsonObject).filter(
      ([name]) =>
        kind === 'securitySchemes' || name === 'Event' || text.includes(`"#/components/${kind}/${name}"`),
    );
    return [kind, Object.fromEntries(used)];
  });
  return { ...edition, components: Object.fromEntries(components) as JsonObject };
}

/** OpenAPI 3.0 ignores what is beside a reference, so references to scalars are written out with their descriptions. */
function withoutSiblings(node: JsonObject, schemas: Record<string, JsonObject>): JsonObject {
  const { $ref, ...siblings } = node;
  if (typeof $ref !== 'string') return node;
  const schema = schemas[$ref.replace('#/components/schemas/', '')];
  // A closed set stays a type of its own.
  return schema && isScalar(schema) && !('enum' in schema) ? { ...schema, ...siblings } : { $ref };
}

function inWordsOf30(node: JsonObject): JsonObject {
  // A custom field or an answer is any value: clients in Java and Rust that are generated from a list of types fail.
  const { type, const: only, examples, ...rest } = node;
  delete rest['anyOf'];
  const [named] = [type].flat().filter((name) => name !== 'null');
  return {
    ...rest,
    ...(named === undefined ? {} : { type: named }),
    ...(Array.isArray(type) ? { nullable: true } : {}),
    ...(only === undefined ? {} : { enum: [only] }),
    ...(Array.isArray(examples) ? { example: examples[0] ?? null } : examples && { examples }),
  };
}
