import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

import type { JsonSchema } from '../../src/contract/document.ts';
import { closedSchema } from '../../src/contract/schemas.ts';
import { createAjv } from '../../src/contract/validators.ts';
import { type DeclaredHeader, type DeclaredResponse, declaredOperation } from './_declared.ts';
import { type Answer, parsed } from './_exchange.ts';

/** The codes that may come with each status (openapi.yaml, "Errors and retries"). */
const errorCodes: Readonly<Record<number, readonly string[]>> = {
  400: ['invalid_parameter', 'invalid_cursor', 'invalid_request'],
  401: ['invalid_key', 'revoked_key'],
  403: ['missing_scope', 'api_not_enabled', 'company_unavailable', 'module_not_licensed'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  429: ['rate_limited'],
  503: ['unavailable', 'invoicing_not_enabled'],
};

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

/** How far clocks may be apart (the contract, "Staying in sync"). */
const CLOCKS_APART_SECONDS_MAX = 60;

export interface ConformanceOptions {
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
  const response = declaredOperation(operationId).responses.get(answer.status);
  if (!response) return [`the status ${answer.status} is not declared`];
  return responseProblems(response, answer, options);
}

/** As {@link conformanceProblems}, for a method that a path doesn't take: the contract describes 405 in words. */
export function refusedMethodProblems(answer: Answer, method: string): string[] {
  if (answer.status !== 405) return [`the status is ${answer.status}, not 405`];
  const { headers, ...unauthorized } = errorResponse();
  const declared = new Map([...headers].filter(([name]) => name !== 'www-authenticate'));
  declared.set('allow', { required: true, schema: { type: 'string', const: 'GET, HEAD' } });
  return responseProblems({ ...unauthorized, headers: declared }, answer, { method });
}

/** As {@link conformanceProblems}, for a method that HTTP doesn't have: what isn't HTTP may be told so instead. */
export function unknownMethodProblems(answer: Answer, method: string): string[] {
  return answer.status === 400
    ? conformanceProblems('listJobs', answer, { method })
    : refusedMethodProblems(answer, method);
}

/** As {@link conformanceProblems}, for a path that the contract doesn't have. */
export function unknownPathProblems(answer: Answer): string[] {
  if (answer.status !== 404) return [`the status is ${answer.status}, not 404`];
  const { headers, ...unauthorized } = errorResponse();
  const declared = new Map([...headers].filter(([name]) => name !== 'www-authenticate'));
  return responseProblems({ ...unauthorized, headers: declared }, answer, {});
}

/** The headers and the schema that every error has: those of an answer to an unknown caller. */
function errorResponse(): DeclaredResponse {
  const response = declaredOperation('listJobs').responses.get(401);
  if (!response) throw new Error('The contract declares no 401 for listJobs.');
  return { ...response, examples: [] };
}

function responseProblems(
  response: DeclaredResponse,
  answer: Answer,
  { method = 'GET', extraHeaders = [] }: ConformanceOptions,
): string[] {
  const isBodiless = method === 'HEAD' || answer.status === 304;
  return [
    ...headerProblems(response.headers, answer, extraHeaders),
    ...dateProblems(answer),
    ...lengthProblems(answer, isBodiless),
    ...mediaTypeProblems(response, answer),
    ...(isBodiless || response.schema === undefined ? [] : bodyProblems(response, response.schema, answer)),
  ];
}

function headerProblems(
  declared: ReadonlyMap<string, DeclaredHeader>,
  { headers, repeated }: Answer,
  extraHeaders: readonly string[],
): string[] {
  const problems = repeated.map((name) => `the header ${name} came more than once`);
  for (const [name, { required, schema }] of declared) {
    const text = headers[name];
    if (text === undefined) {
      if (required) problems.push(`the header ${name} is missing`);
      continue;
    }
    problems.push(...schemaProblems(schema, headerValue(schema, text), `the header ${name}`));
  }
  const known = [...declared.keys(), ...transportHeaders, ...extraHeaders];
  for (const name of Object.keys(headers)) {
    if (!known.includes(name)) problems.push(`the header ${name} is not declared`);
  }
  return problems;
}

/**
 * A checkpoint is made of `Date` (the contract, "Staying in sync"), so every answer has one (RFC 9110 section 6.6.1), and
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
function headerValue(schema: JsonSchema, text: string): unknown {
  return schema.type === 'integer' && /^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : text;
}

function lengthProblems({ headers, byteCount, status }: Answer, isBodiless: boolean): string[] {
  const declared = headers['content-length'];
  if (isBodiless) {
    const withBody = byteCount > 0 ? [`a body of ${byteCount} bytes came with it`] : [];
    const withType = status === 304 && headers['content-type'] !== undefined;
    return withType ? [...withBody, 'a 304 has a Content-Type'] : withBody;
  }
  if (declared === undefined) return ['the header content-length is missing'];
  return Number(declared) === byteCount ? [] : [`Content-Length is ${declared}, the body ${byteCount} bytes`];
}

function mediaTypeProblems({ mediaType }: DeclaredResponse, { headers }: Answer): string[] {
  const sent = headers['content-type'];
  return sent === mediaType ? [] : [`the media type is ${sent ?? 'none'}, not ${mediaType ?? 'none'}`];
}

function bodyProblems(
  { mediaType, examples }: DeclaredResponse,
  schema: JsonSchema,
  answer: Answer,
): string[] {
  // Other checks look into the bytes of a PDF.
  if (mediaType !== 'application/json') return answer.byteCount > 0 ? [] : ['the body is empty'];
  const body = parsed(answer);
  if (body === undefined) return ['the body is not JSON'];
  const problems = schemaProblems(schema, body, 'the body');
  // Strict parsers refuse a member that comes twice, and an integer that is written 1200.0 or 12e2.
  if (JSON.stringify(body) !== answer.body) problems.push('the body is not the plain JSON text of its value');
  if (answer.status >= 400) problems.push(...errorProblems(examples, answer, body));
  return problems;
}

function errorProblems(examples: DeclaredResponse['examples'], answer: Answer, body: unknown): string[] {
  const code = codeOf(body);
  const problems: string[] = [];
  if (!errorCodes[answer.status]?.includes(code))
    problems.push(`the code ${code} is not of ${answer.status}`);
  const shown = examples.map(({ value }) => codeOf(value));
  if (shown.length > 0 && !shown.includes(code))
    problems.push(`no example of this response has the code ${code}`);
  const needsRetryAfter = code === 'rate_limited' || code === 'unavailable';
  if (needsRetryAfter && answer.headers['retry-after'] === undefined) {
    problems.push('the header retry-after is missing');
  }
  return problems;
}

/** The code in an error's body. */
export function codeOf(body: unknown): string {
  const error = (body as { error?: { code?: unknown } } | undefined)?.error;
  return typeof error?.code === 'string' ? error.code : 'none';
}

const ajv = createAjv();
const validators = new Map<JsonSchema, ValidateFunction>();

function schemaProblems(schema: JsonSchema, value: unknown, what: string): string[] {
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
