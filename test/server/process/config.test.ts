import { dirname } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { OWN_TEMPLATE } from '../../../src/server/invoice-pdf/render.ts';
import { describeConfig, readConfig } from '../../../src/server/process/config.ts';
import { fontFiles } from '../../../src/server/typefaces/fonts.ts';
import { problemsOf, refusalOf } from './_config.ts';

const KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const PREVIOUS_KEY = '/////////////////////////////////////////w8=';

/** Every setting, in the order in which they are described. */
const settings: [name: string, property: string, usual: unknown, given: string, read?: unknown][] = [
  ['HOST', 'host', '127.0.0.1', '::1'],
  ['PORT', 'port', 8080, '0', 0],
  ['BASE_URL', 'baseUrl', undefined, 'https://API.example.com:443/api/v1', 'https://api.example.com'],
  ['SUPPORT_URL', 'supportUrl', undefined, 'mailto:help@acme.example'],
  ['DATABASE_URL', 'databaseUrl', 'sqlite:data/fieldledger.db', 'postgres://u:p@db/app'],
  ['DATABASE_DIRECT_URL', 'databaseDirectUrl', undefined, 'postgres://u:p@db2/app'],
  ['DATABASE_POOL_MAX', 'databasePoolMax', 10, '1000', 1_000],
  ['SERVICE_NAME', 'serviceName', 'Fieldledger', 'Acme-API'],
  ['KEY_PREFIX', 'keyPrefix', 'fl', 'acme_1'],
  ['LOG_LEVEL', 'logLevel', 'info', 'silent'],
  ['RATE_LIMIT_PER_MINUTE', 'rateLimitPerMinute', 120, '1', 1],
  ['WRONG_KEYS_PER_MINUTE', 'wrongKeysPerMinute', 120, '10000000', 10_000_000],
  ['TRUSTED_PROXIES', 'trustedProxies', 0, '10', 10],
  ['CONNECTIONS_PER_NETWORK_MAX', 'connectionsPerNetworkMax', 100, '10000', 10_000],
  ['HSTS_SUBDOMAINS', 'hstsSubdomains', false, 'on', true],
  ['SECURITY_CONTACT', 'securityContact', undefined, 'mailto:security@acme.example'],
  ['SHUTDOWN_DELAY_SECONDS', 'shutdownDelaySeconds', 0, '5', 5],
  ['SHUTDOWN_SECONDS', 'shutdownSeconds', 10, '600', 600],
  ['MANAGEMENT_HOST', 'managementHost', '127.0.0.1', '::'],
  ['MANAGEMENT_PORT', 'managementPort', undefined, '9464', 9_464],
  [
    'MANAGEMENT_NAMES',
    'managementNames',
    [],
    'a.acme.example, b.acme.example',
    ['a.acme.example', 'b.acme.example'],
  ],
  ['FEED_HOST', 'feedHost', '127.0.0.1', '::'],
  ['FEED_PORT', 'feedPort', undefined, '8090', 8_090],
  ['FEED_REQUESTS_PER_MINUTE', 'feedRequestsPerMinute', 6_000, '60', 60],
  ['WEBHOOK_SECRET_KEY', 'webhookSecretKey', undefined, KEY],
  ['WEBHOOK_SECRET_KEY_PREVIOUS', 'webhookSecretKeyPrevious', undefined, PREVIOUS_KEY],
  ['DELIVER_WEBHOOKS', 'deliverWebhooks', true, 'off', false],
  ['DELIVERIES_MAX', 'deliveriesMax', 64, '1000', 1_000],
  ['CHANGE_ID_DAYS', 'changeIdDays', 90, '36500', 36_500],
  ['OWN_ADDRESSES', 'ownAddresses', [], '192.0.2.1, 2001:db8::1', ['192.0.2.1', '2001:db8::1']],
  ['SMTP_URL', 'smtpUrl', undefined, 'smtps://mailer:p%40ss@mail.acme.example:465'],
  ['MAIL_FROM', 'mailFrom', undefined, 'notices@acme.example'],
  // It can't be set beside the address.
  ['ACCESS_POINT_FOLDER', 'accessPointFolder', undefined, '', undefined],
  ['ACCESS_POINT_URL', 'accessPointUrl', undefined, 'https://access-point.example.com/outbox'],
  ['ACCESS_POINT_TOKEN', 'accessPointToken', undefined, 'hunter22'],
  ['PORTAL', 'portal', true, 'off', false],
  ['PORTAL_LOGO', 'portalLogo', undefined, 'etc/logo.png'],
  ['PORTAL_ACCENT', 'portalAccent', undefined, '#A3271C', '#a3271c'],
  ['DOCUMENT_TEMPLATE', 'documentTemplate', undefined, OWN_TEMPLATE],
  ['DOCUMENT_FONTS', 'documentFonts', undefined, dirname(fontFiles()[0] ?? '')],
  ['PORTAL_SIGN_IN', 'portalSignIn', 'passwords', 'links'],
  ['PORTAL_IDLE_MINUTES', 'portalIdleMinutes', 30, '1440', 1_440],
  ['PORTAL_SESSION_HOURS', 'portalSessionHours', 12, '720', 720],
];

