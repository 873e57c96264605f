import { isDeepStrictEqual } from 'node:util';

import { conformanceProblems } from './_conformance.ts';
import { type DeclaredOperation, examplesOf, knownPath, operations, type Parameter } from './_contract.ts';
import { type Exam, firstDifference, type Request } from './_exam.ts';
import { codeOf, exchange, parsed, type ReceivedAnswer } from './_exchange.ts';
import { absentPath, answeredPath, listOperationOf, listsOf } from './_lists.ts';
import { headersOf, NotGiven, type Party } from './_parties.ts';
import { type Spellings, wrongNames, wrongValues } from './_spellings.ts';

/** The body that an answer has to have: that of an example, or one of which the code is certain. */
type Expected = { body: unknown } | { code: string } | { file: 'PDF' } | undefined;

/** One thing that is asked, of everyone alike. */
export interface Question extends Request {
  name: string;
  status: number;
  /** Whether the answer is an example of the contract, so that only the example company can give it. */
  isExample?: boolean;
  /** How the mock is told what it can't know. */
  prefer?: string;
  expected?: Expected;
  /** Where the mock's body differs, by a declared difference. */
  mockExpected?: Expected;
  /** How a server is brought to the answer, if not by the request alone. */
  manner?: 'conditional' | 'overlong' | 'until refused';
  /** The mock can't answer it, by a declared difference. */
  isOfServers?: boolean;
}

/** Headers that the mock adds (suite-answers.test.ts declares it). */
export const mockHeaders = [
  'access-control-allow-origin',
  'access-control-allow-headers',
  'access-control-allow-credentials',
  'access-control-expose-headers',
  'sl-violations',
];

const REFUSED_AFTER_MAX = 125;
const HEADER_BYTES_TOO_MANY = 20_000;

/** Asks a question, and notes everything that is wrong with the answer. @throws NotGiven when the company has nothing for it. */
export async function examine(exam: Exam, question: Question): Promise<void> {
  const { operationId, status, asker = 'reader', expected, mockExpected = expected } = question;
  const { party, note } = exam;
  if (status !== 401 && (asker === 'reader' || asker.startsWith('with')))
    await listsOf(exam, listOperationOf(operationId));
  if (!party.isExample && question.isExample) throw new NotGiven('the example company');
  const answer = await (party.name === 'mock' ? answerOfMock : answerOfServer)(exam, question);
  if (answer.status !== status) {
    note(`the status is ${answer.status}, not ${status}: ${answer.body.slice(0, 200)}`);
    return;
  }
  const [extraHeaders, wanted] = party.name === 'mock' ? [mockHeaders, mockExpected] : [[], expected];
  const problems = [
    ...conformanceProblems(operationId, answer, { extraHeaders }),
    ...expectationProblems(wanted, answer),
  ];
  for (const problem of problems) note(problem);
}

/** The mock is told the outcome. */
async function answerOfMock({ party }: Exam, question: Question): Promise<ReceivedAnswer> {
  const { target, asker = 'reader', prefer } = question;
  const headers = { ...headersOf(party, asker), ...(prefer !== undefined && { prefer }) };
  return exchange(party.urls.normal, { target, headers });
}

/** A server has to be brought to the outcome. */
async function answerOfServer(exam: Exam, question: Question): Promise<ReceivedAnswer> {
  const { operationId, server = 'normal', asker = 'reader', manner, target } = question;
  const url = exam.party.urls[server];
  const headers = headersOf(exam.party, asker);
  if (manner === 'conditional') {
    const known = await answeredPath(exam, operationId);
    const { etag = 'none' } = (await exchange(url, { target: known, headers })).headers;
    return exchange(url, { target: known, headers: { ...headers, 'if-none-match': etag } });
  }
  const padding = { 'x-padding': 'x'.repeat(HEADER_BYTES_TOO_MANY) };
  if (manner === 'overlong') return exchange(url, { target, headers: { ...headers, ...padding } });
  let answer = await exchange(url, { target, headers });
  const triesMax = manner === 'until refused' ? REFUSED_AFTER_MAX : 1;
  for (let tries = 1; answer.status !== 429 && tries < triesMax; tries++)
    answer = await exchange(url, { target, headers });
  return answer;
}

