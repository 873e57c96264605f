import { isDeepStrictEqual } from 'node:util';

import type { ContractParameter, JsonSchema } from '../../src/contract/document.ts';
import { codeOf, conformanceProblems } from './_conformance.ts';
import {
  type DeclaredExample,
  type DeclaredOperation,
  declaredOperations,
  declaredResponse,
  knownPath,
} from './_declared.ts';
import { type Answer, type Asked, ask, parsed } from './_exchange.ts';
import { type Asker, headersOf, type Party, type ServerName } from './_parties.ts';
import { type Spellings, wrongNames, wrongSpellings } from './_spellings.ts';

/** The body that the answer has to have. */
export type Expected =
  | { body: unknown }
  /** For a sentence that depends on the request: the code is certain. */
  | { code: string }
  | { text: string }
  /** For a file that is another one in each place: that it is one of its kind is certain. */
  | { file: 'PDF' }
  | undefined;

/** One thing that is asked, of everyone alike. */
export interface Question {
  name: string;
  operationId: string;
  status: number;
  /** The named example that this question reaches. */
  example?: string | undefined;
  /** Path and query. */
  target: string;
  asker: Asker;
  server: ServerName;
  /** How the mock is told what it can't know. */
  prefer?: string | undefined;
  expected: Expected;
  /** Where the mock's body differs, by a declared difference. */
  mockExpected?: Expected;
  manner: 'plain' | 'conditional' | 'overlong' | 'until refused';
  /** The parties that can be asked: everyone, but for a declared difference. */
  of: 'everyone' | 'the mock' | 'the servers';
}

/** Headers that the mock adds (suite-answers.test.ts declares it). */
export const mockHeaders = [
  'access-control-allow-origin',
  'access-control-allow-headers',
  'access-control-allow-credentials',
  'access-control-expose-headers',
  'sl-violations',
];

const ABSENT_ID = 'absent_0000';
const ABSENT_UUID = '01a00000-0000-7000-8000-000000000000';
const REFUSED_AFTER_MAX = 125;
const HEADER_BYTES_TOO_MANY = 20_000;

/** Whether a party can be asked a question. */
export function isFor(question: Question, party: Party): boolean {
  return question.of === 'everyone' || (question.of === 'the mock') === (party.name === 'mock');
}

/** Asks a party a question, and says everything that is wrong with the answer. */
export async function examine(party: Party, question: Question): Promise<string[]> {
  const answer = await answerTo(party, question);
  if (answer.status !== question.status) {
    return [`the status is ${answer.status}, not ${question.status}: ${answer.body.slice(0, 200)}`];
  }
  const extraHeaders = party.name === 'mock' ? mockHeaders : [];
  const expected = party.name === 'mock' ? (question.mockExpected ?? question.expected) : question.expected;
  return [
    ...conformanceProblems(question.operationId, answer, { extraHeaders }),
    ...expectationProblems(expected, answer),
  ];
}

async function answerTo(party: Party, question: Question): Promise<Answer> {
  const isMock = party.name === 'mock';
  const url = party.urls[question.server];
  const key = headersOf(party, question.asker);
  const headers = isMock && question.prefer !== undefined ? { ...key, prefer: question.prefer } : key;
  const asked = { target: question.target, headers };
  if (question.manner === 'conditional') {
    const { etag = 'none' } = (await ask(url, { ...asked, headers: key })).headers;
    return ask(url, { ...asked, headers: { ...headers, 'if-none-match': etag } });
  }
  // The mock is told the outcome; a server has to be brought to it.
  if (isMock || question.manner === 'plain') return ask(url, asked);
  if (question.manner === 'overlong') {
    return ask(url, { ...asked, headers: { ...headers, 'x-padding': 'x'.repeat(HEADER_BYTES_TOO_MANY) } });
  }
  return askUntilRefused(url, asked);
}

async function askUntilRefused(url: string, asked: Asked): Promise<Answer> {
  let answer = await ask(url, asked);
  for (let count = 1; answer.status !== 429 && count < REFUSED_AFTER_MAX; count++) {
    answer = await ask(url, asked);
  }
  return answer;
}

