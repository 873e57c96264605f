import t from 'tap';

import { errorReply, errorStatuses } from '../../../src/server/api/error-replies.ts';
import { contractDocument } from '../../../src/contract/document.ts';
import type { ErrorCode } from '../../../src/contract/operations.ts';
import { createAjv } from '../../../src/contract/validators.ts';
import { AppError } from '../../../src/errors.ts';

const { schemas } = contractDocument().components;
const codes = (schemas.ErrorCode?.enum ?? []) as ErrorCode[];

interface Response {
  content?: Record<string, { examples?: Record<string, { value: { error?: { code: string } } }> }>;
}

/** The codes that the contract shows under each status, over all operations. */
function documentedCodes(): Record<string, string[]> {
  const found: Record<string, Set<string>> = {};
  for (const { get } of Object.values(contractDocument().paths)) {
    // The program itself has no use for responses, so its type leaves them out.
    const { responses } = get as typeof get & { responses: Record<string, Response> };
    for (const [status, { content }] of Object.entries(responses)) {
      const examples = Object.values(content?.['application/json']?.examples ?? {});
      const shown = examples.flatMap(({ value }) => value.error?.code ?? []);
      if (shown.length > 0) found[status] = new Set([...(found[status] ?? []), ...shown]);
    }
  }
  return Object.fromEntries(Object.entries(found).map(([status, set]) => [status, [...set].sort()]));
}

t.test('the codes of the program are the codes of the contract', async (t) => {
  t.strictSame(Object.keys(errorStatuses).sort(), [...codes].sort());
});

t.test('each code has the status under which the contract shows it', async (t) => {
  const ofProgram = Object.fromEntries(Map.groupBy([...codes].sort(), (code) => String(errorStatuses[code])));
  // No operation declares 405: it is the answer to methods that the contract doesn't have.
  const { 405: methodNotAllowed, ...declared } = ofProgram;
  t.strictSame(methodNotAllowed, ['method_not_allowed']);
  t.strictSame(documentedCodes(), declared);
});

t.test("every code's body is the contract's Error", async (t) => {
  const validate = createAjv().compile(schemas.Error ?? false);
  for (const code of codes) {
    const reply = errorReply(new AppError(code, 'It went wrong; "quoted", é, \u2028.'));
    t.ok(validate(JSON.parse(reply.body)), code);
    t.strictSame(JSON.parse(reply.body), { error: { code, message: 'It went wrong; "quoted", é, \u2028.' } });
    t.equal(reply.status, errorStatuses[code]);
    t.equal(reply.code, code);
  }
});

t.test('a 401 says how to authenticate, and what is temporary says when to retry', async (t) => {
  const headersOf = (code: ErrorCode, retryAfterSeconds?: number) =>
    errorReply(new AppError(code, 'No.', retryAfterSeconds === undefined ? {} : { retryAfterSeconds }))
      .headers;
  for (const code of codes) {
    const expected: Record<string, string> = {};
    if (errorStatuses[code] === 401) expected['WWW-Authenticate'] = 'Bearer';
    if (code === 'unavailable') expected['Retry-After'] = '5';
    t.strictSame(headersOf(code), expected, code);
  }
  t.strictSame(headersOf('rate_limited', 17), { 'Retry-After': '17' });
  t.strictSame(headersOf('unavailable', 1), { 'Retry-After': '1' });
});

t.test('whatever else is thrown becomes 503 and tells nothing', async (t) => {
  const secrets = [
    new Error('s3cret'),
    new TypeError('s3cret'),
    's3cret',
    { message: 's3cret' },
    undefined,
    null,
    42,
  ];
  for (const thrown of secrets) {
    t.strictSame(errorReply(thrown), {
      status: 503,
      code: 'unavailable',
      body: '{"error":{"code":"unavailable","message":"The service is temporarily unavailable. Retry shortly."}}',
      headers: { 'Retry-After': '5' },
    });
  }
  const hidden = new AppError('not_found', 'There is nothing.', { cause: new Error('s3cret') });
  t.notMatch(errorReply(hidden).body, 's3cret', 'a cause is for the log alone');
});
