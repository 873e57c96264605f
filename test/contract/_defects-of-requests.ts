import type { Defects, Row } from './_defects.ts';
import {
  answer,
  answering,
  as,
  has,
  instead,
  page,
  parameter,
  queryOf,
  records,
  sent,
  target,
  withQuery,
} from './_planting.ts';
import {
  cursorBound,
  keyIn,
  keyInBasic,
  keyInQuery,
  keyLike,
  limitUnlessTold,
  lostOnLaterPages,
  revokedById,
  same,
  sameLetters,
  withoutEmpty,
  withoutRepetition,
} from './_planting-further.ts';
import type { ProxiedRequest } from './_proxy.ts';

const INVOICES = '/api/v1/invoices';
const FILTERS = 'kind status customer issuedFrom issuedTo updatedSince versions'.split(' ');
const HEADERS = [
  ...['x-api-key', 'api-key', 'x-auth-token', 'x-access-token', 'token'],
  ...['proxy-authorization', 'x-authorization', 'x-forwarded-authorization'],
];
const PARAMETERS = ['access_token', 'api_key', 'token'];
const lost = () => undefined;
const isAmongThree = (query: URLSearchParams) => FILTERS.filter((name) => query.has(name)).length > 2;
const pathOf = ({ target }: ProxiedRequest) => target.split('?')[0] ?? '';
const limitOf = (request: ProxiedRequest) => queryOf(request).get('limit') ?? '';
const beside = (part: string) => (asked: string) => !asked.includes(part);
const taken = /the status is 200, not 400/;
const others = /the records are/;

/** A number that is none by the contract is read as a lenient server reads it. */
const number = (what: string, pattern: RegExp, read: (text: string) => number = Number): Row => [
  `a number ${what} is taken`,
  parameter('limit', (given) =>
    pattern.test(given) ? String(Math.min(100, Math.max(1, read(given)))) : given,
  ),
  taken,
];
/** A time is read otherwise. */
const time = (what: string, pattern: RegExp | string, by: string, says = taken): Row => [
  what,
  parameter('updatedSince', (given) => given.replace(pattern, by)),
  says,
];
/** A request with a header is answered with a status. */
const heeded = (what: string, status: number, name: string, pattern = /^/): Row => [
  what,
  answering(status, has(name, pattern)),
  new RegExp(`: ${status} \\w+, not 200|: ${status}, not 200|the status ${status} is not declared`),
];