function expectationProblems(expected: Expected, answer: ReceivedAnswer): string[] {
  if (expected === undefined) return [];
  if ('file' in expected)
    return /^%PDF-1\.\d\n.*%%EOF\n?$/s.test(answer.body) ? [] : ['the bytes are not those of a PDF'];
  const body = parsed(answer) ?? answer.body;
  if ('code' in expected)
    return codeOf(body) === expected.code ? [] : [`the code is ${codeOf(body)}, not ${expected.code}`];
  // The sentence of `rate_limited` names the seconds of the answer's own Retry-After.
  const wait = `Wait ${answer.headers['retry-after']} seconds`;
  const wanted =
    answer.status === 429
      ? (JSON.parse(JSON.stringify(expected.body).replace(/Wait \d+ seconds/, wait)) as unknown)
      : expected.body;
  return isDeepStrictEqual(body, wanted)
    ? []
    : [`the body differs from the example: ${firstDifference(body, wanted)}`];
}

/** Every question that a party can be asked, from what the contract declares. */
export function questions({ name }: Party): Question[] {
  const all = operations.flatMap((operation) => [
    ...successes(operation),
    ...errors(operation),
    ...further(operation),
    ...operation.parameters.flatMap((parameter) =>
      parameter.in === 'path' ? wrongIds(operation, parameter) : wrongQueries(operation, parameter),
    ),
  ]);
  return all.filter(({ isOfServers = false }) => !isOfServers || name !== 'mock');
}

/** A question that the reader asks of the normal server. */
function basis({ operationId }: DeclaredOperation, status: number, what: string) {
  return { name: `${status} ${operationId}: ${what}`, operationId, status, target: knownPath(operationId) };
}

function successes(operation: DeclaredOperation): Question[] {
  const { operationId } = operation;
  const shown = examplesOf(operationId, 200).map(({ name, value, 'x-request': target = '' }) => ({
    ...{ ...basis(operation, 200, name), target, isExample: true, prefer: `code=200, example=${name}` },
    // The example of a file is the smallest of its kind, and only the mock's (suite-answers.test.ts declares it).
    expected: typeof value === 'string' ? { file: 'PDF' as const } : { body: value },
    mockExpected: { body: value },
  }));
  const unchanged = { ...basis(operation, 304, 'nothing has changed'), prefer: 'code=304' };
  return [...shown, { ...unchanged, manner: 'conditional', expected: { body: '' } }];
}

/** How a real server is brought to give each error that the contract shows. */
const provocations: Record<string, (operation: DeclaredOperation) => Partial<Question>> = {
  invalidParameter: ({ operationId }) => ({ target: `${knownPath(operationId)}?limit=250` }),
  unknownParameter: ({ operationId }) => ({ target: `${knownPath(operationId)}?limit=1` }),
  invalidCursor: ({ operationId }) => ({
    target: `${knownPath(operationId)}?cursor=${cursorOf(operationId === 'listJobs' ? 'listInvoices' : 'listJobs')}`,
  }),
  invalidRequest: () => ({ manner: 'overlong' }),
  invalidKey: () => ({ asker: 'wrong' }),
  revokedKey: () => ({ asker: 'revoked' }),
  missingScope: ({ scope }) => ({ asker: `without ${scope}` }),
  apiNotEnabled: () => ({ asker: 'cut off' }),
  companyUnavailable: () => ({ asker: 'unpaid' }),
  moduleNotLicensed: ({ scope }) => ({ asker: `unlicensed for ${scope}` }),
  notFound: (operation) => ({ target: absentPath(operation) }),
  rateLimited: () => ({ asker: 'spender', server: 'busy', manner: 'until refused' }),
  unavailable: () => ({ server: 'without records' }),
  invoicingNotEnabled: () => ({ asker: 'uninvoiced' }),
};

