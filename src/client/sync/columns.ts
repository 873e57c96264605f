import { contractDocument, type JsonSchema } from '../../contract/document.ts';
import { schemaNames } from '../../contract/records.ts';
import { brokenContract } from '../errors.ts';
import { type Resource, resources } from './sink.ts';

export interface CopyColumn {
  name: string;
  type: 'TEXT' | 'INTEGER' | 'REAL';
  /** The form of the column's values: unchanged, a boolean as 0 or 1, or an object or list as JSON text. */
  holds: 'value' | 'boolean' | 'json';
}

/** The maximum number of characters that an error shows of a wrong value. */
const SHOWN_MAX = 60;

/** Returns the columns of each resource, one for each property of its schema in the contract. */
export function readColumns(): Record<Resource, CopyColumn[]> {
  const { schemas } = contractDocument().components;
  const columns = resources.map((resource) => {
    const { properties = {} } = schemas[schemaNames[resource].whole] ?? {};
    return [resource, Object.entries(properties).map(([name, schema]) => ({ name, ...kindOf(schema) }))];
  });
  return Object.fromEntries(columns) as Record<Resource, CopyColumn[]>;
}

function kindOf({ type = [] }: JsonSchema): Pick<CopyColumn, 'type' | 'holds'> {
  const [only, ...others] = [type].flat().filter((name) => name !== 'null');
  if (others.length > 0) return { type: 'TEXT', holds: 'json' };
  if (only === 'string') return { type: 'TEXT', holds: 'value' };
  if (only === 'integer') return { type: 'INTEGER', holds: 'value' };
  if (only === 'number') return { type: 'REAL', holds: 'value' };
  if (only === 'boolean') return { type: 'INTEGER', holds: 'boolean' };
  return { type: 'TEXT', holds: 'json' };
}

/**
 * Returns a record's value for a column; null if the record lacks the member.
 * @throws ApiError for a value that the contract doesn't allow there.
 */
export function columnValue({ name, type, holds }: CopyColumn, record: object): string | number | null {
  const value = (record as Record<string, unknown>)[name] ?? null;
  if (value === null) return null;
  if (holds === 'json') return JSON.stringify(value);
  const isAllowed = holds === 'boolean' ? typeof value === 'boolean' : fits[type](value);
  if (!isAllowed)
    throw brokenContract(`The ${name} of a record is ${JSON.stringify(value).slice(0, SHOWN_MAX)}.`);
  return typeof value === 'boolean' ? Number(value) : (value as string | number);
}

const fits: Record<CopyColumn['type'], (value: unknown) => boolean> = {
  TEXT: (value) => typeof value === 'string',
  INTEGER: Number.isSafeInteger,
  REAL: (value) => typeof value === 'number',
};
