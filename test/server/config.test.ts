import fc from 'fast-check';
import t from 'tap';

import { describeConfig, readConfig } from '../../src/server/config.ts';
import { UsageError } from '../../src/errors.ts';

/** The message with which an environment is refused; an accepted one fails the test. */
function refusalOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`It is accepted: ${JSON.stringify(environment)}`);
}

function problemsOf(environment: Record<string, string>): string[] {
  return refusalOf(environment).split('\n').slice(1);
}

t.test('an empty environment gives the defaults', async (t) => {
  t.strictSame(readConfig({}), {
    host: '127.0.0.1',
    port: 8080,
    databaseUrl: 'sqlite:data/fieldledger.db',
    databasePoolMax: 10,
    serviceName: 'Fieldledger',
    keyPrefix: 'fl',
    logLevel: 'info',
    rateLimitPerMinute: 120,
    wrongKeysPerMinute: 120,
    trustedProxies: 0,
    connectionsPerNetworkMax: 100,
    hstsSubdomains: false,
    shutdownDelaySeconds: 0,
    shutdownSeconds: 10,
    managementHost: '127.0.0.1',
    managementNames: [],
    feedHost: '127.0.0.1',
    feedRequestsPerMinute: 6_000,
    deliverWebhooks: true,
    deliveriesMax: 64,
    changeIdDays: 90,
    ownAddresses: [],
    portal: true,
    portalSignIn: 'passwords',
    portalIdleMinutes: 30,
    portalSessionHours: 12,
  });
});

t.test('BASE_URL is taken with and without the /api/v1 at its end', async (t) => {
  for (const end of ['', '/', '/api/v1', '/api/v1/'])
    t.equal(readConfig({ BASE_URL: `https://api.example.com${end}` }).baseUrl, 'https://api.example.com');
  t.equal(readConfig({ BASE_URL: 'http://[::1]:8080/api/v1' }).baseUrl, 'http://[::1]:8080');
});

t.test('an empty variable counts as not set', async (t) => {
  t.strictSame(readConfig({ PORT: '', BASE_URL: '', DATABASE_URL: '' }), readConfig({}));
});