function expectationProblems(expected: Expected, answer: Answer): string[] {
  if (expected === undefined) return [];
  if ('text' in expected)
    return answer.body === expected.text ? [] : ['the bytes are not those of the example'];
  if ('file' in expected)
    return /^%PDF-1\.\d\n.*%%EOF\n?$/s.test(answer.body) ? [] : ['the bytes are not those of a PDF'];
  const body = parsed(answer);
  if ('code' in expected) {
    return codeOf(body) === expected.code ? [] : [`the code is ${codeOf(body)}, not ${expected.code}`];
  }
  const wanted = withWait(expected.body, answer);
  if (isDeepStrictEqual(body, wanted)) return [];
  return [`the body differs from the example: ${firstDifference(body, wanted, '')}`];
}

/** The sentence of `rate_limited` names the seconds of the answer's own Retry-After. */
function withWait(body: unknown, { headers }: Answer): unknown {
  if (codeOf(body) !== 'rate_limited' || headers['retry-after'] === undefined) return body;
  return JSON.parse(
    JSON.stringify(body).replace(/Wait \d+ seconds/, `Wait ${headers['retry-after']} seconds`),
  );
}

/** Where two JSON values part, and both values there. */
export function firstDifference(actual: unknown, wanted: unknown, path: string): string {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  if (!isObject(actual) || !isObject(wanted) || Array.isArray(actual) !== Array.isArray(wanted)) {
    return `${path || '/'} is ${JSON.stringify(actual)}, not ${JSON.stringify(wanted)}`.slice(0, 400);
  }
  // Both were found to be objects.
  const [left, right] = [actual as Record<string, unknown>, wanted as Record<string, unknown>];
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const name of names) {
    if (!isDeepStrictEqual(left[name], right[name])) {
      return firstDifference(left[name], right[name], `${path}/${name}`);
    }
  }
  return `${path || '/'} has its members in another order`;
}

/** Every question of the suite, from what the contract declares. */
export function questions(): Question[] {
  return declaredOperations().flatMap((operation) => [
    ...successes(operation),
    ...unchanged(operation),
    ...errors(operation),
    ...further(operation),
  ]);
}

function successes(operation: DeclaredOperation): Question[] {
  const { operationId } = operation;
  return declaredResponse(operationId, 200).examples.map(({ name, value, request }) => {
    if (request === undefined) throw new Error(`${operationId}: the example ${name} names no request.`);
    return {
      ...basis(operation, 200, name),
      target: request,
      prefer: `code=200, example=${name}`,
      ...expectationOf(value),
    };
  });
}

/** The example of a file is the smallest of its kind, and only the mock's (suite-answers.test.ts declares it). */
function expectationOf(value: unknown): Pick<Question, 'expected' | 'mockExpected'> {
  if (typeof value !== 'string') return { expected: { body: value } };
  return { expected: { file: 'PDF' }, mockExpected: { text: value } };
}

function unchanged(operation: DeclaredOperation): Question[] {
  return [
    {
      ...basis(operation, 304, 'nothing has changed'),
      example: undefined,
      prefer: 'code=304',
      expected: { text: '' },
      manner: 'conditional',
    },
  ];
}

/** How a real server is brought to give each error that the contract shows. */
const provocations: Record<
  string,
  (operation: DeclaredOperation, example: DeclaredExample) => Partial<Question>
> = {
  invalidParameter: ({ operationId }) => ({ target: `${knownPath(operationId)}?limit=250` }),
  unknownParameter: ({ operationId }) => ({ target: `${knownPath(operationId)}?limit=1` }),
  invalidCursor: (operation) => ({
    target: `${knownPath(operation.operationId)}?cursor=${cursorOfAnother(operation)}`,
  }),
  invalidRequest: () => ({ manner: 'overlong' }),
  invalidKey: () => ({ asker: 'wrong' }),
  revokedKey: () => ({ asker: 'revoked' }),
  missingScope: ({ scope }, { value }) => ({
    asker: `without ${scope}`,
    expected: { body: JSON.parse(JSON.stringify(value).replace('invoices:read', scope)) },
    mockExpected: { body: value },
  }),
  apiNotEnabled: () => ({ asker: 'cut off' }),
  companyUnavailable: () => ({ asker: 'unpaid' }),
  moduleNotLicensed: ({ scope }) => ({ asker: `unlicensed for ${scope}` }),
  notFound: (operation) => ({ target: absentPath(operation) }),
  rateLimited: () => ({ asker: 'spender', server: 'busy', manner: 'until refused' }),
  unavailable: () => ({ server: 'without records' }),
  invoicingNotEnabled: () => ({ asker: 'uninvoiced' }),
};

