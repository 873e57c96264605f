import type { ErrorObject } from 'ajv/dist/2020.js';

import type { ContractParameter, JsonSchema } from '../../contract/document.ts';
import { toUtc } from '../../contract/times.ts';
import { AppError, quote, unknownName } from '../../errors.ts';
import { noRecord } from './records.ts';

/** Query parameters by name: text, or a list of texts where a name was repeated. */
export type RawQuery = Record<string, string | string[]>;

/** A query whose integers have been read. */
export type ReadQuery = Record<string, string | string[] | number>;

/** Reads a query string. Repeated names are kept, so that they can be refused rather than one of them ignored. */
export function readQuery(text: string): RawQuery {
  // The object inherits no names, so that a parameter called __proto__ is a name like any other.
  const query = Object.create(null) as RawQuery;
  // URLSearchParams drops one question mark at the beginning, which here would be part of a name.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    // Grows the list in place, because a request can repeat a name thousands of times.
    else if (Array.isArray(earlier)) earlier.push(value);
    else query[name] = [earlier, value];
  }
  return query;
}

/** @throws AppError `invalid_parameter` for a query with escapes that aren't of UTF-8, which would be read as U+FFFD. */
export function refuseForeignBytes(query: string): void {
  const isForeign = (part: string) => part.match(/(?:%[\da-f]{2})+/gi)?.some((run) => !isDecodable(run));
  const part = query.split('&').find(isForeign);
  if (part !== undefined)
    throw new AppError('invalid_parameter', `The parameter ${quote(part)} has bytes that are not UTF-8.`);
}

/** Whether the escapes of a text are of UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** Writes the times of a query that has been validated as those of records, in place, so that they compare as text. */
export function readTimes(query: ReadQuery, parameters: readonly ContractParameter[]): void {
  for (const { name, schema } of parameters) {
    const time = query[name];
    if (schema.format === 'date-time' && typeof time === 'string') query[name] = toUtc(time);
  }
}

/** Puts UUIDs into the lower case in which they are stored, in place: case does not matter (RFC 9562 section 4). */
export function readUuids(
  path: Record<string, string>,
  parameters: readonly ContractParameter[],
): Record<string, string> {
  for (const { name, in: place, schema } of parameters)
    if (place === 'path' && schema.format === 'uuid') path[name] = path[name]?.toLowerCase() ?? '';
  return path;
}

/**
 * Turns the text of integer parameters into numbers, in place. Only plain decimal digits without leading zeros count:
 * `1e1`, `5.0` and `010` stay text, which the contract then refuses.
 */
export function readIntegers(query: RawQuery, parameters: readonly ContractParameter[]): ReadQuery {
  const read: ReadQuery = query;
  for (const { name, schema } of parameters) {
    const text = schema.type === 'integer' ? read[name] : undefined;
    if (typeof text === 'string' && /^-?(0|[1-9]\d{0,14})$/.test(text)) read[name] = Number(text);
  }
  return read;
}

/**
 * Says what is wrong with a request's parameters, as the error to answer with.
 * A malformed id in the path is `not_found`: there is nothing with that id.
 */
export function explainParameters(
  errors: readonly Pick<ErrorObject, 'instancePath' | 'keyword' | 'params'>[],
  parameters: readonly ContractParameter[],
  query: ReadQuery,
): AppError {
  const inQuery = errors.find(({ instancePath }) => instancePath.startsWith('/query'));
  if (!inQuery) return noRecord();
  const unknown = (inQuery.params as { additionalProperty?: string }).additionalProperty;
  if (unknown !== undefined) {
    const known = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    return new AppError('invalid_parameter', unknownName(unknown, 'a parameter of this operation', known));
  }
  const name = inQuery.instancePath.split('/')[2] ?? '';
  const given = query[name];
  const parameter = parameters.find((candidate) => candidate.in === 'query' && candidate.name === name);
  if (Array.isArray(given)) {
    return new AppError('invalid_parameter', `${name} must be given once, not ${given.length} times.`);
  }
  const value = String(given ?? '');
  if (name === 'cursor') {
    return new AppError(
      'invalid_cursor',
      `cursor must be the nextCursor of the page before, not ${quote(value)}.`,
    );
  }
  const rule = ruleOf(parameter?.schema ?? {});
  return new AppError(
    'invalid_parameter',
    `${name} must be ${rule}, not ${quote(value)}.${hint(parameter, value)}`,
  );
}

/** A parameter's rule in words, out of its schema. */
function ruleOf({ type, enum: values, format, minimum, maximum, maxLength }: JsonSchema): string {
  if (values) return `one of ${values.join(', ')}`;
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}`;
  if (format === 'date') return 'a calendar date like 2026-11-20';
  if (format === 'date-time') return 'an RFC 3339 time with an offset, like 2026-11-20T12:00:00.000Z';
  return `an id of 1 to ${maxLength} letters, digits and the characters . _ : -, a letter or digit first`;
}

/** A hint for a value that is right but for the way it is written. */
function hint(parameter: ContractParameter | undefined, value: string): string {
  const { type, format } = parameter?.schema ?? {};
  if (type === 'integer' && /^0+[1-9]/.test(value)) return ' Write it without leading zeros.';
  // In a query string a plus sign means a space.
  if (format === 'date-time' && / \d{2}:\d{2}$/.test(value)) return ' Write the + of an offset as %2B.';
  return '';
}