t.test('every setting is read from its variable', async (t) => {
  const given = {
    HOST: '::1',
    PORT: '0',
    BASE_URL: 'https://API.example.com:443/api/v1',
    SUPPORT_URL: 'mailto:help@acme.example',
    DATABASE_URL: 'postgres://u:p@db/app',
    DATABASE_DIRECT_URL: 'postgres://u:p@db2/app',
    DATABASE_POOL_MAX: '1000',
    SERVICE_NAME: 'Acme-API',
    KEY_PREFIX: 'acme_1',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_PER_MINUTE: '1',
    WRONG_KEYS_PER_MINUTE: '10000000',
    TRUSTED_PROXIES: '10',
    CONNECTIONS_PER_NETWORK_MAX: '10000',
    HSTS_SUBDOMAINS: 'on',
    SECURITY_CONTACT: 'mailto:security@acme.example',
    SHUTDOWN_DELAY_SECONDS: '5',
    SHUTDOWN_SECONDS: '600',
    MANAGEMENT_HOST: '::',
    MANAGEMENT_PORT: '9464',
    MANAGEMENT_NAMES: 'node1.acme.example, node2.acme.example',
    FEED_HOST: '::',
    FEED_PORT: '8090',
    FEED_REQUESTS_PER_MINUTE: '60',
    WEBHOOK_SECRET_KEY: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    WEBHOOK_SECRET_KEY_PREVIOUS: '/////////////////////////////////////////w8=',
    DELIVER_WEBHOOKS: 'off',
    DELIVERIES_MAX: '1000',
    CHANGE_ID_DAYS: '36500',
    OWN_ADDRESSES: '192.0.2.1, 2001:db8::1',
    SMTP_URL: 'smtps://mailer:p%40ss@mail.acme.example:465',
    MAIL_FROM: 'notices@acme.example',
    ACCESS_POINT_FOLDER: '',
    ACCESS_POINT_URL: 'https://access-point.example.com/outbox',
    ACCESS_POINT_TOKEN: 'hunter22',
    PORTAL: 'off',
    PORTAL_LOGO: 'etc/logo.png',
    PORTAL_ACCENT: '#A3271C',
    PORTAL_SIGN_IN: 'links',
    PORTAL_IDLE_MINUTES: '1440',
    PORTAL_SESSION_HOURS: '720',
  };
  t.strictSame(readConfig(given), {
    host: '::1',
    port: 0,
    baseUrl: 'https://api.example.com',
    supportUrl: 'mailto:help@acme.example',
    databaseUrl: 'postgres://u:p@db/app',
    databaseDirectUrl: 'postgres://u:p@db2/app',
    databasePoolMax: 1000,
    serviceName: 'Acme-API',
    keyPrefix: 'acme_1',
    logLevel: 'silent',
    rateLimitPerMinute: 1,
    wrongKeysPerMinute: 10_000_000,
    trustedProxies: 10,
    connectionsPerNetworkMax: 10_000,
    hstsSubdomains: true,
    securityContact: 'mailto:security@acme.example',
    shutdownDelaySeconds: 5,
    shutdownSeconds: 600,
    managementHost: '::',
    managementPort: 9464,
    managementNames: ['node1.acme.example', 'node2.acme.example'],
    feedHost: '::',
    feedPort: 8090,
    feedRequestsPerMinute: 60,
    webhookSecretKey: 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
    webhookSecretKeyPrevious: '/////////////////////////////////////////w8=',
    deliverWebhooks: false,
    deliveriesMax: 1000,
    changeIdDays: 36_500,
    ownAddresses: ['192.0.2.1', '2001:db8::1'],
    smtpUrl: 'smtps://mailer:p%40ss@mail.acme.example:465',
    mailFrom: 'notices@acme.example',
    accessPointUrl: 'https://access-point.example.com/outbox',
    accessPointToken: 'hunter22',
    portal: false,
    portalLogo: 'etc/logo.png',
    portalAccent: '#a3271c',
    portalSignIn: 'links',
    portalIdleMinutes: 1_440,
    portalSessionHours: 720,
  });
  t.strictSame(
    describeConfig({}).map(({ name }) => name),
    Object.keys(given),
    'and this is every setting that there is',
  );
});

t.test('every setting is shown as it is written', async (t) => {
  const shown = describeConfig({}).filter(({ value }) => value !== '');
  t.doesNotThrow(() =>
    readConfig(Object.fromEntries(shown.map(({ name, value }): [string, string] => [name, value]))),
  );
});

