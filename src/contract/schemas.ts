import type { JsonSchema } from './document.ts';

/**
 * Returns a copy of a schema that rejects undeclared properties. The published schemas stay open, so that clients
 * tolerate additions, but we check what we store and send against the closed ones.
 */
export function closedSchema(schema: JsonSchema): JsonSchema {
  return changeSchemas(schema, (inner) =>
    inner.properties && inner.additionalProperties === undefined
      ? { ...inner, unevaluatedProperties: false }
      : inner,
  );
}

const PROSE_KEYWORDS = /^(?:title|description|examples?|deprecated|externalDocs|x-.*)$/;

/** Returns a copy of a schema with only the keywords that affect validation. */
export function schemaWithoutProse(schema: JsonSchema): JsonSchema {
  return changeSchemas(schema, (inner) =>
    Object.fromEntries(Object.entries(inner).filter(([keyword]) => !PROSE_KEYWORDS.test(keyword))),
  );
}

/** Returns a copy of a schema with `change` applied to all schemas inside it, innermost first, and then to itself. */
function changeSchemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const inside = (inner: JsonSchema) => changeSchemas(inner, change);
  const entries = Object.entries(schema);
  return change(
    Object.fromEntries(entries.map(([keyword, value]) => [keyword, changeInside(keyword, value, inside)])),
  );
}

const SCHEMA_KEYWORDS = 'items additionalProperties not if then else contains propertyNames'.split(' ');

function changeInside(keyword: string, value: unknown, change: (schema: JsonSchema) => JsonSchema): unknown {
  if (keyword === 'properties' || keyword === 'patternProperties' || keyword === '$defs') {
    const entries = Object.entries(value as Record<string, JsonSchema>);
    return Object.fromEntries(entries.map(([name, schema]) => [name, change(schema)]));
  }
  if (SCHEMA_KEYWORDS.includes(keyword) && typeof value === 'object') return change(value as JsonSchema);
  if (['oneOf', 'anyOf', 'allOf', 'prefixItems'].includes(keyword))
    return (value as JsonSchema[]).map(change);
  return value;
}
