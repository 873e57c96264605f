import { createHash } from 'node:crypto';

import { inLists, queryOf, withBody, without, withQuery } from './_planting.ts';
import type { Defect, ProxiedReply, ProxiedRequest } from './_proxy.ts';

type Change = NonNullable<Defect['request']>;

/** Has the server see another value of a parameter. */
function reading(name: string, read: (value: string) => string): Change {
  return (request) => {
    const value = queryOf(request).get(name);
    const seen = value === null ? null : read(value);
    return seen === value || seen === null ? request : withQuery(request, (query) => query.set(name, seen));
  };
}

function toTarget(change: (target: string) => string): Change {
  return (request) => ({ ...request, target: change(request.target) });
}

function withoutHeader(name: string, isFor: (request: ProxiedRequest) => boolean = () => true): Change {
  return (request) => {
    return isFor(request) ? { ...request, headers: without(request.headers, name) } : request;
  };
}

/** Answers with a status where a request has something. */
function answering(
  status: number,
  isFor: (request: ProxiedRequest, reply: ProxiedReply) => boolean,
): NonNullable<Defect['reply']> {
  return (reply, request) => {
    if (!isFor(request, reply)) return reply;
    const changed = { ...reply, status };
    if (status === 206) return withBody(changed, reply.body.subarray(0, 4));
    if (status !== 304) return changed;
    const headers = without(reply.headers, 'content-type', 'content-length');
    return { ...changed, headers, body: Buffer.alloc(0) };
  };
}

const has =
  (name: string, pattern = /./) =>
  ({ headers }: ProxiedRequest, reply: ProxiedReply) =>
    reply.status === 200 && name in headers && pattern.test(headers[name] ?? '');

const twenty = (status: number) => new RegExp(`the status is ${status}, not 200|answered ${status}, not 200`);
const taken = /the status is 200, not 400/;

/** Numbers that are none by the contract, and how a lenient server reads them. */
const numbers: readonly [name: string, pattern: RegExp, read: (text: string) => number][] = [
  ['with a leading zero', /^0\d+$/, Number],
  ['with a plus sign', /^[+ ]\d+$/, Number],
  ['with a point', /^\d+\.0*$/, Number],
  ['with a fraction', /^\d*\.\d+$/, (text) => Math.ceil(Number(text))],
  ['with an exponent', /^\d+e\d+$/i, Number],
  ['in hexadecimal', /^0x/i, Number],
  ['in binary or octal', /^0[bo]/, Number],
  ['with a blank', /^\d+\s$/, Number],
  ['with something behind', /^\d+[^\d]/, parseInt],
  ['in other digits', /^\D$/u, () => 5],
  ['that is no number', /^(?:NaN|null|true|Infinity)$/, () => 50],
  ['beyond the most', /^\d{3,}$/, () => 100],
];

/** Times, and what another server sees in place of them. */
const times: readonly [name: string, says: RegExp, read: (time: string) => string][] = [
  ['hour 24 is taken', taken, (time) => time.replace('T24:00:00', 'T00:00:00')],
  ['a second 60 is taken anywhere', taken, (time) => time.replace('12:00:60', '12:00:59')],
  ['a leap second is refused', twenty(400), (time) => time.replace('59:60', '59:99')],
  ['the year 1 is refused', twenty(400), (time) => time.replace(/^0001/, 'x')],
  ['the year 9999 is refused', twenty(400), (time) => time.replace(/^9999/, 'x')],
  [
    'the end of time has another side',
    /the records are/,
    (time) => time.replace(/^9999.*-12:00$/, '0001-01-01T00:00:00Z'),
  ],
  ['a time without an offset is taken', taken, (time) => time.replace(/T00:00:00$/, 'T00:00:00Z')],
  ['29 February is in every year', taken, (time) => time.replace(/-02-29/, '-02-28')],
  ['an offset may lack its colon', taken, (time) => time.replace(/(\+\d\d)(\d\d)$/, '$1:$2')],
  ['a time may lack its seconds', taken, (time) => time.replace(/T00:00Z$/, 'T00:00:00Z')],
  ['seconds since 1970 are taken', taken, (time) => (/^\d+$/.test(time) ? '2026-11-16T00:00:00Z' : time)],
  ['blanks around a time are cut off', taken, (time) => time.trim()],
];