/** A cursor that a list has given. */
function cursorOf(operationId: string): string {
  const pages = examplesOf(operationId, 200).map(({ value }) => value as { nextCursor: string | null });
  return pages.find(({ nextCursor }) => nextCursor !== null)?.nextCursor ?? '';
}

function errors(operation: DeclaredOperation): Question[] {
  const { operationId, responses, scope } = operation;
  return Object.keys(responses)
    .map(Number)
    .filter((status) => status >= 400)
    .flatMap((status) =>
      examplesOf(operationId, status).map(({ name, value }) => {
        const provoke = provocations[name];
        if (!provoke) throw new Error(`Nobody knows how to provoke the example ${name}.`);
        // The contract shows the lack of one scope, whichever an operation needs.
        const ofScope: unknown = JSON.parse(JSON.stringify(value).replace('invoices:read', scope));
        return {
          ...{ ...basis(operation, status, name), prefer: `code=${status}, example=${name}` },
          ...{ expected: { body: ofScope }, mockExpected: { body: value } },
          ...provoke(operation),
        };
      }),
    );
}

/** Questions beyond the examples: other ways into the same answers. */
function further(operation: DeclaredOperation): Question[] {
  const unavailable = examplesOf(operation.operationId, 503).find(({ name }) => name === 'unavailable');
  return [
    { ...basis(operation, 401, 'no key'), asker: 'nobody', expected: { code: 'invalid_key' } },
    {
      ...{ ...basis(operation, 503, "keys can't be looked up"), prefer: 'code=503, example=unavailable' },
      ...{ server: 'without keys', expected: { body: unavailable?.value } },
    },
    {
      ...{ ...basis(operation, 400, '?limti=4'), target: `${knownPath(operation.operationId)}?limti=4` },
      ...{ expected: { code: 'invalid_parameter' }, isOfServers: true },
    },
  ];
}

/** A malformed id is the id of nothing. */
function wrongIds(operation: DeclaredOperation, { name, schema }: Parameter): Question[] {
  const others =
    schema.format === 'uuid' ? ['job_0001', '01a00000-0000-7000-8000-0000000000000'] : ['-x', 'x'.repeat(65)];
  return [...others, '%00', '%zz', '%ff', 'y'.repeat(8_100)].map((id) => ({
    ...basis(operation, 404, `${name} is ${id.slice(0, 40)}`),
    target: operation.path.replace(/\{\w+\}/, id),
    expected: { body: examplesOf(operation.operationId, 404)[0]?.value },
    isOfServers: true,
  }));
}

/** Queries that break a parameter's rule, or have another name for it; those of the long tables in turns. */
function wrongQueries(operation: DeclaredOperation, { name, schema, example }: Parameter): Question[] {
  const path = knownPath(operation.operationId);
  const sharing = operations.filter(({ parameters }) => parameters.some((one) => one.name === name));
  const turn = sharing.findIndex(({ operationId }) => operationId === operation.operationId);
  const asked = ({ always, sometimes }: Spellings) => [
    ...always,
    ...sometimes.filter((_one, index) => index % sharing.length === turn),
  ];
  const [values, names] = [wrongValues(name, schema), wrongNames(name)];
  const right = encodeURIComponent(String(example));
  const question = (query: string, code: string, isOfServers = true): Question => ({
    ...{ ...basis(operation, 400, `?${query.slice(0, 60)}`), target: `${path}?${query}` },
    ...{ expected: { code }, mockExpected: { code: 'invalid_parameter' }, isOfServers },
  });
  const code = name === 'cursor' ? 'invalid_cursor' : 'invalid_parameter';
  return [
    ...values.everyone.map((text) => question(`${name}=${text}`, code, false)),
    ...['', ...asked(values)].map((text) => question(`${name}=${text}`, code)),
    question(name, code),
    question(`${name}=${right}&${name}=${right}`, 'invalid_parameter'),
    ...asked(names).map((other) => question(`${other}=${right}`, 'invalid_parameter')),
  ];
}
