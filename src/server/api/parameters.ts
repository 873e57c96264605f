import type { ErrorObject } from 'ajv/dist/2020.js';

import type { ContractParameter, JsonSchema } from '../../contract/document.ts';
import { toUtc } from '../../contract/times.ts';
import { AppError, quote, unknownName } from '../../errors.ts';
import { noRecord } from './records.ts';

/** Query parameters by name: a text, or a list of texts if the name is repeated. */
export type RawQuery = Record<string, string | string[]>;

/** Query parameters by name, with those that the contract has as integers converted to numbers. */
export type ReadQuery = Record<string, string | string[] | number>;

/** Returns a query string's parameters, with all values of a repeated name, so that it can be refused. */
export function readQuery(text: string): RawQuery {
  // The object has no prototype, so that a parameter called __proto__ isn't special.
  const query = Object.create(null) as RawQuery;
  // URLSearchParams strips a leading question mark, so one is added to protect one that is part of a name.
  for (const [name, value] of new URLSearchParams(`?${text}`)) {
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    // Appends to the list in place, because a request can repeat a name thousands of times.
    else if (Array.isArray(earlier)) earlier.push(value);
    else query[name] = [earlier, value];
  }
  return query;
}

/** Refuses a query with escapes that aren't valid UTF-8 and would be read as U+FFFD. @throws AppError `invalid_parameter`. */
export function refuseForeignBytes(query: string): void {
  const isForeign = (part: string) => part.match(/(?:%[\da-f]{2})+/gi)?.some((run) => !isDecodable(run));
  const part = query.split('&').find(isForeign);
  if (part !== undefined)
    throw new AppError('invalid_parameter', `The parameter ${quote(part)} has bytes that are not UTF-8.`);
}

/** Whether a text's percent escapes are valid UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** Converts the times in a validated query, in place, to the format used in records, so that they can be compared as text. */
export function readTimes(query: ReadQuery, parameters: readonly ContractParameter[]): void {
  for (const { name, schema } of parameters) {
    const time = query[name];
    if (schema.format === 'date-time' && typeof time === 'string') query[name] = toUtc(time);
  }
}

/** Converts the UUIDs in a path, in place, to lower case, as stored; their case doesn't matter (RFC 9562 section 4). */
export function readUuids(
  path: Record<string, string>,
  parameters: readonly ContractParameter[],
): Record<string, string> {
  for (const { name, in: place, schema } of parameters)
    if (place === 'path' && schema.format === 'uuid') path[name] = path[name]?.toLowerCase() ?? '';
  return path;
}

/**
 * Returns a query with integer parameters converted to numbers, in place. Only decimal digits without leading zeros are
 * converted: `1e1`, `5.0` and `010` stay strings, which validation then rejects.
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
 * Returns the error to send if a request's parameters are invalid, otherwise undefined. A malformed id in the path is
 * `not_found`, because there is nothing with that id.
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

/** Returns a description of a parameter's valid values, from its schema. */
function ruleOf({ type, enum: values, format, minimum, maximum, maxLength }: JsonSchema): string {
  if (values) return `one of ${values.join(', ')}`;
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}`;
  if (format === 'date') return 'a calendar date like 2026-11-20';
  if (format === 'date-time') return 'an RFC 3339 time with an offset, like 2026-11-20T12:00:00.000Z';
  return `an id of 1 to ${maxLength} letters, digits and the characters . _ : -, a letter or digit first`;
}

/** Returns a hint if only the notation of a value is wrong, otherwise an empty text. */
function hint(parameter: ContractParameter | undefined, value: string): string {
  const { type, format } = parameter?.schema ?? {};
  if (type === 'integer' && /^0+[1-9]/.test(value)) return ' Write it without leading zeros.';
  // In a query string, a plus sign means a space.
  if (format === 'date-time' && / \d{2}:\d{2}$/.test(value)) return ' Write the + of an offset as %2B.';
  return '';
}
