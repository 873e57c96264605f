import t from 'tap';

import { errorReply } from '../../../src/server/connections/error-replies.ts';
import { AppError } from '../../../src/errors.ts';

/* Each code, its status, headers and body are what the contract shows: the suite provokes every one (test/contract/_questions.ts). */

t.test('the body is the JSON of the code and the message, whatever is in it', async (t) => {
  const { body } = errorReply(new AppError('not_found', 'It went wrong; "quoted", é, \u2028.'));
  t.strictSame(JSON.parse(body), {
    error: { code: 'not_found', message: 'It went wrong; "quoted", é, \u2028.' },
  });
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
