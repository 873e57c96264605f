import t from 'tap';

import { errorReply, errorStatuses } from '../../../src/server/api/error-replies.ts';
import { contractDocument } from '../../../src/contract/document.ts';
import type { ErrorCode } from '../../../src/contract/operations.ts';
import { AppError } from '../../../src/errors.ts';

/* Each code, its status and its body are what the contract shows: the suite provokes every one (test/contract/_questions.ts). */
const codes = contractDocument().components.schemas.ErrorCode?.enum as ErrorCode[];

t.test('the body is the JSON of the code and the message, whatever is in it', async (t) => {
  const { body } = errorReply(new AppError('not_found', 'It went wrong; "quoted", é, \u2028.'));
  t.strictSame(JSON.parse(body), {
    error: { code: 'not_found', message: 'It went wrong; "quoted", é, \u2028.' },
  });
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
