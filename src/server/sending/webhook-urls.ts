import { domainToASCII, domainToUnicode } from 'node:url';

import { parse } from 'tldts';

import { quote, UsageError } from '../../errors.ts';

/** Maximum characters of a URL; too many servers refuse longer ones (RFC 9110 section 4.1 recommends 8,000 octets). */
export const WEBHOOK_URL_CHARACTERS_MAX = 2_048;
/** Maximum characters of a host name (RFC 1035 section 2.3.4), without the trailing full stop. */
const NAME_CHARACTERS_MAX = 253;
const LABEL_CHARACTERS_MAX = 63;

/**
 * Suffixes in the public suffix list that lead to no public server: network infrastructure (RFC 3172; `home.arpa` and
 * reversed addresses are in it), and names that only Tor can look up (RFC 7686).
 */
const SPECIAL_SUFFIXES = ['arpa', 'onion'];

/**
 * Returns a webhook's URL in the form in which it is stored and called: https on port 443 of a public host name
 * (openapi.yaml, "Webhooks").
 *
 * The scheme and the host may be in capitals, port 443 may be written out, and an empty path becomes `/`. A non-ASCII host
 * name is taken in the ASCII form that a URL parser gives it (UTS 46, non-transitional). Everything else that a URL parser
 * would silently repair is refused: programs repair differently, so the program that checks an address and the one that calls
 * it could mean different hosts.
 * @returns the canonical form, which this function returns unchanged.
 * @throws UsageError of the field `url`, naming the value and the rule it breaks.
 */
export function canonicalWebhookUrl(text: string): string {
  const { authority, rest } = splitUrl(text);
  const host = checkedHost(text, authority);
  const canonical = `https://${host}${rest.startsWith('/') ? rest : `/${rest}`}`;
  const read = URL.parse(canonical);
  if (read?.hostname !== host || !labelsDecode(host))
    refuse(text, `must have a valid host name, which ${quote(host)} is not`);
  refusePrivate(text, host);
  if (Math.max(canonical.length, read.href.length) > WEBHOOK_URL_CHARACTERS_MAX) refuse(text, LENGTH_RULE);
  if (read.href !== canonical) refuse(text, `must be written in its normal form: ${read.href}`);
  return canonical;
}

const LENGTH_RULE = `must have at most ${WEBHOOK_URL_CHARACTERS_MAX} characters`;

function refuse(text: string, rule: string): never {
  // A password that someone put into the address is kept out of terminals and logs.
  const shown = text.replace(/^([a-z]+:[/\\]*)[^/\\?#]*@/i, '$1***@');
  throw new UsageError(`The webhook's address ${quote(shown)} ${rule}.`, { field: 'url' });
}

/** Returns the two parts of a URL: the authority, between `https://` and the path, and the rest. */
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

/** Returns a checked host name in lower-case ASCII. */
function checkedHost(text: string, authority: string): string {
  if (authority.includes('@')) refuse(text, 'must have no user name or password');
  if (authority.startsWith('[')) refuse(text, LITERAL_RULE);
  const [, name = '', port] = /^([^:]*)(?::(.*))?$/u.exec(authority) ?? [];
  if (port !== undefined && !/^0*443$/.test(port)) refuse(text, 'must use port 443');
  if (name.includes('%')) refuse(text, 'must have no percent-encoding in its host name');
  const host = asciiFormOf(name);
  if (host === '' && name !== '') refuse(text, `must have a valid host name, which ${quote(name)} is not`);
  const labels = host.split('.');
  if (isNumeric(labels)) refuse(text, LITERAL_RULE);
  refuseBadLabels(text, host, labels);
  return host;
}

const LITERAL_RULE = 'must have a host name and not a numeric address';

/** Returns a name in lower-case ASCII, or an empty text. An ASCII name isn't parsed, so a refusal can name its bad part. */
function asciiFormOf(name: string): string {
  return /[^\u0000-\u007f]/.test(name) ? domainToASCII(name) : name.toLowerCase();
}

/**
 * Whether a URL parser takes a name for an IPv4 address, in decimal, octal or hexadecimal (WHATWG URL, section 3.5).
 */
function isNumeric(labels: readonly string[]): boolean {
  const last = labels.at(-1) === '' ? labels.at(-2) : labels.at(-1);
  return last !== undefined && /^(?:\d+|0x[0-9a-f]*)$/.test(last);
}

/** Whether every internationalised label of a host name can be decoded, which not all URL parsers check. */
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
}

/**
 * Refuses host names without a registered suffix, such as those in private networks and clusters. This only helps people who
 * type one: the check of the address that is dialled keeps the service out of private networks.
 */
function refusePrivate(text: string, host: string): void {
  const { domain, isIcann, publicSuffix } = parse(host, { validateHostname: false });
  const last = host.split('.').at(-1) ?? '';
  if (last === host) refuse(text, `must have a public host name, which ${quote(host)} is not`);
  if (isIcann !== true || SPECIAL_SUFFIXES.includes(last))
    refuse(text, `must have a public host name, and none ends in ".${last}"`);
  if (domain === null)
    refuse(
      text,
      `must have a public host name, and ${quote(publicSuffix ?? host)} is only the suffix of such names`,
    );
}

/** Matches a label of a host name (RFC 1123 section 2.1). */
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