t.test('one message lists every problem, each with its rule and what was given', async (t) => {
  const message = refusalOf({
    HOST: 'not a host',
    PORT: '65536',
    BASE_URL: 'https://api.example.com/v1',
    DATABASE_URL: 'mysql://root:hunter2@db/app',
    DATABASE_DIRECT_URL: 'sqlite:data/hunter2.db',
    DATABASE_POOL_MAX: '0',
    SERVICE_NAME: '1st',
    KEY_PREFIX: 'FL',
    LOG_LEVEL: 'loud',
    RATE_LIMIT_PER_MINUTE: '1e3',
    WRONG_KEYS_PER_MINUTE: '-1',
    TRUSTED_PROXIES: '1.5',
    CONNECTIONS_PER_NETWORK_MAX: '0',
    HSTS_SUBDOMAINS: 'yes',
    SECURITY_CONTACT: 'http://acme.example/security',
    MANAGEMENT_NAMES: 'https://node1',
    SHUTDOWN_SECONDS: 'soon',
    WEBHOOK_SECRET_KEY: 'c2hvcnQ=',
    WEBHOOK_SECRET_KEY_PREVIOUS: 'secret',
    DELIVER_WEBHOOKS: 'yes',
    DELIVERIES_MAX: '0',
    OWN_ADDRESSES: 'api.example.com',
    ACCESS_POINT_FOLDER: 'outbox',
    ACCESS_POINT_URL: 'http://access-point.example.com/',
    ACCESS_POINT_TOKEN: 'hunter 2',
    PORTAL: 'true',
    PORTAL_ACCENT: '#ffcc00',
    PORTAL_IDLE_MINUTES: '4',
    PORTAL_SESSION_HOURS: '0',
  });
  t.equal(
    message,
    `The configuration is wrong:
  HOST must be an address or a host name, not "not a host".
  PORT must be an integer from 0 to 65535, not "65536".
  BASE_URL must be an http or https address without path, or with /api/v1, and without query or credentials, not "https://api.example.com/v1".
  DATABASE_URL must be sqlite:PATH, or postgres://USER:PASSWORD@HOST:PORT/NAME with special characters escaped; several hosts are HOST:PORT,HOST:PORT, and target_session_attrs is any, read-write or primary.
  DATABASE_DIRECT_URL must be postgres://USER:PASSWORD@HOST:PORT/NAME with special characters escaped; several hosts are HOST:PORT,HOST:PORT, and target_session_attrs is any, read-write or primary.
  DATABASE_POOL_MAX must be an integer from 1 to 1000, not "0".
  SERVICE_NAME must be 1 to 40 letters, digits and hyphens, a letter first, not "1st".
  KEY_PREFIX must be 1 to 16 lower-case letters, digits and underscores, not "FL".
  LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud".
  RATE_LIMIT_PER_MINUTE must be an integer from 1 to 10000000, not "1e3".
  WRONG_KEYS_PER_MINUTE must be an integer from 1 to 10000000, not "-1".
  TRUSTED_PROXIES must be an integer from 0 to 10, not "1.5".
  CONNECTIONS_PER_NETWORK_MAX must be an integer from 1 to 10000, not "0".
  HSTS_SUBDOMAINS must be on or off, not "yes".
  SECURITY_CONTACT must be an https or mailto address, not "http://acme.example/security".
  SHUTDOWN_SECONDS must be an integer from 0 to 600, not "soon".
  MANAGEMENT_NAMES must be host names, or -, not "https://node1".
  WEBHOOK_SECRET_KEY must be 32 bytes in base64.
  WEBHOOK_SECRET_KEY_PREVIOUS must be 32 bytes in base64.
  DELIVER_WEBHOOKS must be on or off, not "yes".
  DELIVERIES_MAX must be an integer from 1 to 1000, not "0".
  OWN_ADDRESSES must be IPv4 or IPv6 addresses, or -, not "api.example.com".
  ACCESS_POINT_FOLDER must be an absolute path, not "outbox".
  ACCESS_POINT_URL must be an https address, not "http://access-point.example.com/".
  ACCESS_POINT_TOKEN must be 8 to 4,096 characters of ASCII without blanks.
  PORTAL must be on or off, not "true".
  PORTAL_ACCENT must be a colour #rrggbb with a contrast of 4.5:1 or more to light pages (WCAG 2.1); this one has 1.44:1, not "#ffcc00".
  PORTAL_IDLE_MINUTES must be an integer from 5 to 1440, not "4".
  PORTAL_SESSION_HOURS must be an integer from 1 to 720, not "0".`,
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
    '  ACCESS_POINT_FOLDER and ACCESS_POINT_URL are both set: one of them has to go.',
  ]);
});