function errors(operation: DeclaredOperation): Question[] {
  return [...operation.responses]
    .filter(([status]) => status >= 400)
    .flatMap(([status, { examples }]) =>
      examples.map((example) => {
        const provoke = provocations[example.name];
        if (!provoke) throw new Error(`Nobody knows how to provoke the example ${example.name}.`);
        const question = { ...basis(operation, status, example.name), expected: { body: example.value } };
        return { ...question, ...provoke(operation, example) };
      }),
    );
}

/** Questions beyond the examples: other ways into the same answers. */
function further(operation: DeclaredOperation): Question[] {
  const { operationId, parameters } = operation;
  return [
    {
      ...basis(operation, 401, 'invalidKey'),
      name: `401 ${operationId}: no key`,
      asker: 'nobody',
      prefer: undefined,
      expected: { code: 'invalid_key' },
    },
    {
      ...basis(operation, 503, 'unavailable'),
      name: `503 ${operationId}: keys can't be looked up`,
      server: 'without keys',
      expected: { body: exampleValue(operation, 503, 'unavailable') },
    },
    {
      ...basis(operation, 400, 'invalidParameter'),
      name: `400 ${operationId}: an unknown parameter`,
      target: `${knownPath(operationId)}?limti=4`,
      expected: { code: 'invalid_parameter' },
      of: 'the servers',
    },
    ...parameters.flatMap((parameter) =>
      parameter.in === 'path'
        ? wrongIds(operation, parameter)
        : [
            ...wrongQueries(operation, parameter),
            ...oddQueries(operation, parameter),
            ...misspelt(operation, parameter),
          ],
    ),
  ];
}

/** Values and names that some server might take, though the contract doesn't; those of the long tables in turns. */
function misspelt(operation: DeclaredOperation, { name, schema }: ContractParameter): Question[] {
  const operations = declaredOperations().filter(({ parameters }) =>
    parameters.some((one) => one.name === name),
  );
  const turn = operations.findIndex(({ operationId }) => operationId === operation.operationId);
  const asked = ({ always, sometimes }: Spellings) => [
    ...always,
    ...sometimes.filter((_one, index) => index % operations.length === turn),
  ];
  const value = rightValue(operation, name, schema);
  const code = name === 'cursor' ? 'invalid_cursor' : 'invalid_parameter';
  const cases = [
    ...asked(wrongSpellings(name, schema)).map((text) => ({ query: `${name}=${text}`, code })),
    ...asked(wrongNames(name)).map((text) => ({ query: `${text}=${value}`, code: 'invalid_parameter' })),
  ];
  return cases.map(({ query, code }) => ({
    ...basis(operation, 400, 'invalidParameter'),
    name: `400 ${operation.operationId}: misspelt, ${query.slice(0, 60)}`,
    target: `${knownPath(operation.operationId)}?${query}`,
    expected: { code },
    of: 'the servers',
  }));
}

/** A malformed id is the id of nothing. */
function wrongIds(operation: DeclaredOperation, { name, schema }: ContractParameter): Question[] {
  const ids =
    schema.format === 'uuid' ? ['job_0001', `${ABSENT_UUID}0`, '%00'] : ['-x', '%00', 'x'.repeat(65)];
  return [...ids, '%zz', '%ff', 'y'.repeat(8_100)].map((id) => ({
    ...basis(operation, 404, 'notFound'),
    name: `404 ${operation.operationId}: ${name} is ${id.slice(0, 40)}`,
    target: operation.path.replace(/\{\w+\}/, id),
    expected: { body: exampleValue(operation, 404, 'notFound') },
    of: 'the servers',
  }));
}

