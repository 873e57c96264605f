import t from 'tap';

import { readConfig } from '../../../src/server/config.ts';

t.test('a mail server is a bare address, and mails have a sender and links', async (t) => {
  const more = { MAIL_FROM: 'notices@example.com', BASE_URL: 'https://api.example.com' };
  const refused = (environment: Record<string, string>, message: RegExp) =>
    t.throws(() => readConfig(environment), { message });
  for (const end of [
    'http://m.example',
    'smtp:m.example',
    'smtp://m.example/x',
    'smtp://m.example?logger=true',
  ])
    refused({ ...more, SMTP_URL: end }, /SMTP_URL must be smtp:\/\/USER:PASSWORD@HOST:PORT/);
  for (const some of [{}, { MAIL_FROM: more.MAIL_FROM }, { BASE_URL: more.BASE_URL }])
    refused({ ...some, SMTP_URL: 'smtp://m.example' }, /SMTP_URL needs MAIL_FROM and BASE_URL/);
  for (const from of ['a b@example.com', 'Notices <n@example.com>', 'n@example.com\r\nBcc: x@example.com'])
    refused({ MAIL_FROM: from }, /MAIL_FROM must be an e-mail address/);
});