const uuid = /[0-9A-F]{8}-[0-9A-F-]{27}/;

/** A page that shows one line of text. */
function pageWith(text: string): string {
  const stream = `BT /F1 12 Tf 50 700 Td (${text}) Tj ET`;
  return [
    '%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj',
    '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj',
    `4 0 obj<</Length ${stream.length}>>stream\n${stream}\nendstream endobj`,
    '5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
  ].join('\n');
}

function inPdf(change: (pdf: Buffer, name: string) => Buffer): NonNullable<Defect['reply']> {
  return (reply) => {
    const [, name] = /filename="([^"]+)\.pdf"/.exec(String(reply.headers['content-disposition'])) ?? [];
    return name === undefined || reply.status !== 200 ? reply : withBody(reply, change(reply.body, name));
  };
}

/** Defects in how what is written otherwise is read: numbers, times, names, ids, cursors and headers. */
export const spellingDefects: readonly Defect[] = [
  ...numbers.map(([name, pattern, read]): Defect => ({
    name: `a number ${name} is taken`,
    within: /misspelt, limit=|limit is 101/,
    says: taken,
    request: reading('limit', (text) =>
      pattern.test(text) ? String(Math.min(100, Math.max(1, read(text)))) : text,
    ),
  })),
  ...times.map(([name, says, read]): Defect => ({
    name,
    within: /misspelt, updatedSince|a time may have any offset/,
    says,
    request: reading('updatedSince', read),
  })),
  {
    name: 'a date that is not in the calendar is taken',
    within: /misspelt, issued/,
    says: taken,
    request: reading('issuedFrom', (date) => date.replace('02-29', '02-28')),
  },
  {
    name: 'the name of a parameter may have capitals',
    within: /misspelt, LIMIT/,
    says: taken,
    request: toTarget((target) => target.replace('LIMIT=', 'limit=')),
  },
  {
    name: 'the name of a parameter may have brackets',
    within: /misspelt, \w+%5B%5D/,
    says: taken,
    request: toTarget((target) => target.replace('%5B%5D=', '=')),
  },
  {
    name: 'a value of a closed set may have capitals',
    within: /misspelt, (?:kind|status|versions)=/,
    says: taken,
    request: toTarget((target) =>
      target.replace(/(?<=(?:kind|status|versions)=)[A-Z_]+$/, (value) => value.toLowerCase()),
    ),
  },
  {
    name: 'escapes in a query are not read',
    within: /a query may be written/,
    says: /is answered 400, not 200/,
    request: toTarget((target) => target.replace(/(?<=\?.*)%/, '%25')),
  },
  {
    name: 'an empty query is refused',
    within: /a query may be written/,
    says: /\? is answered 400, not 200/,
    request: toTarget((target) => target.replace(/\?$/, '?=')),
  },
  {
    name: 'a damaged cursor begins the list anew',
    within: /a damaged cursor/,
    says: /: 200, not 400 invalid_cursor/,
    reply: (reply, request, again) =>
      reply.status === 400 && queryOf(request).has('cursor')
        ? again(withQuery(request, (query) => query.delete('cursor')))
        : reply,
  },
  {
    name: 'an address of more than 8,000 characters is refused',
    within: /8,?100|yyyy|1aaaa/,
    says: /the status is 414, not 40/,
    reply: answering(414, ({ target }) => target.length > 8_000),
  },
  {
    name: 'an id in capitals is refused',
    within: /an id may be written/,
    says: /with capital letters: 404, not 200/,
    request: toTarget((target) => target.replace(uuid, 'none')),
  },
  {
    name: 'an escaped id is refused',
    within: /an id may be written/,
    says: /escaped: 404, not 200/,
    request: toTarget((target) => target.replace(/%(?![02])/, '%25')),
  },
  {
    name: 'an escaped slash is a slash',
    within: /404 for a path/,
    says: /the status is 200, not 404/,
    request: toTarget((target) => target.replace(/%2F/gi, '/')),
  },
  {
    name: 'escapes are read twice',
    within: /an id may be written/,
    says: /an escape that is escaped: 200, not 404/,
    request: toTarget((target) => target.replaceAll('%25', '%')),
  },
  {
    name: 'blanks at the end of an id are cut off',
    within: /an id may be written/,
    says: /a blank at its end: 200, not 404/,
    request: toTarget((target) => target.replace('%20', '')),
  },
  {
    name: 'a path may end with .json',
    within: /404 for a path/,
    says: /\.json of the reader: the status is 200, not 404/,
    request: toTarget((target) => target.replace(/\.json$/, '')),
  },
  ...(
    [
      ['If-Modified-Since is answered 304', 304, has('if-modified-since', /2100/)],
      ['If-Unmodified-Since is answered 412', 412, has('if-unmodified-since')],
      ['Range is answered with a part', 206, has('range', /^bytes=0-3$/)],
      ['Range is answered 416', 416, has('range', /99999999/)],
      ['text/html is not acceptable', 406, has('accept', /html/)],
      ['a media type with q=0 is not acceptable', 406, has('accept', /q=0/)],
      ['no language is acceptable', 406, has('accept-language')],
      ['X-HTTP-Method-Override is obeyed', 405, has('x-http-method-override')],
      ['only-if-cached is answered 504', 504, has('cache-control', /only-if-cached/)],
      ['a cross-site request is refused', 403, has('sec-fetch-site', /cross-site/)],
      ['a body of another media type is refused', 415, has('content-type', /xml/)],
      ['no browser name is refused', 403, has('user-agent', /^$/)],
      ['another version is refused', 400, has('accept-version')],
    ] as const
  ).map(([name, status, isFor]): Defect => ({
    name,
    within: /a header that the contract does not name/,
    says: new RegExp(`is answered ${status}, not 200|the status ${status} is not declared`),
    reply: answering(status, isFor),
  })),
  {
    name: 'X-Original-URL is the address',
    within: /a header that the contract does not name/,
    says: /X-Original-URL: \S+ is answered 404, not 200/,
    request: (request) => ({ ...request, target: request.headers['x-original-url'] ?? request.target }),
  },
  {
    name: 'a page of another origin may read the answer',
    within: /a header that the contract does not name/,
    says: /access-control-allow-origin is not declared/,
    reply: (reply, { headers: { origin } }) =>
      origin === undefined
        ? reply
        : { ...reply, headers: { ...reply.headers, 'access-control-allow-origin': '*' } },
  },
  {
    name: 'X-Request-Id is the name that the client gave',
    within: /a header that the contract does not name/,
    says: /takes the client's name/,
    reply: (reply, { headers: { 'x-request-id': given } }) =>
      given === undefined ? reply : { ...reply, headers: { ...reply.headers, 'x-request-id': given } },
  },
  {
    name: 'HEAD does not look at If-None-Match',
    within: /HEAD has the headers/,
    says: /the status is 200, GET's is 304/,
    request: withoutHeader('if-none-match', ({ method }) => method === 'HEAD'),
  },
  {
    name: 'HEAD does not look at the query',
    within: /HEAD has the headers/,
    says: /the status is 200, GET's is 400/,
    request: (request) =>
      request.method === 'HEAD' ? { ...request, target: request.target.replace(/\?.*/, '') } : request,
  },
  {
    name: 'HEAD needs no record',
    within: /HEAD has the headers/,
    says: /the status is 200, GET's is 404/,
    reply: answering(200, ({ method }, { status }) => method === 'HEAD' && status === 404),
  },
  {
    name: 'HEAD is compressed otherwise than GET',
    within: /HEAD has the headers/,
    says: /the header \/\S+ is .* as of GET/,
    request: withoutHeader('accept-encoding', ({ method }) => method === 'HEAD'),
  },
  {
    name: 'If-Modified-Since counts before If-None-Match',
    within: /304 while nothing/,
    says: /"another" with If-Modified-Since [^/]* is answered 304/,
    reply: answering(304, has('if-modified-since', /2100/)),
  },
  {
    name: 'If-None-Match is not looked at beside Range',
    within: /304 while nothing/,
    says: /with Range \S+ is answered 200, not 304/,
    request: withoutHeader('if-none-match', ({ headers }) => 'range' in headers),
  },
  {
    name: 'only the first tag of a list counts',
    within: /304 while nothing/,
    says: /"another", "[^"]+" is answered 200/,
    request: (request) => ({
      ...request,
      headers: {
        ...request.headers,
        'if-none-match': request.headers['if-none-match']?.split(',')[0] ?? 'none',
      },
    }),
  },
  {
    name: 'a tag may lack its quotes',
    within: /304 while nothing/,
    says: /If-None-Match [^" ]+ is answered 304/,
    request: (request) => ({
      ...request,
      headers: {
        ...request.headers,
        'if-none-match': request.headers['if-none-match']?.replace(/^[^"*]+$/, '"$&"') ?? 'none',
      },
    }),
  },
  {
    name: '304 for a request that is refused',
    within: /304 while nothing/,
    says: /with If-None-Match \* is answered 304/,
    reply: answering(304, ({ headers }, { status }) => status === 400 && headers['if-none-match'] === '*'),
  },
  {
    name: 'the tag of a draft never changes',
    within: /a tag changes when a draft/,
    says: /answered 304 when the draft was edited/,
    reply: (reply, { target, headers }, again, party) => {
      const isDraft = reply.status === 200 && /"status":"draft"/.test(reply.body.toString('utf8'));
      if (!isDraft) return reply;
      const etag = `"${createHash('sha1').update(target).digest('base64url')}"`;
      const tagged = { ...reply, headers: { ...reply.headers, etag } };
      return headers['if-none-match'] === etag
        ? answering(304, () => true)(tagged, { method: 'GET', target, headers }, again, party)
        : tagged;
    },
  },
  {
    name: 'archived customers are not listed',
    within: /listCustomers/,
    says: /differs from the example|the records are/,
    reply: inLists('/api/v1/customers', (page) => ({
      ...page,
      data: page.data.filter(({ archived }) => archived === false),
    })),
  },
  {
    name: 'archived customers are not found',
    within: /getCustomer|as its own path does: listCustomers/,
    says: /the status is 404, not 200/,
    reply: (reply, request, again) =>
      request.target.startsWith('/api/v1/customers/') && reply.body.includes('"archived":true')
        ? again({ ...request, target: '/api/v1/customers/absent_0000' })
        : reply,
  },
  {
    name: 'a customer whom a job names is not listed',
    within: /every customer that a record names/,
    says: /is not listed/,
    reply: inLists('/api/v1/customers', (page) => ({ ...page, data: page.data.slice(1) })),
  },
  {
    name: 'a customer whom a job names is not found',
    within: /every customer that a record names/,
    says: /is answered 404/,
    request: toTarget((target) => target.replace('customers/cus_0001', 'customers/absent_0000')),
  },
  {
    name: 'a newer version of a quote counts only when it is sent',
    within: /the latest version of a quote/,
    says: /the records are/,
    reply: inLists('/api/v1/quotes', (page, query) => ({
      ...page,
      data:
        query.get('versions') === 'all'
          ? page.data
          : page.data.filter(({ status, version }) => status !== 'draft' || version === 1),
    })),
  },
  {
    name: 'a PDF shows its number and nothing else',
    within: /each document has a PDF/,
    says: /does not show [A-Z]/,
    reply: inPdf((_pdf, name) => Buffer.from(pageWith(name))),
  },
  {
    name: 'a PDF has no e-invoice inside',
    within: /each document has a PDF/,
    says: /has no e-invoice inside/,
    reply: inPdf((pdf) =>
      Buffer.from(pdf.toString('latin1').replaceAll('factur-x.xml', 'factur-y.xml'), 'latin1'),
    ),
  },
];
