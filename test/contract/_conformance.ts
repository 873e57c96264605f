import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

import { closedSchema } from '../../src/contract/schemas.ts';
import { createAjv } from '../../src/contract/validators.ts';
import { operationOf, type Response, type Schema } from './_contract.ts';
import { type Answer, codeOf, parsed } from './_exchange.ts';

/** Headers of the transport, which a contract doesn't declare; everything else has to be declared. */
const transportHeaders = [
  'date',
  'connection',
  'keep-alive',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  // Said to browsers by every answer of the service, whatever it is.
  'content-security-policy',
  'referrer-policy',
  'x-content-type-options',
  'strict-transport-security',
];

/** How far clocks may be apart (openapi.yaml, "Staying in sync"). */
const CLOCKS_APART_SECONDS_MAX = 60;

interface ConformanceOptions {
  method?: string;
  /** Headers that this party adds, by a declared difference. */
  extraHeaders?: readonly string[];
}

/** Says everything in which an answer differs from what the contract declares for the operation. */
export function conformanceProblems(
  operationId: string,
  answer: Answer,
  options: ConformanceOptions = {},
): string[] {
  const response = operationOf(operationId).responses[answer.status];
  if (!response) return [`the status ${answer.status} is not declared`];
  return responseProblems(response, answer, options);
}

const allow = { required: true, schema: { type: 'string', const: 'GET, HEAD' } };

/** As {@link conformanceProblems}, for a method that a path doesn't take: the contract describes 405 in words. */
export function refusedMethodProblems(answer: Answer, method: string): string[] {
  return undeclaredProblems(answer, { status: 405, code: 'method_not_allowed', headers: { allow } }, method);
}

/** As {@link conformanceProblems}, for a path that the contract doesn't have. */
export function unknownPathProblems(answer: Answer): string[] {
  return undeclaredProblems(answer, { status: 404, code: 'not_found', headers: {} });
}

/** An error outside of all operations has the schema and the headers that every error has: those of a 401. */
function undeclaredProblems(
  answer: Answer,
  { status, code, headers }: { status: number; code: string; headers: object },
  method?: string,
): string[] {
  if (answer.status !== status) return [`the status is ${answer.status}, not ${status}`];
  const { headers: known = {}, content = {} } = operationOf('listJobs').responses['401'] ?? {};
  const everywhere = Object.fromEntries(
    Object.entries(known).filter(([name]) => name !== 'WWW-Authenticate'),
  );
  const { schema = {} } = content['application/json'] ?? {};
  const examples = { only: { summary: '', value: { error: { code } } } };
  const response = {
    description: '',
    headers: { ...everywhere, ...headers },
    content: { 'application/json': { schema, examples } },
  };
  return responseProblems(response, answer, method === undefined ? {} : { method });
}

function responseProblems(
  response: Response,
  answer: Answer,
  { method = 'GET', extraHeaders = [] }: ConformanceOptions,
): string[] {
  const isBodiless = method === 'HEAD' || answer.status === 304;
  return [
    ...headerProblems(response, answer, extraHeaders),
    ...dateProblems(answer),
    ...lengthProblems(answer, isBodiless),
    ...contentProblems(response, answer, isBodiless),
  ];
}

function headerProblems(
  response: Response,
  { headers, repeated }: Answer,
  extraHeaders: readonly string[],
): string[] {
  const declared = Object.entries(response.headers ?? {}).map(
    ([name, header]) => [name.toLowerCase(), header] as const,
  );
  const known = [...declared.map(([name]) => name), ...transportHeaders, ...extraHeaders];
  return [
    ...repeated.map((name) => `the header ${name} came more than once`),
    ...declared.flatMap(([name, { required, schema }]) => {
      const text = headers[name];
      if (text === undefined) return required ? [`the header ${name} is missing`] : [];
      return schemaProblems(schema, headerValue(schema, text), `the header ${name}`);
    }),
    ...Object.keys(headers)
      .filter((name) => !known.includes(name))
      .map((name) => `the header ${name} is not declared`),
  ];
}

