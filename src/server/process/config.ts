import { isIP } from 'node:net';

import { parseBaseUrl, parseServiceName } from '../../command-line/given-values.ts';
import { UsageError, withoutSecrets } from '../../errors.ts';
import {
  type Environment,
  folderWith,
  integerSetting,
  listed,
  matching,
  onOrOff,
  parseDatabaseUrl,
  parsedSetting,
  parseKey,
  parsePostgresUrl,
  parseSmtpUrl,
  parseSupportUrl,
  textOf,
  withoutPasswords,
} from './setting-values.ts';
import { parseAccent } from './vendor-look.ts';

interface Setting {
  help: string;
  /** Default text if the variable isn't set; absent for a setting that is then undefined. */
  fallback?: string;
  /** Parses the variable's text. @throws Error whose message completes "NAME must be ...". */
  parse: (text: string) => string | number | boolean | readonly string[];
  /** Returns a secret's value redacted for display. Errors don't show the value at all. */
  shown?: (value: string) => string;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** The settings by name; each is read from the environment variable of that name, see {@link variableOf}. */
const settings = {
  host: {
    help: 'address that the server listens on; 0.0.0.0 or :: for every network',
    fallback: '127.0.0.1',
    parse: matching(/^[\w.:-]+$/, 'an address or a host name'),
  },
  port: {
    help: 'port that the server listens on; 0 for any free one',
    fallback: '8080',
    parse: integerSetting(0, 65_535),
  },
  baseUrl: {
    help: 'address that integrators use, with or without /api/v1, published everywhere; unless set, where the server listens',
    parse: parseBaseUrl,
  },
  supportUrl: {
    help: 'where integrators and administrators get help, an https or mailto address published in the contract and the portal; unless set, BASE_URL in the contract',
    parse: parseSupportUrl,
  },
  databaseUrl: {
    help: 'sqlite:PATH, or postgres://USER:PASSWORD@HOST:PORT/NAME',
    fallback: 'sqlite:data/fieldledger.db',
    parse: parseDatabaseUrl,
    shown: withoutPasswords,
  },
  databaseDirectUrl: {
    help: 'the same PostgreSQL without the pooler that DATABASE_URL leads to, for LISTEN; unless set, DATABASE_URL',
    parse: parsePostgresUrl,
    shown: withoutPasswords,
  },
  databasePoolMax: {
    help: 'connections to PostgreSQL that one process keeps at most',
    fallback: '10',
    parse: integerSetting(1, 1_000),
  },
  serviceName: {
    help: 'name of the service, shown in the published contract and in the User-Agent of webhooks',
    fallback: 'Fieldledger',
    parse: parseServiceName,
  },
  keyPrefix: {
    help: 'first part of every API key; keys with another one stop working',
    fallback: 'fl',
    parse: matching(/^[a-z0-9_]{1,16}$/, '1 to 16 lower-case letters, digits and underscores'),
  },
  logLevel: {
    help: LOG_LEVELS.join(', '),
    fallback: 'info',
    parse: matching(new RegExp(`^(?:${LOG_LEVELS.join('|')})$`), `one of ${LOG_LEVELS.join(', ')}`),
  },
  rateLimitPerMinute: {
    help: 'requests that one key may make in a minute; the contract promises 120',
    fallback: '120',
    parse: integerSetting(1, 10_000_000),
  },
  wrongKeysPerMinute: {
    help: 'requests without a right key that one address may make in a minute',
    fallback: '120',
    parse: integerSetting(1, 10_000_000),
  },
  trustedProxies: {
    help: 'reverse proxies in front whose X-Forwarded-For is believed; 0 when clients connect directly',
    fallback: '0',
    parse: integerSetting(0, 10),
  },
  connectionsPerNetworkMax: {
    help: 'connections that one network (an IPv4 address, an IPv6 /64) may have; with TRUSTED_PROXIES any number, because the proxy bounds them',
    fallback: '100',
    parse: integerSetting(1, 10_000),
  },
  hstsSubdomains: {
    help: 'on if browsers are to keep to https for all names below that of BASE_URL too',
    fallback: 'off',
    parse: onOrOff,
  },
  securityContact: {
    help: 'where security faults are reported, an https or mailto address for /.well-known/security.txt; unless set, there is none',
    parse: matching(/^(?:https:\/\/|mailto:)[\w.~:/?#@!%+=,;[\]-]+$/, 'an https or mailto address'),
  },
  shutdownDelaySeconds: {
    help: 'time after SIGTERM in which /readyz says 503 and requests are still served, so that a load balancer notices',
    fallback: '0',
    parse: integerSetting(0, 600),
  },
  shutdownSeconds: {
    help: 'time that requests under way get to finish after SIGTERM and that delay',
    fallback: '10',
    parse: integerSetting(0, 600),
  },
  managementHost: {
    help: 'address of MANAGEMENT_PORT',
    fallback: '127.0.0.1',
    parse: matching(/^[\w.:-]+$/, 'an address or a host name'),
  },
  managementPort: {
    help: 'port of /metrics, /healthz and /readyz for operators, of `serve` and of `deliver`; 0 for any free one; unless set, there is none',
    parse: integerSetting(0, 65_535),
  },
  managementNames: {
    help: 'comma-separated host names by which /metrics may be asked for, besides addresses and names without a dot',
    fallback: '-',
    parse: listed((text) => /^[\w-]+(?:\.[\w-]+)*$/.test(text), 'host names'),
  },
  feedHost: {
    help: 'address of FEED_PORT; 0.0.0.0 or :: for every network, behind a proxy with TLS',
    fallback: '127.0.0.1',
    parse: matching(/^[\w.:-]+$/, 'an address or a host name'),
  },
  feedPort: {
    help: 'port on which business systems send their changes over HTTP; 0 for any free one; unless set, there is none',
    parse: integerSetting(0, 65_535),
  },
  feedRequestsPerMinute: {
    help: 'requests that one feed token may make in a minute, of each process',
    fallback: '6000',
    parse: integerSetting(1, 1_000_000),
  },
  webhookSecretKey: {
    help: '32 bytes in base64 (openssl rand -base64 32) that encrypt the signing secrets of webhooks and second factors; PostgreSQL needs it, SQLite has a key next to its file',
    parse: parseKey,
    shown: () => '***',
  },
  webhookSecretKeyPrevious: {
    help: 'the key before that one, for secrets that were encrypted with it',
    parse: parseKey,
    shown: () => '***',
  },
  deliverWebhooks: {
    help: 'on, or off for a server when `fieldledger deliver` runs too',
    fallback: 'on',
    parse: onOrOff,
  },
  deliveriesMax: {
    help: 'webhook deliveries that one process makes at the same time; at most 4 of them for one webhook',
    fallback: '64',
    parse: integerSetting(1, 1_000),
  },
  changeIdDays: {
    help: 'days for which the id of a change of a feed is kept; a change that is sent again later is made again',
    fallback: '90',
    parse: integerSetting(1, 36_500),
  },
  ownAddresses: {
    help: 'comma-separated public addresses that lead to this service, and that webhooks therefore never call',
    fallback: '-',
    parse: listed((text) => isIP(text) !== 0, 'IPv4 or IPv6 addresses'),
  },
  smtpUrl: {
    help: 'smtp://USER:PASSWORD@HOST:PORT or smtps://… of the mail server for notices and links to people; unless set, no emails are sent',
    parse: parseSmtpUrl,
    shown: (url) => url.replace(/\/\/.*@/, '//***@'),
  },
  mailFrom: {
    help: 'email address that emails come from; SMTP_URL needs it',
    parse: matching(/^[\w.+-]+@[\w-]+(?:\.[\w-]+)*$/, 'an email address such as notices@example.com'),
  },
  accessPointFolder: {
    help: 'folder of the access point, into which the e-invoices (UBL) of companies that hand over are put; unless this or ACCESS_POINT_URL is set, they wait',
    parse: matching(/^\//, 'an absolute path'),
  },
  accessPointUrl: {
    help: 'https address of the access point, to which they are sent instead, each with a POST',
    parse: matching(/^https:\/\//, 'an https address'),
  },
  accessPointToken: {
    help: 'token that ACCESS_POINT_URL asks for, sent as Authorization: Bearer',
    parse: matching(/^[\x21-\x7e]{8,4096}$/, '8 to 4,096 characters of ASCII without blanks'),
    shown: () => '***',
  },
  portal: {
    help: "on, or off for a server without the portal for companies' administrators",
    fallback: 'on',
    parse: onOrOff,
  },
  portalLogo: { help: 'file with the logo of all pages, PNG or JPEG', parse: (text: string) => text },
  portalAccent: {
    help: 'colour of their links and buttons, and of titles and rules on documents, as #rrggbb, dark enough for light pages; unless set, our own dark greens',
    parse: parseAccent,
  },
  documentTemplate: {
    help: 'folder with a template of documents in place of our own, tried at start; it begins as a copy of ours',
    parse: folderWith(/^document\.typ$/, 'document.typ'),
  },
  documentFonts: {
    help: 'folder with more fonts for documents, for scripts that ours lack',
    parse: folderWith(/\.(?:ttf|otf|ttc|otc)$/i, 'TTF, OTF or TTC fonts'),
  },
  portalSignIn: {
    help: 'passwords, or links where people sign in only through portal links from the business system',
    fallback: 'passwords',
    parse: matching(/^(?:passwords|links)$/, 'passwords or links'),
  },
  portalIdleMinutes: {
    help: 'time without use after which an administrator is signed out',
    fallback: '30',
    parse: integerSetting(5, 1_440),
  },
  portalSessionHours: {
    help: 'time after which an administrator has to sign in again, however busy',
    fallback: '12',
    parse: integerSetting(1, 720),
  },
} as const satisfies Record<string, Setting>;

type Settings = typeof settings;

/** The operator's settings, each explained by its `help`, read from the environment once at start. */
export type Config = {
  [K in keyof Settings]:
    ReturnType<Settings[K]['parse']> | ('fallback' extends keyof Settings[K] ? never : undefined);
};

/** Returns the name of a setting's environment variable: LOG_LEVEL for logLevel. */
const variableOf = (key: string) => key.replaceAll(/[A-Z]/g, '_$&').toUpperCase();

/**
 * Returns the settings in the environment, and in files named there. An empty variable counts as not set.
 * @throws UsageError whose message lists every setting that is wrong, not only the first.
 */
export function readConfig(environment: Environment): Config {
  const { config, problems } = readSettings(environment);
  if (problems.length > 0)
    throw new UsageError(`The configuration is wrong:\n${problems.map((line) => `  ${line}`).join('\n')}`);
  // Every key of Config has a setting, and all that are set were parsed.
  return config as unknown as Config;
}

/** Returns the valid settings, and the problems of the others as sentences that begin with the variable. */
function readSettings(environment: Environment) {
  const config: Record<string, ReturnType<Setting['parse']> | undefined> = {};
  const problems: string[] = [];
  for (const [key, setting] of Object.entries<Setting>(settings)) {
    try {
      const { subject, text } = textOf(environment, variableOf(key), setting);
      if (text !== undefined) config[key] = parsedSetting(setting, subject, text);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (config.smtpUrl && !(config.mailFrom && config.baseUrl))
    problems.push('SMTP_URL needs MAIL_FROM and BASE_URL: an email has a sender, and links to the portal.');
  if (config.accessPointFolder && config.accessPointUrl)
    problems.push('ACCESS_POINT_FOLDER and ACCESS_POINT_URL are both set: remove one of them.');
  if (config.accessPointToken && !config.accessPointUrl)
    problems.push('ACCESS_POINT_TOKEN needs ACCESS_POINT_URL, to which it is sent.');
  return { config, problems };
}

/** Returns every setting's description for `fieldledger config`, with secrets redacted, and the problem of an invalid one. */
export function describeConfig(environment: Environment) {
  const { config, problems } = readSettings(environment);
  return Object.entries<Setting>(settings).map(([key, { help, shown }]) => {
    const name = variableOf(key);
    const value = config[key] ?? (shown ? '' : withoutSecrets(environment[name] ?? ''));
    const text = typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
    return {
      name,
      value: shown && text !== '' ? shown(text) : text,
      problem: problems.find((line) => line.split(/\W|_FILE/)[0] === name) ?? null,
      isDefault: !environment[name] && !(shown && environment[`${name}_FILE`]),
      help: shown ? `${help}; or ${name}_FILE names a file with it` : help,
    };
  });
}
