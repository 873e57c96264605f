import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { describeConfig, readConfig } from '../../../src/server/process/config.ts';
import { problemsOf } from './_config.ts';

const SECRET_SETTINGS = [
  ...['DATABASE_URL', 'DATABASE_DIRECT_URL', 'WEBHOOK_SECRET_KEY', 'WEBHOOK_SECRET_KEY_PREVIOUS'],
  ...['SMTP_URL', 'ACCESS_POINT_TOKEN'],
];

t.test('every setting with a secret can come from a file, without what editors add to it', async (t) => {
  const folder = t.testdir({
    url: 'postgres://app:hunter2@db/ledger\n',
    key: '\ufeffAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8= \t\r\n\r\n',
    smtp: 'smtps://mailer:hunter2@mail.example.com',
    token: 'hunter22\n',
  });
  const [url, key] = [join(folder, 'url'), join(folder, 'key')];
  const environment = {
    DATABASE_URL_FILE: url,
    DATABASE_DIRECT_URL_FILE: url,
    WEBHOOK_SECRET_KEY_FILE: key,
    WEBHOOK_SECRET_KEY_PREVIOUS_FILE: key,
    SMTP_URL_FILE: join(folder, 'smtp'),
    ACCESS_POINT_TOKEN_FILE: join(folder, 'token'),
    ACCESS_POINT_URL: 'https://access-point.example.com/',
    ...{ MAIL_FROM: 'notices@example.com', BASE_URL: 'https://api.example.com' },
  };
  const config = readConfig(environment);
  for (const one of [config.databaseUrl, config.databaseDirectUrl])
    t.equal(one, 'postgres://app:hunter2@db/ledger');
  t.equal(config.webhookSecretKey, 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=');
  t.equal(config.webhookSecretKeyPrevious, config.webhookSecretKey);
  const shown = describeConfig(environment).filter(({ name }) => SECRET_SETTINGS.includes(name));
  const database = 'postgres://app:***@db/ledger';
  t.strictSame(
    shown.map(({ value }) => value),
    [database, database, '***', '***', 'smtps://***@mail.example.com', '***'],
  );
  t.notOk(shown.some(({ isDefault }) => isDefault));
  const fileSettings = describeConfig({}).filter(({ help }) => help.includes('_FILE'));
  t.strictSame(
    fileSettings.map(({ name }) => name),
    SECRET_SETTINGS,
  );
  t.strictSame(
    readConfig({ WEBHOOK_SECRET_KEY: config.webhookSecretKey, WEBHOOK_SECRET_KEY_FILE: '' }),
    readConfig({ WEBHOOK_SECRET_KEY_FILE: key }),
    'an empty name of a file counts as not set',
  );
  t.equal(readConfig({ PORT_FILE: '/nowhere' }).port, 8080, 'what is no secret has none');
});

t.test('a file that holds no secret is told by its setting and path, and not by what it holds', async (t) => {
  const folder = t.testdir({ empty: '\ufeff \r\n\r\n', wrong: 'hunter2\n', large: 'hunter2'.repeat(10_000) });
  mkdirSync(join(folder, 'folder'));
  writeFileSync(join(folder, 'two'), 'hunter2\nhunter2\n');
  const problem = (setting: string, file: string) => {
    const text = problemsOf({ [`${setting}_FILE`]: join(folder, file) }).join('\n');
    t.notMatch(text, 'hunter2');
    return text.replace(folder, '');
  };
  for (const setting of SECRET_SETTINGS) {
    t.equal(problem(setting, 'none'), `  ${setting}_FILE names "/none", which can't be read (ENOENT).`);
    t.equal(problem(setting, 'empty'), `  ${setting}_FILE names "/empty", which is empty.`);
    t.equal(problem(setting, 'folder'), `  ${setting}_FILE names "/folder", which is not a file.`);
    t.equal(problem(setting, 'large'), `  ${setting}_FILE names "/large", which has more than 65536 bytes.`);
    for (const file of ['wrong', 'two'])
      t.match(problem(setting, file), new RegExp(`^  ${setting}, in the file "/${file}", must be `));
    t.strictSame(problemsOf({ [setting]: 'hunter2', [`${setting}_FILE`]: join(folder, 'wrong') }), [
      `  ${setting} and ${setting}_FILE are both set: remove one of them.`,
    ]);
  }
});