/**
 * A checkpoint is made of `Date` (openapi.yaml, "Staying in sync"), so every answer has one (RFC 9110 section 6.6.1), and
 * it is no further from anybody's clock than the seconds that the contract has clients allow for.
 */
function dateProblems({ headers }: Answer): string[] {
  const { date } = headers;
  if (date === undefined) return ['the header date is missing'];
  const sent = new Date(date);
  if (Number.isNaN(sent.getTime()) || sent.toUTCString() !== date)
    return ['the header date has another form'];
  const seconds = Math.round(Math.abs(Date.now() - sent.getTime()) / 1000);
  return seconds > CLOCKS_APART_SECONDS_MAX ? [`the header date is ${seconds} seconds off`] : [];
}

/** Headers are text; one that is declared a number has to be written as nothing but its digits. */
function headerValue(schema: Schema, text: string): unknown {
  return schema.type === 'integer' && /^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : text;
}

function lengthProblems({ headers, byteCount, status }: Answer, isBodiless: boolean): string[] {
  if (isBodiless) {
    return [
      ...(byteCount > 0 ? [`a body of ${byteCount} bytes came with it`] : []),
      ...(status === 304 && headers['content-type'] !== undefined ? ['a 304 has a Content-Type'] : []),
    ];
  }
  const declared = headers['content-length'];
  if (declared === undefined) return ['the header content-length is missing'];
  return Number(declared) === byteCount ? [] : [`Content-Length is ${declared}, the body ${byteCount} bytes`];
}

function contentProblems({ content = {} }: Response, answer: Answer, isBodiless: boolean): string[] {
  if (answer.status === 304) return [];
  const [mediaType = 'none', declared] = Object.entries(content)[0] ?? [];
  const { 'content-type': sent = 'none' } = answer.headers;
  const problems = sent === mediaType ? [] : [`the media type is ${sent}, not ${mediaType}`];
  if (isBodiless) return problems;
  if (mediaType === 'application/json' && declared)
    return [...problems, ...bodyProblems(declared.schema, declared.examples ?? {}, answer)];
  // Other checks look into the bytes of a PDF.
  return answer.byteCount > 0 ? problems : [...problems, 'the body is empty'];
}

function bodyProblems(
  schema: Schema,
  examples: Record<string, { value: unknown }>,
  answer: Answer,
): string[] {
  const body = parsed(answer);
  if (body === undefined) return ['the body is not JSON'];
  const problems = schemaProblems(schema, body, 'the body');
  // Strict parsers refuse a member that comes twice, and an integer that is written 1200.0 or 12e2.
  if (JSON.stringify(body) !== answer.body) problems.push('the body is not the plain JSON text of its value');
  if (answer.status < 400) return problems;
  const code = codeOf(body);
  if (!Object.values(examples).some(({ value }) => codeOf(value) === code))
    problems.push(`no example of this response has the code ${code}`);
  const needsRetryAfter = code === 'rate_limited' || code === 'unavailable';
  if (needsRetryAfter && answer.headers['retry-after'] === undefined)
    problems.push('the header retry-after is missing');
  return problems;
}

const ajv = createAjv();
const validators = new Map<Schema, ValidateFunction>();

function schemaProblems(schema: Schema, value: unknown, what: string): string[] {
  let validate = validators.get(schema);
  if (!validate) {
    validate = ajv.compile(closedSchema(schema));
    validators.set(schema, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${what} ${describe(error)}`);
}

function describe({ instancePath, message = 'is not valid', params }: ErrorObject): string {
  const name = (params as { unevaluatedProperty?: string }).unevaluatedProperty;
  return `${instancePath || 'as a whole'} ${message}${name === undefined ? '' : `: ${name}`}`;
}