/** A configuration of these values, without those that are not set. */
const configOf = (values: [property: string, value: unknown][]) =>
  Object.fromEntries(values.filter(([, value]) => value !== undefined));

t.test('every setting is read from its variable, and has its default without', async (t) => {
  t.strictSame(readConfig({}), configOf(settings.map(([, property, usual]) => [property, usual])));
  t.strictSame(
    readConfig(Object.fromEntries(settings.map(([name, , , given]) => [name, given]))),
    configOf(
      settings.map(([, property, , given, ...read]) => [property, read.length === 0 ? given : read[0]]),
    ),
  );
  const names = describeConfig({}).map(({ name }) => name);
  t.strictSame(
    names,
    settings.map(([name]) => name),
    'and this is every setting that there is',
  );
});

t.test('BASE_URL is taken with and without the /api/v1 at its end', async (t) => {
  for (const end of ['', '/', '/api/v1', '/api/v1/'])
    t.equal(readConfig({ BASE_URL: `https://api.example.com${end}` }).baseUrl, 'https://api.example.com');
  t.equal(readConfig({ BASE_URL: 'http://[::1]:8080/api/v1' }).baseUrl, 'http://[::1]:8080');
});

t.test('an empty variable counts as not set, and every setting is shown as it is written', async (t) => {
  t.strictSame(readConfig({ PORT: '', BASE_URL: '', DATABASE_URL: '' }), readConfig({}));
  const shown = describeConfig({}).map(({ name, value }): [string, string] => [name, value]);
  t.strictSame(readConfig(Object.fromEntries(shown)), readConfig({}));
});

const POSTGRES_FORM =
  'postgres://USER:PASSWORD@HOST:PORT/NAME with special characters escaped; several hosts are HOST:PORT,HOST:PORT, and target_session_attrs is any, read-write or primary';
const ACCENT_RULE =
  'a colour #rrggbb with a contrast of 4.5:1 or more to light pages (WCAG 2.1); this one has 1.44:1';
const BASE_URL_RULE =
  'an http or https address without path, or with /api/v1, and without query or credentials';

/** A wrong value of a setting, and what it must be. What may hold a secret isn't shown. */
const wrongs: [name: string, value: string, rule: string, isSecret?: true][] = [
  ['HOST', 'not a host', 'an address or a host name'],
  ['PORT', '65536', 'an integer from 0 to 65535'],
  ['BASE_URL', 'https://api.example.com/v1', BASE_URL_RULE],
  ['DATABASE_URL', 'mysql://root:hunter2@db/app', `sqlite:PATH, or ${POSTGRES_FORM}`, true],
  ['DATABASE_DIRECT_URL', 'sqlite:data/hunter2.db', POSTGRES_FORM, true],
  ['DATABASE_POOL_MAX', '0', 'an integer from 1 to 1000'],
  ['SERVICE_NAME', '1st', '1 to 40 letters, digits and hyphens, a letter first'],
  ['KEY_PREFIX', 'FL', '1 to 16 lower-case letters, digits and underscores'],
  ['LOG_LEVEL', 'loud', 'one of fatal, error, warn, info, debug, trace, silent'],
  ['RATE_LIMIT_PER_MINUTE', '1e3', 'an integer from 1 to 10000000'],
  ['WRONG_KEYS_PER_MINUTE', '-1', 'an integer from 1 to 10000000'],
  ['TRUSTED_PROXIES', '1.5', 'an integer from 0 to 10'],
  ['CONNECTIONS_PER_NETWORK_MAX', '0', 'an integer from 1 to 10000'],
  ['HSTS_SUBDOMAINS', 'yes', 'on or off'],
  ['SECURITY_CONTACT', 'http://acme.example/security', 'an https or mailto address'],
  ['SHUTDOWN_SECONDS', 'soon', 'an integer from 0 to 600'],
  ['MANAGEMENT_NAMES', 'https://node1', 'host names, or -'],
  ['WEBHOOK_SECRET_KEY', 'c2hvcnQ=', '32 bytes in base64', true],
  ['WEBHOOK_SECRET_KEY_PREVIOUS', 'secret', '32 bytes in base64', true],
  ['DELIVER_WEBHOOKS', 'yes', 'on or off'],
  ['DELIVERIES_MAX', '0', 'an integer from 1 to 1000'],
  ['OWN_ADDRESSES', 'api.example.com', 'IPv4 or IPv6 addresses, or -'],
  ['ACCESS_POINT_FOLDER', 'outbox', 'an absolute path'],
  ['ACCESS_POINT_URL', 'http://access-point.example.com/', 'an https address'],
  ['ACCESS_POINT_TOKEN', 'hunter 2', '8 to 4,096 characters of ASCII without blanks', true],
  ['PORTAL', 'true', 'on or off'],
  ['PORTAL_ACCENT', '#ffcc00', ACCENT_RULE],
  ['DOCUMENT_TEMPLATE', 'template', 'an absolute path of a folder with document.typ'],
  ['DOCUMENT_FONTS', OWN_TEMPLATE, 'an absolute path of a folder with TTF, OTF or TTC fonts'],
  ['PORTAL_IDLE_MINUTES', '4', 'an integer from 5 to 1440'],
  ['PORTAL_SESSION_HOURS', '0', 'an integer from 1 to 720'],
];

