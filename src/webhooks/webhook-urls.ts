import { domainToASCII, domainToUnicode } from 'node:url';

import { quote, UsageError } from '../errors.ts';

/** Longer addresses are refused by too many servers on the way (RFC 9110 section 4.1 asks for 8,000 octets at most). */
export const WEBHOOK_URL_CHARACTERS_MAX = 2_048;
/** RFC 1035 section 2.3.4, as text without the root's full stop. */
const NAME_CHARACTERS_MAX = 253;
const LABEL_CHARACTERS_MAX = 63;

/**
 * Last parts of names that never lead to a public server.
 *
 * They are a courtesy to who types one: what keeps the service out of private networks is the check of the very
 * address that is dialled. `example.com`, `.net` and `.org` are special too (RFC 6761), but do lead to a server.
 */
const SPECIAL_NAMES: ReadonlySet<string> = new Set([
  // RFC 6761.
  ...['example', 'invalid', 'localhost', 'test'],
  // RFC 6762, and its appendix G: what private networks are called in practice.
  ...['local', 'corp', 'home', 'internal', 'intranet', 'lan', 'private'],
  // RFC 7686 and RFC 9476.
  ...['onion', 'alt'],
  // RFC 3172: the network's own infrastructure, `home.arpa` (RFC 8375) and reversed addresses among it.
  'arpa',
  // Never to be delegated, because networks use it as their own (ICANN board, 4 February 2018).
  'mail',
  // `localhost.localdomain` is in the hosts files of many machines.
  'localdomain',
]);

/**
 * The address of a webhook as it is stored and called: https on port 443 of a public host name (service.md,
 * "Registering a webhook").
 *
 * Scheme and host may be written in capitals, port 443 may be written out, and an empty path is `/`. Whatever else a
 * URL parser would silently repair is refused: two programs repair differently, and then the one that checks an
 * address and the one that calls it mean different hosts.
 * @returns the canonical form, which this function returns as it is.
 * @throws UsageError that names the value and the rule it breaks.
 */
export function canonicalWebhookUrl(text: string): string {
  const { authority, rest } = splitUrl(text);
  const host = checkedHost(text, authority);
  const canonical = `https://${host}${rest.startsWith('/') ? rest : `/${rest}`}`;
  const read = URL.parse(canonical);
  if (read?.hostname !== host || !labelsDecode(host))
    refuse(text, `must have a valid host name, which ${quote(host)} is not`);
  if (Math.max(canonical.length, read.href.length) > WEBHOOK_URL_CHARACTERS_MAX) refuse(text, LENGTH_RULE);
  if (read.href !== canonical) refuse(text, `must be written as it is called: ${read.href}`);
  return canonical;
}

const LENGTH_RULE = `must have at most ${WEBHOOK_URL_CHARACTERS_MAX} characters`;

function refuse(text: string, rule: string): never {
  // A password that someone put into the address is kept out of terminals and logs.
  const shown = text.replace(/^([a-z]+:[/\\]*)[^/\\?#]*@/i, '$1***@');
  throw new UsageError(`The webhook's address ${quote(shown)} ${rule}.`);
}

/** What stands between `https://` and the path, and what follows. */
function splitUrl(text: string): { authority: string; rest: string } {
  if (text.length > WEBHOOK_URL_CHARACTERS_MAX) refuse(text, LENGTH_RULE);
  if (/[\s\p{Cc}]/u.test(text)) refuse(text, 'must have no blanks, line breaks or control characters');
  if (text.includes('\\')) refuse(text, 'must have no backslashes');
  const [, authority, rest = ''] = /^https:\/\/([^/?#]+)(.*)$/i.exec(text) ?? [];
  if (authority === undefined) refuse(text, 'must begin with https:// and a host name');
  if (text.includes('#')) refuse(text, 'must have no fragment (#), which is never sent');
  if (/[^\u0000-\u007f]/.test(rest))
    refuse(text, 'must have only ASCII after its host; percent-encode the rest');
  if (/%(?![0-9a-f]{2})/i.test(rest)) refuse(text, 'must have two hexadecimal digits after each %');
  return { authority, rest };
}

/** The host's name in small letters. */
function checkedHost(text: string, authority: string): string {
  if (authority.includes('@')) refuse(text, 'must have no user name or password');
  if (authority.startsWith('[')) refuse(text, LITERAL_RULE);
  const [, name = '', port] = /^([^:]*)(?::(.*))?$/u.exec(authority) ?? [];
  if (port !== undefined && !/^0*443$/.test(port)) refuse(text, 'must use port 443');
  if (name.includes('%')) refuse(text, 'must have no percent-encoding in its host name');
  // Tested before it is made small: that turns some letters outside ASCII into ones within it.
  if (/[^\u0000-\u007f]/.test(name)) refuse(text, `${ASCII_RULE}${asciiFormOf(name)}`);
  const host = name.toLowerCase();
  const labels = host.split('.');
  if (isNumeric(labels)) refuse(text, LITERAL_RULE);
  refuseBadLabels(text, host, labels);
  return host;
}

const LITERAL_RULE = 'must have a host name and not a numeric address';
const ASCII_RULE = 'must have its host name in ASCII';

/** Only a form that could be registered is worth telling. */
function asciiFormOf(name: string): string {
  const ascii = domainToASCII(name);
  return ascii === '' || isNumeric(ascii.split('.')) ? '' : `, as ${quote(ascii)}`;
}

/** Whether a URL parser takes a name for an IPv4 address, in decimal, octal or hexadecimal (WHATWG URL, section 3.5). */
function isNumeric(labels: readonly string[]): boolean {
  const last = labels.at(-1) === '' ? labels.at(-2) : labels.at(-1);
  return last !== undefined && /^(?:\d+|0x[0-9a-f]*)$/.test(last);
}

/** Whether every internationalised part stands for a name: parsers differ in whether they look. */
function labelsDecode(host: string): boolean {
  return host.split('.').every((label) => !label.startsWith('xn--') || domainToUnicode(label) !== label);
}

function refuseBadLabels(text: string, host: string, labels: readonly string[]): void {
  if (host.endsWith('.')) refuse(text, 'must have a host name without a full stop at its end');
  if (host.length > NAME_CHARACTERS_MAX)
    refuse(text, `must have a host name of at most ${NAME_CHARACTERS_MAX} characters`);
  const bad = labels.find((label) => label.length > LABEL_CHARACTERS_MAX || !LABEL.test(label));
  if (bad !== undefined) {
    const rule = `1 to ${LABEL_CHARACTERS_MAX} letters, digits and hyphens, with no hyphen at an end`;
    refuse(text, `must have a host name whose parts are ${rule}, which ${quote(bad)} is not`);
  }
  if (labels.length < 2) refuse(text, `must have a public host name, which ${quote(host)} is not`);
  const last = labels.at(-1) ?? '';
  if (SPECIAL_NAMES.has(last)) refuse(text, `must have a public host name, and none ends in ".${last}"`);
  if (!TOP_LEVEL.test(last))
    refuse(text, `must have a host name that ends in a top-level domain, which ${quote(last)} is not`);
}

/** RFC 1123 section 2.1. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** Letters, or an internationalised name in its ASCII form (RFC 3696 section 2; RFC 5890 section 2.3.2.1). */
const TOP_LEVEL = /^(?:[a-z]{2,}|xn--[a-z0-9-]*[a-z0-9])$/;
