import { readFileSync } from 'node:fs';

import { brokenContract } from '../errors.ts';
import type { Resource } from './sink.ts';

/** A column of a resource's table: a member of its records. */
export interface Column {
  name: string;
  type: 'TEXT' | 'INTEGER' | 'REAL';
  /** Whether it holds what is inside a member as JSON; SQLite keeps a boolean as 0 or 1. */
  holds: 'value' | 'boolean' | 'json';
}

/** Characters of a wrong value that are shown. */
const SHOWN_MAX = 60;

interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
}

/** The schema of the whole record of each resource. */
export const wholeSchemas = {
  people: 'Person',
  customers: 'Customer',
  forms: 'Form',
  jobs: 'Job',
  submissions: 'Submission',
  quotes: 'Quote',
  invoices: 'Invoice',
} as const satisfies Record<Resource, string>;

/** The columns of each resource, as the contract has its members. */
export function readColumns(): Record<Resource, Column[]> {
  const file = new URL('../../../generated/openapi.json', import.meta.url);
  const { components } = JSON.parse(readFileSync(file, 'utf8')) as {
    components: { schemas: Record<string, Schema> };
  };
  const schemaOf = ({ $ref, ...schema }: Schema): Schema =>
    $ref === undefined
      ? schema
      : schemaOf(components.schemas[$ref.slice('#/components/schemas/'.length)] ?? {});
  const columns = Object.entries(wholeSchemas).map(([resource, name]) => {
    const members = Object.entries(components.schemas[name]?.properties ?? {});
    return [resource, members.map(([member, schema]) => ({ name: member, ...kindOf(schemaOf(schema)) }))];
  });
  // Every resource has a schema.
  return Object.fromEntries(columns) as Record<Resource, Column[]>;
}

function kindOf({ type = [] }: Schema): Pick<Column, 'type' | 'holds'> {
  const [only, ...others] = [type].flat().filter((name) => name !== 'null');
  if (others.length > 0) return { type: 'TEXT', holds: 'json' };
  if (only === 'string') return { type: 'TEXT', holds: 'value' };
  if (only === 'integer') return { type: 'INTEGER', holds: 'value' };
  if (only === 'number') return { type: 'REAL', holds: 'value' };
  if (only === 'boolean') return { type: 'INTEGER', holds: 'boolean' };
  return { type: 'TEXT', holds: 'json' };
}

/**
 * The value of a column; null where the record has no such member.
 * @throws ApiError for a value that the contract doesn't allow there.
 */
export function columnValue({ name, type, holds }: Column, record: object): string | number | null {
  const value = (record as Record<string, unknown>)[name] ?? null;
  if (value === null) return null;
  if (holds === 'json') return JSON.stringify(value);
  const isAllowed = holds === 'boolean' ? typeof value === 'boolean' : fits[type](value);
  if (!isAllowed)
    throw brokenContract(`The ${name} of a record is ${JSON.stringify(value).slice(0, SHOWN_MAX)}.`);
  return typeof value === 'boolean' ? Number(value) : (value as string | number);
}

const fits: Record<Column['type'], (value: unknown) => boolean> = {
  TEXT: (value) => typeof value === 'string',
  INTEGER: Number.isSafeInteger,
  REAL: (value) => typeof value === 'number',
};