t.test('one message lists every problem, each with its rule and what was given', async (t) => {
  const problems = wrongs.map(
    ([name, value, rule, isSecret]) => `  ${name} must be ${rule}${isSecret ? '' : `, not "${value}"`}.`,
  );
  t.equal(
    refusalOf(Object.fromEntries(wrongs.map(([name, value]) => [name, value]))),
    ['The configuration is wrong:', ...problems].join('\n'),
  );
});

t.test('a wrong setting is not blamed on those that follow from it', async (t) => {
  t.strictSame(problemsOf({ PORT: 'abc' }), ['  PORT must be an integer from 0 to 65535, not "abc".']);
  t.strictSame(problemsOf({ HOST: 'a b' }), ['  HOST must be an address or a host name, not "a b".']);
});

t.test('an access point is a folder or an address, which alone has a token', async (t) => {
  const given = { ACCESS_POINT_FOLDER: '/srv/outbox', ACCESS_POINT_TOKEN: 'hunter22' };
  t.strictSame(problemsOf(given), ['  ACCESS_POINT_TOKEN needs ACCESS_POINT_URL, to which it is sent.']);
  t.strictSame(problemsOf({ ...given, ACCESS_POINT_URL: 'https://access-point.example.com/' }), [
    '  ACCESS_POINT_FOLDER and ACCESS_POINT_URL are both set: remove one of them.',
  ]);
});

t.test('a mail server is a bare address, and mails have a sender and links', async (t) => {
  const more = { MAIL_FROM: 'notices@example.com', BASE_URL: 'https://api.example.com' };
  const refused = (environment: Record<string, string>, message: RegExp) =>
    t.match(refusalOf(environment), message);
  for (const url of [
    'http://m.example',
    'smtp:m.example',
    'smtp://m.example/x',
    'smtp://m.example?logger=true',
  ])
    refused({ ...more, SMTP_URL: url }, /SMTP_URL must be smtp:\/\/USER:PASSWORD@HOST:PORT/);
  for (const some of [{}, { MAIL_FROM: more.MAIL_FROM }, { BASE_URL: more.BASE_URL }])
    refused({ ...some, SMTP_URL: 'smtp://m.example' }, /SMTP_URL needs MAIL_FROM and BASE_URL/);
  for (const from of ['a b@example.com', 'Notices <n@example.com>', 'n@example.com\r\nBcc: x@example.com'])
    refused({ MAIL_FROM: from }, /MAIL_FROM must be an email address/);
});

t.test('values that look right and are not are refused', async (t) => {
  const wrong: Record<string, string[]> = {
    PORT: [' 80', '80 ', '+80', '0x50', '٨٠', '8_0', '99999999999999999999'],
    BASE_URL: [
      ...['api.example.com', '//api.example.com', 'ftp://a.example', 'http://u@a.example', 'http://a/?x'],
      ...['http://a.example/#x', 'http://', 'https://a.example/api', 'https://a.example/api/v2'],
      ...['https://a.example/x/api/v1', 'https://a.example/api/v1//', 'http://a"b', "http://a'b"],
    ],
    SUPPORT_URL: ['help@acme.example', 'javascript:alert(1)', 'https://', 'https://a.example/"x"'],
    DATABASE_URL: [
      ...['sqlite:', 'sqlite::memory:', 'postgres://', 'data/x.db', 'postgres://h:port/db'],
      ...['sqlite:a.db?mode=ro', 'sqlite:file:a.db', 'sqlite:file:a.db?mode=ro', 'postgres://h1,/db'],
      ...['postgres://,/db', 'postgres://h1:x,h2/db', 'postgres://h/db?host=h1,h2'],
      ...['postgres://h1,h2/db?target_session_attrs=standby', 'postgres://h/db?target_session_attrs='],
      ...['postgres://u:a/b@h/db', 'postgres://u:9#b@h/db', 'postgres://u:9?b@h/db'],
    ],
    LOG_LEVEL: ['INFO', 'info ', 'info|warn'],
    KEY_PREFIX: ['a.b', 'seventeen_letters', 'é'],
    WEBHOOK_SECRET_KEY: [
      ...['a'.repeat(42), 'a'.repeat(43), `${'a'.repeat(42)}==`, `${'A'.repeat(43)}=\n`],
      ...[`${'A'.repeat(42)}-=`, `${'A'.repeat(42)}B=`, `whsec_${'A'.repeat(43)}=`],
    ],
    PORTAL_ACCENT: ['teal', '#0f5', '0f5c5c', '#0f5c5c80', '#0f5c5g'],
    SERVICE_NAME: ['Field ledger', 'Field\nledger', 'x'.repeat(41)],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const problems = problemsOf({ [name]: value });
      t.equal(problems.length, 1, `${name}=${JSON.stringify(value)}`);
      t.match(problems[0], new RegExp(`^  ${name} must be `), `${name}=${JSON.stringify(value)}`);
    }
  }
});