t.test('values that look right and are not are refused', async (t) => {
  const wrong: [string, ...string[]][] = [
    ['PORT', ' 80', '80 ', '+80', '0x50', '٨٠', '8_0', '99999999999999999999'],
    [
      'BASE_URL',
      'api.example.com',
      '//api.example.com',
      'ftp://a.example',
      'http://u@a.example',
      'http://a/?x',
    ],
    ['BASE_URL', 'http://a.example/#x', 'http://', 'https://a.example/api', 'https://a.example/api/v2'],
    ['BASE_URL', 'https://a.example/x/api/v1', 'https://a.example/api/v1//', 'http://a"b', "http://a'b"],
    ['SUPPORT_URL', 'help@acme.example', 'javascript:alert(1)', 'https://', 'https://a.example/"x"'],
    ['DATABASE_URL', 'sqlite:', 'sqlite::memory:', 'postgres://', 'data/x.db', 'postgres://h:port/db'],
    ['DATABASE_URL', 'sqlite:a.db?mode=ro', 'sqlite:file:a.db', 'sqlite:file:a.db?mode=ro'],
    [
      'DATABASE_URL',
      'postgres://h1,/db',
      'postgres://,/db',
      'postgres://h1:x,h2/db',
      'postgres://h/db?host=h1,h2',
    ],
    [
      'DATABASE_URL',
      'postgres://h1,h2/db?target_session_attrs=standby',
      'postgres://h/db?target_session_attrs=',
    ],
    ['DATABASE_URL', 'postgres://u:a/b@h/db', 'postgres://u:9#b@h/db', 'postgres://u:9?b@h/db'],
    ['LOG_LEVEL', 'INFO', 'info ', 'info|warn'],
    ['KEY_PREFIX', 'a.b', 'seventeen_letters', 'é'],
    ['WEBHOOK_SECRET_KEY', 'a'.repeat(42), 'a'.repeat(43), `${'a'.repeat(42)}==`, `${'A'.repeat(43)}=\n`],
    ['WEBHOOK_SECRET_KEY', `${'A'.repeat(42)}-=`, `${'A'.repeat(42)}B=`, `whsec_${'A'.repeat(43)}=`],
    ['PORTAL_ACCENT', 'teal', '#0f5', '0f5c5c', '#0f5c5c80', '#0f5c5g'],
    ['SERVICE_NAME', 'Field ledger', 'Field\nledger', 'x'.repeat(41)],
  ];
  for (const [name, ...values] of wrong) {
    for (const value of values) {
      const problems = problemsOf({ [name]: value });
      t.equal(problems.length, 1, `${name}=${JSON.stringify(value)}`);
      t.match(problems[0], new RegExp(`^  ${name} must be `), `${name}=${JSON.stringify(value)}`);
    }
  }
});

t.test('the options of SQLite’s own addresses are refused, and not taken for a part of a name', async (t) => {
  const problem = '  DATABASE_URL must be sqlite:PATH without options such as ?mode=ro.';
  t.strictSame(problemsOf({ DATABASE_URL: 'sqlite:a.db?mode=ro' }), [problem]);
});

t.test('an operator’s text stays one readable line of the message', async (t) => {
  const [problem, ...others] = problemsOf({ HOST: `${'x'.repeat(5000)}\n\u001b[31m!` });
  t.strictSame(others, []);
  t.ok((problem?.length ?? 0) < 150, 'the value is shortened');
  t.match(problemsOf({ HOST: 'a\n\u001b[31mb' })[0], /"a\\n\\u001b\[31mb"/);
});

t.test('an address of PostgreSQL without a host is accepted, as pg takes it', async (t) => {
  const url = 'postgres://app@/ledger?host=/var/run/postgresql';
  t.equal(readConfig({ DATABASE_URL: url }).databaseUrl, url);
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
  const key = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
  const shown = describeConfig({ WEBHOOK_SECRET_KEY: key, WEBHOOK_SECRET_KEY_PREVIOUS: key });
  t.strictSame(
    shown.filter(({ name }) => name.startsWith('WEBHOOK')).map(({ value }) => value),
    ['***', '***'],
  );
  t.notMatch(refusalOf({ WEBHOOK_SECRET_KEY: `${key}x` }), 'AAEC');
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