/** Defects in what is taken: by the steps that must notice each, how a request is read, and what has to be said. */
// prettier-ignore
export const requestDefects: Defects = {
  '401 listJobs': [
    ['a wrong key is taken', as('wrong', 'reader'), /the status is 200, not 401/],
    ['a revoked key still works', as('revoked', 'reader'), /the status is 200, not 401/],
  ],
  '403 list(Jobs|Customers|Quotes)': [
    ['a scope is not checked', as('without customers:read', 'reader'), /the status is 200, not 403/],
    ['a company that is cut off reads on', as('cut off', 'reader'), /the status is 200, not 403/],
    ['a company without a subscription reads on', as('unpaid', 'reader'), /the status is 200, not 403/],
    ['the plan is not looked at', as('unlicensed for quotes:read', 'reader'), /the status is 200, not 403/],
  ],
  '503 listQuotes': [
    ['invoicing is not looked at', as('uninvoiced', 'reader'), /the status is 200, not 503/],
  ],
  '200 getJob': [
    ['another company with the same id is read', as('reader', 'neighbour', (asked) => asked === '/api/v1/jobs/job_0001'), /is "A secret"/],
  ],
  '400 list': [
    ['an unknown parameter is ignored', parameter('limti'), taken],
    ['a cursor of another list is taken', target(/^(\/api\/v1\/people)\?cursor=1.*/, '$1'), taken],
    ['a plus that was not escaped is taken', parameter('updatedSince', (given) => given.replace(' ', '+')), taken],
  ],
  '400 .*\\?(\\w+)=[^&]+&\\1=': [
    ['of a repeated parameter the first counts', withoutRepetition(0), taken],
    ['of a repeated parameter the last counts', withoutRepetition(-1), taken],
  ],
  '400 .*\\?\\w+=?$': [
    ['an empty parameter is ignored', withoutEmpty((name) => name !== 'cursor'), taken],
    ['an empty cursor begins at the start', withoutEmpty((name) => name === 'cursor'), taken],
  ],
  '400 .*\\?limit=': [
    number('with a leading zero', /^0\d+$/),
    number('with a plus sign', /^[+ ]\d+$/),
    number('with a point', /^\d+\.0*$/),
    number('with a fraction', /^\d*\.\d+$/, (given) => Math.ceil(Number(given))),
    number('with an exponent', /^\d+e\d+$/i),
    number('in hexadecimal', /^0x/i),
    number('in binary or octal', /^0[bo]/),
    number('with a blank', /^\d+\s$/),
    number('with something behind', /^\d+[^\d]/, parseInt),
    number('in other digits', /^\D$/u, () => 5),
    number('that is no number', /^(?:NaN|null|true|Infinity)$/, () => 50),
    number('beyond the most', /^\d{3,}$/, () => 100),
  ],
  '400 .*\\?updatedSince=': [
    time('hour 24 is taken', 'T24:00:00', 'T00:00:00'),
    time('a second 60 is taken anywhere', '12:00:60', '12:00:59'),
    time('a time without an offset is taken', /T00:00:00$/, 'T00:00:00Z'),
    time('29 February is in every year', '-02-29', '-02-28'),
    time('an offset may lack its colon', /(\+\d\d)(\d\d)$/, '$1:$2'),
    time('a time may lack its seconds', /T00:00Z$/, 'T00:00:00Z'),
    time('seconds since 1970 are taken', /^\d+$/, '2026-11-16T00:00:00Z'),
    time('blanks around a time are cut off', /^\s+|\s+$/g, ''),
  ],
  'a time may have any offset': [
    time('a leap second is refused', '59:60', '59:99', /: 400 invalid_parameter, not 200/),
    time('the year 1 is refused', /^0001/, 'x', /: 400 invalid_parameter, not 200/),
    time('the year 9999 is refused', /^9999/, 'x', /: 400 invalid_parameter, not 200/),
    time('the end of time has another side', /^9999.*-12:00$/, '0001-01-01T00:00:00Z', others),
    time('the offset of a time is ignored', /[+-]\d\d:\d\d$/, 'Z', others),
    time('an offset to the east counts the other way', /\+(?=\d\d:\d\d$)/, '-', others),
    time('an offset to the west counts the other way', /-(?=\d\d:\d\d$)/, '+', others),
    time('the minutes of an offset are ignored', /(?<=[+-]\d\d):\d\d$/, ':00', others),
    time('a finer part of a time is cut off', /(\.\d{3})\d+/, '$1', others),
  ],
  '400 .*\\?issued': [
    ['a date that is not in the calendar is taken', parameter('issuedFrom', (given) => given.replace('02-29', '02-28')), taken],
  ],
  '400 .*\\?(LIMIT|\\w+%5B%5D)=': [
    ['the name of a parameter may have capitals', target('LIMIT=', 'limit='), taken],
    ['the name of a parameter may have brackets', target('%5B%5D=', '='), taken],
  ],
  '400 .*\\?(kind|status|versions)=': [
    ['a value of a closed set may have capitals', target(/(?<=(?:kind|status|versions)=)[A-Z_]+$/, (value) => value.toLowerCase()), taken],
  ],
  '40[04] .*(yyyy|1aaaa)': [
    ['an address of more than 8,000 characters is refused', answering(414, ({ target }) => target.length > 8_000), /the status is 414, not 40/],
  ],
  'the pages of a list': [
    ['nextCursor ends a list too early', page(INVOICES, (given, query) => (query.get('limit') === '3' ? { ...given, nextCursor: null } : given)), others],
    ['a page is one record too long', target(/limit=3\b/, 'limit=4'), /a page has 4 records/],
    ['a page misses its last record', page('/api/v1/forms', (given) => (given.nextCursor === null ? given : { ...given, data: given.data.slice(0, -1) })), others],
    ['a page begins with the last record of the page before', records('/api/v1/customers', (data, query) => (query.has('cursor') ? [...data.slice(0, 1), ...data].slice(0, data.length) : data)), others],
  ],
  'a page has fifty records': [
    ['a page has a hundred records unless told', limitUnlessTold('100', () => true), /has 100 records, not 50/],
    ['a page has 25 records unless told', limitUnlessTold('25', () => true), /has 25 records, not 50/],
    ['a later page has a hundred records unless told', limitUnlessTold('100', (query) => query.has('cursor')), /has 100 records, not 50/],
  ],
  'a filtered list is': [
    ...FILTERS.map((name): Row => [`the filter ${name} is ignored`, parameter(name), others]),
    ['issuedTo leaves its own day out', records(INVOICES, (data, query) => data.filter(({ issueDate }) => issueDate === null || issueDate !== query.get('issuedTo'))), /issuedTo=.*the records are/],
    ['updatedSince leaves its own moment out', records('/api/v1/quotes', (data, query) => data.filter(({ updatedAt }) => updatedAt !== query.get('updatedSince'))), /updatedSince=.*the records are/],
    ['two filters together widen the list', parameter('kind', lost, (query) => query.has('issuedFrom')), /kind=.*the records are/],
  ],
  'every filter counts on every page': [
    ...FILTERS.map((name): Row => [`the filter ${name} is ignored among three`, parameter(name, lost, isAmongThree), others]),
    ...FILTERS.map((name): Row => [`the filter ${name} is ignored after the first page`, lostOnLaterPages(name), others]),
  ],
  'a cursor belongs': [
    ['a cursor is taken with other filters', cursorBound(pathOf, (path, request, { status }) => status === 400 && path === pathOf(request), (query) => query.delete('cursor')), /200, not 400/],
    ['a cursor is refused with another limit', cursorBound(limitOf, (limit, request) => limit !== limitOf(request), (query) => query.set('cursor', '1aa')), /400 invalid_cursor, not 200/],
  ],
  'a damaged cursor': [
    ['a damaged cursor begins the list anew', instead((request) => withQuery(request, (query) => query.delete('cursor')), (_request, { status }) => status === 400), /: 200, not 400 invalid_cursor/],
  ],
  'a query may be written': [
    ['escapes in a query are not read', target(/(?<=\?.*)%/, '%25'), /is answered 400, not 200/],
    ['an empty query is refused', target(/\?$/, '?='), /\? is answered 400, not 200/],
  ],
  'an id may be written': [
    ['an id in capitals is refused', target(/[0-9A-F]{8}-[0-9A-F-]{27}/, 'none'), /with capital letters: 404/],
    ['an escaped id is refused', target(/%(?![02])/, '%25'), /escaped: 404/],
    ['escapes are read twice', target(/%25/g, '%'), /an escape that is escaped: 200, not 404/],
    ['blanks at the end of an id are cut off', target('%20', ''), /a blank at its end: 200, not 404/],
  ],
  'a header that the contract does not name': [
    heeded('If-Modified-Since is answered 304', 304, 'if-modified-since', /2100/),
    heeded('If-Unmodified-Since is answered 412', 412, 'if-unmodified-since'),
    heeded('Range is answered with a part', 206, 'range', /^bytes=0-3$/),
    heeded('Range is answered 416', 416, 'range', /99999999/),
    heeded('text/html is not acceptable', 406, 'accept', /html/),
    heeded('a media type with q=0 is not acceptable', 406, 'accept', /q=0/),
    heeded('no language is acceptable', 406, 'accept-language'),
    heeded('X-HTTP-Method-Override is obeyed', 405, 'x-http-method-override'),
    heeded('only-if-cached is answered 504', 504, 'cache-control', /only-if-cached/),
    heeded('a cross-site request is refused', 403, 'sec-fetch-site', /cross-site/),
    heeded('a body of another media type is refused', 415, 'content-type', /xml/),
    heeded('no browser name is refused', 403, 'user-agent', /^$/),
    heeded('another version is refused', 400, 'accept-version'),
    ['X-Original-URL is the address', { request: (request) => ({ ...request, target: request.headers['x-original-url'] ?? request.target }) }, /X-Original-URL: \S+ is answered 404|X-Original-URL: \S+: 404/],
    ['a page of another origin may read the answer', answer((reply) => ({ ...reply, headers: { ...reply.headers, 'access-control-allow-origin': '*' } }), has('origin')), /access-control-allow-origin is not declared/],
    ['X-Request-Id is the name that the client gave', answer((reply) => ({ ...reply, headers: { ...reply.headers, 'x-request-id': 'of-the-client' } }), has('x-request-id')), /takes the client's name/],
  ],
  'a key reads what .*: (with|without|licensed for|unlicensed for) (jobs|people|forms|customers):read': [
    ['a key with one scope reads everything', as('with jobs:read alone', 'reader'), /with jobs:read alone: (404 not_found|200), not 403 missing_scope/],
    ['a key with one scope reads nothing', as('with customers:read alone', 'without customers:read'), /with customers:read alone: 403 missing_scope, not 200/],
    ['a scope that is missing closes everything', as('without forms:read', 'with forms:read alone', beside('/forms')), /without forms:read: 403 missing_scope, not 200/],
    ['a module that is missing closes everything', as('unlicensed for forms:read', 'licensed for forms:read alone', beside('/forms')), /unlicensed for forms:read: 403 module_not_licensed, not 200/],
    ['one module opens the others', as('licensed for jobs:read alone', 'large'), /licensed for jobs:read alone: 200, not 403/],
    ['one module does not open its own data', as('licensed for people:read alone', 'unlicensed for people:read'), /licensed for people:read alone: 403 module_not_licensed, not 200/],
  ],
  'a key reads what .*: uninvoiced': [
    ['invoicing that is off closes the jobs too', as('uninvoiced', 'cut off', (asked) => asked.includes('/jobs')), /uninvoiced: 403 api_not_enabled, not 200/],
  ],
  'a key counts in one place': [
    ...HEADERS.map((name): Row => [`a key is taken from ${name}`, keyIn(name), new RegExp(`${name}: 200, not 401`, 'i')]),
    ['a key is taken from a cookie', keyIn('cookie', /access_token=([^;]+)/), /Cookie: 200, not 401/],
    ...PARAMETERS.map((name): Row => [`a key is taken from ?${name}=`, keyInQuery(name), new RegExp(`${name}=: 200, not 401`)]),
    ['a key is taken as Basic with the key as the name', keyInBasic(0), /the key as the name: 200, not 401/],
    ['a key is taken as Basic with the key as the password', keyInBasic(1), /the key as the password: 200, not 401/],
    ['a key is taken as Token', keyIn('authorization', /^Token (.+)/), /as Token: 200, not 401/],
    ['a key is taken with a tab after the scheme', keyIn('authorization', /^Bearer\t(.+)/), /a tab after the scheme: 200, not 401/],
    ['a quoted key is taken', keyIn('authorization', /^Bearer "(.+)"/), /a quoted key: 200, not 401/],
    ['a key is taken with a parameter after it', keyIn('authorization', /^Bearer ([^ ]+), realm/), /a parameter after the key: 200, not 401/],
    ['a key is taken that comes twice', keyIn('authorization', /^Bearer (\S+) \1$/), /the key twice: 200, not 401/],
    ['a key is taken with another prefix', keyLike(same(1, 2, 3)), /another prefix: 200, not 401/],
    ['a key is taken with another company', keyLike(same(0, 2, 3)), /another company: 200, not 401/],
    ['a key is taken with another id', keyLike(same(0, 1, 3)), /another id: 200, not 401/],
    ['a key is taken with a prefix in other letters', keyLike(sameLetters(0)), /a prefix in other letters: 200, not 401/],
    ['a key is taken with a company in other letters', keyLike(sameLetters(1)), /a company in other letters: 200, not 401/],
    ['a key is taken with a secret in other letters', keyLike(sameLetters(3)), /a secret in other letters: 200, not 401/],
    ['a key is taken with the beginning of its secret', keyLike(([, , , given = ''], [, , , own = '']) => given.length > 9 && own.startsWith(given)), /the beginning of a secret: 200, not 401/],
    ['a key is taken with more than its secret', keyLike(([, , , given = ''], [, , , own = '']) => given.startsWith(`${own}A`)), /more than a secret: 200, not 401/],
    ['more than a key is taken', keyLike((given, own) => given.length > 4 && same(0, 1, 2, 3)(given, own)), /more than a key: 200, not 401/],
    ['two blanks before a key are refused', sent('authorization', /^Bearer {2,}/, 'none '), /two blanks .* 401 invalid_key, not 200/],
    ['bearer in small letters is refused', sent('authorization', /^bearer /, 'none '), /as bearer: 401 invalid_key, not 200/],
    ['BEARER in capitals is refused', sent('authorization', /^BEARER /, 'none '), /as BEARER: 401 invalid_key, not 200/],
    ['a key is taken without its scheme', sent('authorization', /^(?=[^ ]+$)/, 'Bearer '), /no scheme: 200, not 401/],
    ['a key is taken with any scheme', sent('authorization', /^\w+ /, 'Bearer '), /as Basic: 200, not 401/],
  ],
  'only who has the secret': [
    ['whoever has the id of a revoked key learns that it is', revokedById(), /with another secret: 401 revoked_key/],
  ],
  'the first reason for a refusal': [
    ['parameters are looked at before the key', as('nobody', 'reader', (asked) => asked.includes('limit=0')), /nobody: 400 invalid_parameter, not 401/],
    ['API access before the subscription is looked at', as('unpaid and cut off', 'cut off'), /, not 403/],
    ['the plan before API access is looked at', as('cut off and unlicensed for invoices:read', 'unlicensed for invoices:read'), /, not 403/],
    ['the scope before the plan is looked at', as('unlicensed for and without invoices:read', 'without invoices:read'), /, not 403/],
    ['invoicing before the scope is looked at', as('uninvoiced and without invoices:read', 'uninvoiced'), /, not 403/],
  ],
  'an allowance counts down': [
    ['the keys of a company share an allowance', as('colleague of spenders', 'spender of short windows'), /another key of the company is answered 429/],
  ],
};
