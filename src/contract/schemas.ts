import type { JsonSchema } from './document.ts';

/**
 * A copy of a schema in which no object may have a member that isn't declared. The published schemas stay open, so
 * that clients tolerate additions; what we store and what we send is held to what we declared.
 */
export function closedSchema(schema: JsonSchema): JsonSchema {
  return changeSchemas(schema, (inner) =>
    inner.properties && inner.additionalProperties === undefined
      ? { ...inner, unevaluatedProperties: false }
      : inner,
  );
}

const PROSE_KEYWORDS = /^(?:title|description|examples?|deprecated|externalDocs|x-.*)$/;

/** A copy of a schema with only what decides which values are valid. */
export function schemaWithoutProse(schema: JsonSchema): JsonSchema {
  return changeSchemas(schema, (inner) =>
    Object.fromEntries(Object.entries(inner).filter(([keyword]) => !PROSE_KEYWORDS.test(keyword))),
  );
}

/** A copy of a schema in which `change` was made to it and to every schema inside, these first. */
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
