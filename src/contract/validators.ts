import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { contractDocument, type JsonSchema } from './document.ts';

/** An ajv for the contract's schemas: JSON Schema 2020-12 with formats. */
export function createAjv(options: ConstructorParameters<typeof Ajv2020>[0] = {}): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ...options });
  // Under nodenext the package's default export is its CommonJS namespace.
  addFormats.default(ajv);
  return ajv;
}

/**
 * A copy of a schema in which no object may have a member that isn't declared. The published schemas stay open, so
 * that clients tolerate additions; what we store and what we send is held to what we declared.
 */
export function closedSchema(schema: JsonSchema): JsonSchema {
  const closed: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) closed[keyword] = closeInside(keyword, value);
  if (closed.properties && closed.additionalProperties === undefined) closed.unevaluatedProperties = false;
  return closed;
}

/** Keywords that hold one schema. */
const SCHEMA_KEYWORDS = 'items additionalProperties not if then else contains propertyNames'.split(' ');

function closeInside(keyword: string, value: unknown): unknown {
  if (keyword === 'properties' || keyword === 'patternProperties' || keyword === '$defs') {
    const entries = Object.entries(value as Record<string, JsonSchema>);
    return Object.fromEntries(entries.map(([name, schema]) => [name, closedSchema(schema)]));
  }
  if (SCHEMA_KEYWORDS.includes(keyword) && typeof value === 'object')
    return closedSchema(value as JsonSchema);
  if (['oneOf', 'anyOf', 'allOf', 'prefixItems'].includes(keyword))
    return (value as JsonSchema[]).map(closedSchema);
  return value;
}

let recordAjv: Ajv2020 | undefined;
const recordValidators = new Map<string, ValidateFunction>();

/** Says what is wrong with a record by the contract's schema of that name, closed; undefined when nothing is. */
export function recordProblem(schemaName: string, record: unknown): string | undefined {
  let validate = recordValidators.get(schemaName);
  if (!validate) {
    const schema = contractDocument().components.schemas[schemaName];
    if (!schema) throw new Error(`The contract has no schema ${schemaName}.`);
    recordAjv ??= createAjv({ allErrors: false });
    validate = recordAjv.compile(closedSchema(schema));
    recordValidators.set(schemaName, validate);
  }
  if (validate(record)) return undefined;
  const [error] = validate.errors ?? [];
  return error ? describeError(error) : 'is not valid';
}

function describeError({ instancePath, message, params }: ErrorObject): string {
  const unknown = (params as { unevaluatedProperty?: string }).unevaluatedProperty;
  return `${instancePath || '/'} ${message ?? 'is not valid'}${unknown === undefined ? '' : `: ${unknown}`}`;
}