t.test('an operator’s text stays one readable line of the message', async (t) => {
  const [problem, ...others] = problemsOf({ HOST: `${'x'.repeat(5000)}\n\u001b[31m!` });
  t.strictSame(others, []);
  t.ok((problem?.length ?? 0) < 150, 'the value is shortened');
  t.match(problemsOf({ HOST: 'a\n\u001b[31mb' })[0], /"a\\n\\u001b\[31mb"/);
});

t.test('PostgreSQL may have no host, as pg takes it, and SQLite’s own options are refused', async (t) => {
  const url = 'postgres://app@/ledger?host=/var/run/postgresql';
  t.equal(readConfig({ DATABASE_URL: url }).databaseUrl, url);
  const problem = '  DATABASE_URL must be sqlite:PATH without options such as ?mode=ro.';
  t.strictSame(problemsOf({ DATABASE_URL: 'sqlite:a.db?mode=ro' }), [problem]);
});

t.test('no password is shown', async (t) => {
  const shown = (url: string, setting = 'DATABASE_URL') =>
    describeConfig({ [setting]: url }).find(({ name }) => name === setting)?.value;
  t.equal(shown('postgres://app:hunter2@db:5432/ledger'), 'postgres://app:***@db:5432/ledger');
  t.equal(shown('postgres://app:hunter2@db/ledger', 'DATABASE_DIRECT_URL'), 'postgres://app:***@db/ledger');
  t.equal(shown('postgres://app:hun@ter2@db/ledger'), 'postgres://app:***@db/ledger');
  t.equal(shown('postgres://app@db/ledger?password=hunter2'), 'postgres://app@db/ledger?password=***');
  t.equal(
    shown('postgresql://app@db/ledger?sslpassword=hunter2'),
    'postgresql://app@db/ledger?sslpassword=***',
  );
  t.equal(shown('postgres://app@db/ledger'), 'postgres://app@db/ledger', 'the rest is shown as it is');
  const hosts = 'db1:5432,[::1]:5433,db3/ledger?target_session_attrs=read-write';
  t.equal(shown(`postgres://app:hunter2@${hosts}`), `postgres://app:***@${hosts}`, 'with several hosts, too');
  t.equal(shown('sqlite:a:b@c&password=d'), 'sqlite:a:b@c&password=d', 'a path is no secret');
});

t.test('no key is shown, right or wrong', async (t) => {
  const shown = describeConfig({ WEBHOOK_SECRET_KEY: KEY, WEBHOOK_SECRET_KEY_PREVIOUS: KEY });
  t.strictSame(
    shown.filter(({ name }) => name.startsWith('WEBHOOK')).map(({ value }) => value),
    ['***', '***'],
  );
  t.notMatch(refusalOf({ WEBHOOK_SECRET_KEY: `${KEY}x` }), 'AAEC');
  t.equal(
    describeConfig({}).find(({ name }) => name === 'WEBHOOK_SECRET_KEY')?.value,
    '',
    'or that it is not set',
  );
});

t.test('no password is shown, wherever it stands in an address of whatever shape', async (t) => {
  const secret = fc.stringMatching(/^[A-Z]{8,12}$/);
  const filler = fc.stringMatching(/^[a-z0-9@:/?#%&=. -]{0,12}$/);
  const property = fc.property(secret, filler, filler, (password, before, after) => {
    const url = `postgres://app:${before}${password}${after}@db.example/ledger`;
    let text: string;
    try {
      text = JSON.stringify(describeConfig({ DATABASE_URL: url }).map(({ value }) => value));
    } catch (error) {
      text = String(error);
    }
    return !text.toUpperCase().includes(password);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 2_000 }));
});
