import { existsSync, readdirSync } from 'node:fs';
import { isAbsolute } from 'node:path';

import { quotePath, readSecretFile } from '../../command-line/given-values.ts';
import { quote } from '../../errors.ts';

/*
 * Parsers of settings. The message of an error completes "NAME must be ...".
 */

export const integerSetting = (from: number, to: number) => (text: string) => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < from || value > to) throw new Error(`an integer from ${from} to ${to}`);
  return value;
};

export const matching = (pattern: RegExp, rule: string) => (text: string) => {
  if (!pattern.test(text)) throw new Error(rule);
  return text;
};

/** Returns a parser for a folder's absolute path; the folder or a subfolder must contain a file whose name matches `kind`. */
export const folderWith = (kind: RegExp, rule: string) => (text: string) => {
  const names = existsSync(text) ? readdirSync(text, { recursive: true, encoding: 'utf8' }) : [];
  if (!isAbsolute(text) || !names.some((name) => kind.test(name)))
    throw new Error(`an absolute path of a folder with ${rule}`);
  return text;
};

export function onOrOff(text: string): boolean {
  return matching(/^(?:on|off)$/, 'on or off')(text) === 'on';
}

export function parseKey(text: string): string {
  const bytes = Buffer.from(text, 'base64');
  // Node ignores characters that aren't base64, so a mangled key could be accepted.
  if (bytes.length !== 32 || bytes.toString('base64') !== text) throw new Error('32 bytes in base64');
  return text;
}

/** Returns a mail server's URL, parsed. Options in the query are refused, because some would disable certificate checks. */
export function parseSmtpUrl(text: string): string {
  const url = URL.parse(text);
  const isServer = url && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname);
  if (!isServer || `${url.search}${url.hash}` !== '')
    throw new Error('smtp://USER:PASSWORD@HOST:PORT or smtps://… with special characters escaped');
  return text;
}

/** Returns a database's address: `sqlite:PATH`, or a URL that pg can connect with. */
export function parseDatabaseUrl(text: string): string {
  // SQLite's own URIs may have options, which would be mistaken for part of the file name.
  if (/^sqlite:.*\?/s.test(text)) throw new Error('sqlite:PATH without options such as ?mode=ro');
  if (/^sqlite:(?!:memory:|file:)./s.test(text) || isPostgres(text)) return text;
  throw new Error(`sqlite:PATH, or ${POSTGRES_FORM}`);
}

export function parsePostgresUrl(text: string): string {
  if (isPostgres(text)) return text;
  throw new Error(POSTGRES_FORM);
}

const POSTGRES_FORM =
  'postgres://USER:PASSWORD@HOST:PORT/NAME with special characters escaped; several hosts are HOST:PORT,HOST:PORT, and target_session_attrs is any, read-write or primary';

function isPostgres(text: string): boolean {
  return /^postgres(?:ql)?:\/\/./s.test(text) && postgresUrls(text) !== undefined;
}

/** Matches a PostgreSQL address, in two parts: `postgres://USER:PASSWORD@` and `HOST:PORT,HOST:PORT`. */
const ADDRESS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)/;

/** Returns the hosts of a PostgreSQL address with their ports, separated by commas. */
export function hostListOf(url: string): string {
  return ADDRESS.exec(url)?.[2] ?? '';
}

/** Returns a PostgreSQL address with other hosts, given as `HOST:PORT,HOST:PORT`. */
export function withHostList(url: string, hosts: string): string {
  return url.replace(ADDRESS, (_all, begin: string) => `${begin}${hosts}`);
}

/** The supported values of `target_session_attrs` (libpq). */
const SESSION_ATTRS = ['any', 'read-write', 'primary'];

/** Returns one URL for each host of an address; undefined if any of them isn't well-formed. */
function postgresUrls(text: string): URL[] | undefined {
  const hosts = hostListOf(text).split(',');
  const urls = hosts.map((host) => postgresUrl(withHostList(text, host)));
  const isWhole = hosts.length === 1 || !hosts.includes('');
  return isWhole && urls.every((url) => url !== undefined) ? urls : undefined;
}

function postgresUrl(text: string): URL | undefined {
  const url = URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/'));
  // A later @ means that the password has an unescaped / ? or #, so the rest of it was parsed as something else.
  const hasLostPassword = url && `${url.pathname}${url.search}${url.hash}`.includes('@');
  // pg would take the whole list for a single host name.
  const hasHostList = url?.searchParams.get('host')?.includes(',') === true;
  const attrs = url?.searchParams.get('target_session_attrs') ?? 'any';
  const isRefused = hasLostPassword || hasHostList || !SESSION_ATTRS.includes(attrs);
  return isRefused ? undefined : (url ?? undefined);
}

/** Returns a parser of comma-separated lists; a hyphen alone is the empty list. */
export const listed = (isItem: (text: string) => boolean, rule: string) => (text: string) => {
  const items =
    text === '-'
      ? []
      : text
          .toLowerCase()
          .split(',')
          .map((item) => item.trim());
  if (!items.every(isItem)) throw new Error(`${rule}, or -`);
  return items;
};

/** Returns the support URL, which may only have characters that need no escaping in text or HTML. */
export function parseSupportUrl(text: string): string {
  const isPlain = /^(?:https?:\/\/|mailto:)[\w.~:/?#@!%+=,;[\]-]+$/.test(text);
  const url = URL.parse(text);
  if (!isPlain || !url || `${url.username}${url.password}` !== '')
    throw new Error('an http, https or mailto address, without credentials');
  return text;
}

/**
 * Returns a database's address with its passwords hidden, even those in the query, which pg accepts too.
 * @param mark the replacement for each password; an empty one removes them, for a command line.
 */
export function withoutPasswords(databaseUrl: string, mark = '***'): string {
  if (databaseUrl.startsWith('sqlite:')) return databaseUrl;
  const [url] = postgresUrls(databaseUrl) ?? [];
  if (!url) return 'postgres://***';
  if (url.password) url.password = mark;
  for (const name of [...url.searchParams.keys()])
    if (/password/i.test(name))
      if (mark) url.searchParams.set(name, mark);
      else url.searchParams.delete(name);
  const hosts = hostListOf(databaseUrl);
  return hosts.includes(',') ? withHostList(url.href, hosts) : url.href;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a setting's text, and its name for messages. A secret may be in a file that `NAME_FILE` names: containers and
 * systemd pass secrets as files, and any process of a user can read the environment of that user's other processes.
 * @throws Error whose message describes the whole problem.
 */
export function textOf(
  environment: Environment,
  name: string,
  { fallback, shown }: { fallback?: string; shown?: (value: string) => string },
): { subject: string; text: string | undefined } {
  const given = environment[name];
  const file = shown && environment[`${name}_FILE`];
  if (!file) return { subject: name, text: given || fallback };
  if (given) throw new Error(`${name} and ${name}_FILE are both set: remove one of them.`);
  return { subject: `${name}, in the file ${quotePath(file)},`, text: readSecretFile(`${name}_FILE`, file) };
}

/**
 * Parses a setting's text.
 * @throws Error whose message describes the whole problem, without the text of a secret.
 */
export function parsedSetting<T>(
  { parse, shown }: { parse: (text: string) => T; shown?: (value: string) => string },
  subject: string,
  text: string,
): T {
  try {
    return parse(text);
  } catch (error) {
    const given = shown ? '' : `, not ${quote(text)}`;
    throw new Error(`${subject} must be ${(error as Error).message}${given}.`, { cause: error });
  }
}
