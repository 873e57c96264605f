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

/** Keywords whose values are data, which must not be rewritten like schemas. */
const VALUES: readonly string[] = ['default', 'enum', 'example', 'examples'];

/**
 * Returns the contract as OpenAPI 3.0, for generators that support nothing later. Requests and responses are equivalent:
 * `nullable` replaces the type `null`, an `enum` of one replaces `const`, and `example` replaces the `examples` of a schema.
 * Version 3.0 has no webhooks and no scopes for a bearer token, so an operation states its scope as `x-scope`.
 *
 * The converter on npm would install a second version of TypeScript, and drop the descriptions beside references.
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
    // Properties of records can have the same names as keywords.
    if (name === 'properties') return each(value, true);
    return each(inWordsOf30(withoutSiblings(value, contract.components.schemas)), false);
  };
  return withoutUnused(rewritten({ ...contract, openapi: '3.0.3' }) as Contract);
}

/** Returns the contract without components only for webhooks, and inlined scalars. `Event` is kept for receivers' types. */
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

/** Returns a node with references to scalars inlined, because OpenAPI 3.0 ignores the descriptions beside a reference. */
function withoutSiblings(node: JsonObject, schemas: Record<string, JsonObject>): JsonObject {
  const { $ref, ...siblings } = node;
  if (typeof $ref !== 'string') return node;
  const schema = schemas[$ref.replace('#/components/schemas/', '')];
  // Enums remain separate types.
  return schema && isScalar(schema) && !('enum' in schema) ? { ...schema, ...siblings } : { $ref };
}

function inWordsOf30(node: JsonObject): JsonObject {
  // Custom fields and answers can have any type, and generated Java and Rust clients fail on a list of types.
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
