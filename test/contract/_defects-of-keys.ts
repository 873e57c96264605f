import type { Asker } from './_parties.ts';
import { queryOf, withKeyOf, withQuery } from './_planting.ts';
import type { Defect, ProxiedRequest } from './_proxy.ts';

const WITHIN = /a key counts in one place/;

function withAuthorization(request: ProxiedRequest, authorization: string | undefined): ProxiedRequest {
  return authorization === undefined
    ? request
    : { ...request, headers: { ...request.headers, authorization } };
}

/** Takes a key from a place where nobody may put one. */
const places: readonly [place: string, find: (request: ProxiedRequest) => string | null | undefined][] = [
  ...['x-api-key', 'api-key', 'x-auth-token', 'x-access-token', 'token'].map(
    (name): (typeof places)[number] => [name, ({ headers }) => headers[name]],
  ),
  ...['proxy-authorization', 'x-authorization', 'x-forwarded-authorization'].map(
    (name): (typeof places)[number] => [name, ({ headers }) => headers[name]?.replace('Bearer ', '')],
  ),
  ['a cookie', ({ headers }) => /access_token=([^;]+)/.exec(headers['cookie'] ?? '')?.[1]],
  ...['access_token', 'api_key', 'token'].map((name): (typeof places)[number] => [
    `?${name}=`,
    (request) => queryOf(request).get(name),
  ]),
];

/** Takes a key in a form that isn't one: an authorization as the server sees it, or undefined to leave it. */
const forms: readonly [form: string, seen: (sent: string, reader: string) => string | undefined][] = [
  ['Basic with the key as the name', (sent) => basic(sent)?.[0]],
  ['Basic with the key as the password', (sent) => basic(sent)?.[1]],
  ['Token', (sent) => /^Token (.+)/.exec(sent)?.[1]],
  ['a tab after the scheme', (sent) => /^Bearer\t(.+)/.exec(sent)?.[1]],
  ['a quoted key', (sent) => /^Bearer "(.+)"/.exec(sent)?.[1]],
  ['a parameter after the key', (sent) => /^Bearer ([^ ]+), realm/.exec(sent)?.[1]],
  ['the key twice', (sent) => /^Bearer (\S+) \1$/.exec(sent)?.[1]],
  ['another prefix', (sent, reader) => alike(sent, reader, [1, 2, 3])],
  ['another company', (sent, reader) => alike(sent, reader, [0, 2, 3])],
  ['another id', (sent, reader) => alike(sent, reader, [0, 1, 3])],
  ['a prefix in other letters', (sent, reader) => sameLetters(sent, reader, 0)],
  ['a company in other letters', (sent, reader) => sameLetters(sent, reader, 1)],
  ['a secret in other letters', (sent, reader) => sameLetters(sent, reader, 3)],
  [
    'the beginning of a secret',
    (sent, reader) => (reader.startsWith(bare(sent)) && isWhole(sent) ? reader : undefined),
  ],
  ['more than a secret', (sent, reader) => (bare(sent).startsWith(`${reader}A`) ? reader : undefined)],
  ['more than a key', (sent, reader) => (bare(sent).startsWith(`${reader}.`) ? reader : undefined)],
];

const bare = (sent: string) => sent.replace(/^Bearer /, '');
const isWhole = (sent: string) => /^([^.]+\.){3}[^.]{20,}$/.test(bare(sent));

function basic(sent: string): string[] | undefined {
  const [, coded] = /^Basic ([A-Za-z0-9+/=]+)$/.exec(sent) ?? [];
  return coded === undefined ? undefined : Buffer.from(coded, 'base64').toString('latin1').split(':');
}

/** The reader's key for one that has these of its parts. */
function alike(sent: string, reader: string, parts: readonly number[]): string | undefined {
  const [given, own] = [bare(sent).split('.'), reader.split('.')];
  return parts.every((part) => given[part] === own[part]) ? reader : undefined;
}

function sameLetters(sent: string, reader: string, part: number): string | undefined {
  const [given, own] = [bare(sent).split('.'), reader.split('.')];
  given[part] = given[part]?.toLowerCase() === own[part]?.toLowerCase() ? (own[part] ?? '') : '';
  return given.join('.') === reader ? reader : undefined;
}

/** Answers somebody with two things amiss as another, who has the second of them alone. */
const orders: readonly [before: string, asker: Asker, as: Asker][] = [
  ['API access before the subscription', 'unpaid and cut off', 'cut off'],
  ['the plan before API access', 'cut off and unlicensed for invoices:read', 'unlicensed for invoices:read'],
  ['the scope before the plan', 'unlicensed for and without invoices:read', 'without invoices:read'],
  ['invoicing before the scope', 'uninvoiced and without invoices:read', 'uninvoiced'],
];

/** Defects in where and how a key is taken, and in which of two refusals is named. */
export const keyDefects: readonly Defect[] = [
  ...places.map(([place, find]): Defect => ({
    name: `a key is taken from ${place}`,
    within: WITHIN,
    says: /: 200, not 401/,
    request: (request) => {
      const key = find(request);
      if (key === null || key === undefined) return request;
      const stripped = place.startsWith('?')
        ? withQuery(request, (query) => query.delete(place.slice(1, -1)))
        : request;
      return withAuthorization(stripped, `Bearer ${key}`);
    },
  })),
  ...forms.map(([form, seen]): Defect => ({
    name: `a key is taken as ${form}`,
    within: WITHIN,
    says: new RegExp(`as ${form}.*: 200, not 401`),
    request: (request, party) => {
      const reader = (party.authorization('reader') ?? '').replace('Bearer ', '');
      const sent = request.headers['authorization'] ?? '';
      if (sent === `Bearer ${reader}`) return request;
      const key = seen(sent, reader);
      return withAuthorization(request, key === undefined ? undefined : `Bearer ${key}`);
    },
  })),
  {
    name: 'two blanks before a key are refused',
    within: WITHIN,
    says: /two blanks .* 401 invalid_key, not 200/,
    request: (request) =>
      withAuthorization(request, request.headers['authorization']?.replace(/^Bearer {2,}/, 'none ')),
  },
  {
    name: 'whoever has the id of a revoked key learns that it is',
    within: /only who has the secret/,
    says: /with another secret: 401 revoked_key/,
    request: (request, party) => {
      const revoked = party.authorization('revoked') ?? '';
      const [prefix, company, id] = revoked.split('.');
      return request.headers['authorization']?.startsWith([prefix, company, id].join('.'))
        ? withKeyOf(party, 'revoked', request)
        : request;
    },
  },
  ...orders.map(([before, asker, as]): Defect => ({
    name: `${before} is looked at`,
    within: /the first reason for a refusal/,
    says: /, not 403/,
    request: (request, party) =>
      request.headers['authorization'] === party.authorization(asker)
        ? withKeyOf(party, as, request)
        : request,
  })),
];