function wrongQueries(operation: DeclaredOperation, { name, schema }: ContractParameter): Question[] {
  const code = name === 'cursor' ? 'invalid_cursor' : 'invalid_parameter';
  return wrongValues(schema).map((text) => ({
    ...basis(operation, 400, 'invalidParameter'),
    name: `400 ${operation.operationId}: ${name} is ${text}`,
    target: `${knownPath(operation.operationId)}?${name}=${text}`,
    prefer: undefined,
    expected: { code },
    mockExpected: { code: 'invalid_parameter' },
  }));
}

/** A value that is right, but comes twice; a parameter without any; an offset whose plus sign became a space. */
function oddQueries(operation: DeclaredOperation, { name, schema }: ContractParameter): Question[] {
  const value = rightValue(operation, name, schema);
  const code = name === 'cursor' ? 'invalid_cursor' : 'invalid_parameter';
  const plus = schema.format === 'date-time' ? ['2026-11-16T00:00:00+01:00'] : [];
  const cases = [
    { says: 'comes twice', query: `${name}=${value}&${name}=${value}`, code: 'invalid_parameter' },
    { says: 'is empty', query: `${name}=`, code },
    { says: 'has no value', query: name, code },
    ...plus.map((time) => ({ says: 'has a plus that is not escaped', query: `${name}=${time}`, code })),
  ];
  return cases.map(({ says, query, code }) => ({
    ...basis(operation, 400, 'invalidParameter'),
    name: `400 ${operation.operationId}: ${name} ${says}`,
    target: `${knownPath(operation.operationId)}?${query}`,
    expected: { code },
    of: 'the servers',
  }));
}

function rightValue(
  operation: DeclaredOperation,
  name: string,
  { type, format, enum: values }: JsonSchema,
): string {
  if (values) return String(values[0]);
  if (type === 'integer') return '1';
  if (format === 'date') return '2026-11-16';
  if (format === 'date-time') return '2026-11-16T00:00:00.000Z';
  return name === 'cursor' ? cursorOf(operation.operationId) : 'cus_0001';
}

/** Values that break a parameter's rule in a way that both the mock and the servers notice. */
function wrongValues({ type, format, enum: values }: JsonSchema): string[] {
  if (values) return ['nonsense'];
  if (type === 'integer') return ['0', '101', 'ten'];
  if (format === 'date') return ['2026-02-30', 'yesterday'];
  if (format === 'date-time') return ['2026-11-16', '2026-11-31T00:00:00.000Z'];
  return ['-x', 'x%20y'];
}

/** A question that the reader asks of the normal server, for the body of a named example. */
function basis(operation: DeclaredOperation, status: number, example: string): Question {
  const { operationId } = operation;
  return {
    name: `${status} ${operationId}: ${example}`,
    operationId,
    status,
    example,
    target: knownPath(operationId),
    asker: 'reader',
    server: 'normal',
    prefer: `code=${status}, example=${example}`,
    expected: undefined,
    manner: 'plain',
    of: 'everyone',
  };
}

function exampleValue({ operationId }: DeclaredOperation, status: number, name: string): unknown {
  const example = declaredResponse(operationId, status).examples.find((candidate) => candidate.name === name);
  if (!example) throw new Error(`${operationId} has no example ${name} of ${status}.`);
  return example.value;
}

/** The path of an operation, with the id of nothing if it takes one. */
export function absentPath({ path, parameters }: DeclaredOperation): string {
  return path.replace(/\{(\w+)\}/, (_all, name: string) => {
    const parameter = parameters.find((candidate) => candidate.name === name);
    return parameter?.schema.format === 'uuid' ? ABSENT_UUID : ABSENT_ID;
  });
}

/** A cursor that another list has given: of jobs for all lists but theirs. */
function cursorOfAnother({ operationId }: DeclaredOperation): string {
  return cursorOf(operationId === 'listJobs' ? 'listInvoices' : 'listJobs');
}

/** A cursor that a list has given. */
function cursorOf(operationId: string): string {
  for (const { value } of declaredResponse(operationId, 200).examples) {
    const { nextCursor } = value as { nextCursor: string | null };
    if (nextCursor !== null) return nextCursor;
  }
  throw new Error(`No example of ${operationId} has a next page.`);
}
