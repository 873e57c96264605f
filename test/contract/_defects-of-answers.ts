import { randomUUID } from 'node:crypto';

import type { Defects } from './_defects.ts';
import {
  alter,
  answer,
  answering,
  body,
  both,
  digest,
  drop,
  forNothing,
  has,
  instead,
  member,
  method,
  page,
  records,
  second,
  sent,
  set,
  status,
  tagged,
  target,
  text,
  unparsed,
  unsent,
} from './_planting.ts';
import {
  barePdf,
  beforeRefusal,
  inPdf,
  namedPdf,
  newPdf,
  packed,
  refusedForGood,
  samePdf,
  untold,
  withForeignRecord,
  withoutPdfs,
  withPagesOf,
} from './_planting-further.ts';
import type { ProxiedRequest } from './_proxy.ts';

const error = (code: string, message = 'No.') => ({ error: { code, message } });
const isHead = ({ method }: ProxiedRequest) => method === 'HEAD';
const LISTED = '/api/v1/customers';
const INVOICES = '/api/v1/invoices';

/** Defects in what is answered: by the steps that must notice each, what is changed, and what has to be said. */
// prettier-ignore
export const answerDefects: Defects = {
  '200 listJobs': [
    ['a record has an undeclared member', text(/"id":"job_/g, '"companyId":"brennan",$&'), /properties: companyId/],
    ['an undeclared member stands beside data', text('"data":', '"total":3,$&'), /properties: total/],
    ['a required member is missing', member('/api/v1/jobs', 'notes', undefined), /must have required property 'notes'/],
    ['null is absent', text(',"nextCursor":null', ''), /must have required property 'nextCursor'/],
    ['a time has no Z', text(/("updatedAt":"[^"]+)Z"/, '$1"'), /updatedAt must match/],
    ['a time has a space for its T', text(/("createdAt":"[\d-]+)T/, '$1 '), /createdAt must match/],
    ['a time has no milliseconds', text(/("createdAt":"[^".]+)\.\d+Z/, '$1Z'), /createdAt must match/],
    ['a member comes twice', text('{"id":"job_0001"', '{"id":"job_0002","id":"job_0001"'), /not the plain JSON text/],
    ['200 becomes another success', status(200, 206), /the status is 206, not 200/],
    ['X-Request-Id is missing', drop('x-request-id'), /header x-request-id is missing/],
    ['Date is missing', drop('date'), /header date is missing/],
    ['Date is an hour behind', set('date', () => new Date(Date.now() - 3_600_000).toUTCString()), /is 3[56]\d\d seconds off/],
    ['Date has another form', set('date', () => new Date().toISOString()), /header date has another form/],
    ['RateLimit has another form', set('ratelimit', 'limit=120, remaining=119, reset=42'), /ratelimit as a whole must match/],
    ['a cache may share the answer', set('cache-control', 'public, max-age=60'), /cache-control .* equal to constant/],
    ['a header is not declared', set('x-powered-by', 'Express'), /header x-powered-by is not declared/],
    ['a header comes twice', set('cache-control', ['private, no-cache', 'no-store']), /cache-control came more than once/],
    ['the media type has a charset', set('content-type', 'application/json; charset=utf-8'), /media type is .*; charset/],
    ['two records have changed places', records('/api/v1/jobs', ([first, ...others]) => [...others, first ?? {}]), /\/data\/0\/id/],
    ['a page has five records unless told', target(/^\/api\/v1\/jobs$/, '$&?limit=5'), /differs from the example/],
    ['limit is ignored', target(/[?&]limit=\d+/, ''), /differs from the example/],
  ],
  '200 listPeople': [
    ['a list is in the opposite order', records('/api/v1/people', (data) => data.toReversed()), /differs from the example: \/data\/0\/id/],
  ],
  '200 listFormSubmissions': [
    ['a member that may be absent is missing where it belongs', member('/api/v1/forms', 'jobId', undefined), /jobId is undefined/],
  ],
  '200 listCustomers': [
    ['an object inside a record has an undeclared member', text(/"sites":\[\{/g, '$&"rowId":7,'), /properties: rowId/],
    ['archived customers are not listed', records(LISTED, (data) => data.filter(({ archived }) => archived === false)), /differs from/],
    ['nextCursor leads to an empty page', text('"nextCursor":null', '"nextCursor":"1aaaaaaaaaaaaaaaaaa"'), /differs from the example: \/nextCursor/],
  ],
  '200 getCustomer': [
    ['archived customers are not found', instead(forNothing, (_request, { body }) => body.includes('"archived":true')), /the status is 404, not 200/],
  ],
  '200 listQuotes': [
    ['a number comes as text', text(/"netMinor":(-?\d+)/, '"netMinor":"$1"'), /must be integer/],
    ['cents come as euros', text(/"grossMinor":(-?\d+)(\d\d)\b/, '"grossMinor":$1.$2'), /must be integer/],
    ['cents are written as a float', text(/"vatMinor":(-?\d+)/, '"vatMinor":$1.0'), /not the plain JSON text/],
    ['an expired quote is still sent', text(/"status":"expired"/g, '"status":"sent"'), /status is "sent", not "expired"/],
  ],
  '200 listInvoices': [
    ['a date is not in the calendar', text(/"issueDate":"[^"]+"/, '"issueDate":"2026-02-30"'), /issueDate must match format "date"/],
    ['an issued document has no number', member(INVOICES, 'number', null), /differs from the example: .*number is null/],
    ['a closed set has another value', text('"status":"issued"', '"status":"paid"'), /must be equal to one of the allowed values/],
    ['drafts are listed without being asked for', target(/^\/api\/v1\/invoices$/, '$&?status=all'), /differs from the example/],
    ['nextCursor is the one of this page', page(INVOICES, (given, query) => ({ ...given, nextCursor: given.nextCursor && query.get('cursor') })), /\/nextCursor is/],
  ],
  '200 getInvoice:': [
    ['money is one cent off', member('/api/v1/invoices/', 'amountDueMinor', (minor: number) => minor + 1), /differs from the example: .*amountDueMinor/],
  ],
  '304 listJobs': [
    ['304 has a media type', set('content-type', 'application/json', 304), /a 304 has a Content-Type/],
    ['If-None-Match is ignored', unsent('if-none-match'), /the status is 200, not 304/],
    ['the same body gets a new tag each time', set('etag', () => `"${randomUUID()}"`), /the status is 200, not 304/],
  ],
  '400 listJobs': [
    ['400 becomes an undeclared 422', status(400, 422), /the status is 422, not 400/],
  ],
  '401 listJobs': [
    ['WWW-Authenticate is missing', drop('www-authenticate', 401), /header www-authenticate is missing/],
    ['an allowance is stated to a wrong key', set('ratelimit', '"default";r=119;t=42', 401), /header ratelimit is not declared/],
    ['an error has a code of another status', body(error('unauthorized', 'The API key is wrong.'), 401), /has the code unauthorized/],
  ],
  '403 listJobs': [
    ['two reasons for a refusal are confused', text('company_unavailable', 'api_not_enabled', 403), /code is "api_not_enabled", not "company_unavailable"/],
  ],
  '404 getJob: notFound': [
    ['404 becomes 403', status(404, 403), /the status is 403, not 404/],
    ['X-Request-Id is missing on an error', drop('x-request-id', 404), /header x-request-id is missing/],
    ['Date is missing on an error', drop('date', 404), /header date is missing/],
    ['an error is HTML by its media type', set('content-type', 'text/html', 404), /the media type is text\/html/],
    ['an error is a problem document', body({ type: 'about:blank', title: 'Not Found', status: 404 }, 404), /must have required property 'error'/],
  ],
  '429 listJobs': [
    ['the allowance never ends', status(429, 200), /the status is 200, not 429/],
    ['Retry-After is missing on 429', drop('retry-after', 429), /header retry-after is missing/],
    ['Retry-After is a date', set('retry-after', 'Fri, 20 Nov 2026 12:01:00 GMT', 429), /retry-after as a whole must be integer/],
  ],
  '503 listJobs': [
    ['503 becomes an undeclared 500', status(503, 500), /the status is 500, not 503/],
    ['Retry-After is missing on 503', drop('retry-after', 503), /header retry-after is missing/],
    ['an error shows its stack', text('"error":{', '$&"stack":"Error at read",', 503), /properties: stack/],
    ['an error names its cause', body(error('unavailable', 'The disk cannot be read: /var/lib/secret-path'), 503), /differs from the example: \/error\/message/],
    ['an error has a code that its operation does not have', body(error('invoicing_not_enabled', 'It is off.'), 503), /has the code invoicing_not_enabled/],
  ],
  'each answer has a name': [
    ['X-Request-Id is the same each time', set('x-request-id', 'req_1'), /was named before/],
    ['X-Request-Id is the same on all errors', set('x-request-id', 'req_1', 404), /was named before/],
  ],
  'a list shows a record as its own path does: listInvoices': [
    ['a list shows a record otherwise than its own path', records(INVOICES, (data) => data.map((one) => ({ ...one, buyerReference: 'Old' }))), /\/[0-9a-f-]+: \/buyerReference/],
  ],
  'every customer that a record names': [
    ['a customer whom a job names is not listed', records(LISTED, (data) => data.slice(1)), /is not listed/],
    ['a customer whom a job names is not found', target('customers/cus_0001', 'customers/absent_0000'), /cus_0001 for reader: 404/],
  ],
  'the latest version of a quote': [
    ['a newer version of a quote counts only when it is sent', records('/api/v1/quotes', (data) => data.filter(({ status, version }) => status !== 'draft' || version === 1)), /the records are/],
  ],
  'another company is not seen: list(Jobs|Invoices)': [
    ["another company's record is shown by its id", second(404, 'neighbour', (_own, other) => other), /another company's record is answered 200/],
    ["another company's record is known to exist", second(404, 'neighbour', (own, other) => (other.status === 200 ? { ...own, status: 403 } : own)), /record is answered 403/],
    ["another company's PDF is given", second(404, 'neighbour', (own, other, { target }) => (target.endsWith('/pdf') ? other : own)), /pdf: another company's record is answered 200/],
  ],
  'another company is not seen: listCustomers': [
    ["another company's record is in the list", withForeignRecord(LISTED), /shows another company's record/],
  ],
  'a key reads what .*: revoked': [
    ['the record is looked up before the key', beforeRefusal(401, 404), /404 not_found, not 401 revoked_key/],
  ],
  'a key reads what .*: without jobs:read': [
    ['the record is looked up before the scope', beforeRefusal(403, 404), /404 not_found, not 403 missing_scope/],
    ['403 does not tell the allowance', untold(403), /403 without RateLimit/],
  ],
  'a key reads what .*: uninvoiced': [
    ['the record is looked up before invoicing', beforeRefusal(503, 404), /404 not_found, not 503 invoicing_not_enabled/],
    ['503 does not tell the allowance', untold(503), /503 without RateLimit/],
  ],
  'a key reads what .*: reader': [
    ['400 does not tell the allowance', untold(400), /400 without RateLimit/],
    ['404 does not tell the allowance', untold(404), /404 without RateLimit/],
  ],
  '304 only for .*: (revoked|without jobs:read|neighbour)': [
    ['304 for whoever knows the tag, without a key that works', beforeRefusal(401, 304), /revoked: 304, not 401/],
    ['304 for whoever knows the tag, without the scope', beforeRefusal(403, 304), /without jobs:read: 304, not 403/],
    ['304 for whoever knows the tag, of another company', beforeRefusal(404, 304), /neighbour: 304, not 404/],
  ],
  '304 while nothing has changed': [
    ['304 has another tag than 200', set('etag', '"other"', 304), /names another tag/],
    ['every If-None-Match gets 304', answering(304, has('if-none-match')), /If-None-Match "another": 304/],
    ['a weak tag is not matched', sent('if-none-match', /^W\/.*/, '"none"'), /If-None-Match W\/"[^"]+": 200/],
    ['If-Modified-Since counts before If-None-Match', answering(304, has('if-modified-since', /2100/)), /"another" If-Modified-Since [^/]*: 304/],
    ['If-None-Match is not looked at beside Range', unsent('if-none-match', ({ headers }) => 'range' in headers), /Range \S+: 200, not 304/],
    ['only the first tag of a list counts', sent('if-none-match', /,.*/, ''), /"another", "[^"]+": 200/],
    ['a tag may lack its quotes', sent('if-none-match', /^[^"*]+$/, '"$&"'), /If-None-Match [^" ]+: 304/],
    ['304 for a request that is refused', answering(304, ({ headers }, { status }) => status === 400 && 'if-none-match' in headers), /If-None-Match \*: 304/],
  ],
  'a tag names one body': [
    ['every answer has the same tag', tagged(() => 'one'), /names another body too/],
  ],
  'a tag changes when time': [
    ['a tag is made of the address, so it goes stale', tagged(digest), /a quote that has expired since: 304|the tag stayed/],
  ],
  'a tag changes when a draft': [
    ['the tag of a draft never changes', tagged(digest, ({ body }) => body.includes('"status":"draft"')), /before the draft was edited: 304/],
  ],
  'HEAD has the headers': [
    ['HEAD is refused', answer((reply) => ({ ...reply, status: 405 }), isHead), /the status is 405, GET's is 200/],
    ['HEAD has a body', answer((reply) => ({ ...reply, stray: Buffer.from('{"data":[]}') }), isHead), /a body of \d+ bytes came with it/],
    ['HEAD does not state the length', drop('content-length', 200, isHead), /content-length is undefined/],
    ['HEAD does not look at If-None-Match', unsent('if-none-match', isHead), /the status is 200, GET's is 304/],
    ['HEAD does not look at the query', target(/\?.*/, '', isHead), /the status is 200, GET's is 400/],
    ['HEAD needs no record', answering(200, (request, { status }) => isHead(request) && status === 404), /the status is 200, GET's is 404/],
    ['HEAD is compressed otherwise than GET', unsent('accept-encoding', isHead), /the header \/\S+ is .* as of GET/],
  ],
  '405 with Allow': [
    ['Allow is missing', drop('allow', 405), /the header allow is missing/],
    ['Allow forgets HEAD', set('allow', 'GET', 405), /the header allow as a whole must be equal to constant/],
    ['POST is served as GET is', method('POST', 'GET'), /POST .* the status is 200, not 405/],
    ['a method that is seldom used is served as GET is', method('QUERY', 'GET'), /QUERY .* the status is 200, not 405/],
    ['a method that nobody knows gets an answer without a body', unparsed(/.*/s, 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'), /BREW .*the media type is none/],
    ['a method in small letters is served', unparsed(/^get /, 'GET '), /get .*the status is 200/],
  ],
  'a compressed body is the same body': [
    ['a compressed body is another body', packed((plain) => plain.replace('0001', '0002')), /the compressed body is another/],
    ['a compressed body has the tag of the plain one', alter('etag', '-gzip', ''), /the tags of the two representations are wrong/],
    ['nothing is ever compressed', unsent('accept-encoding'), /bytes are not compressed/],
    ['gzip;q=0 is taken for gzip', sent('accept-encoding', /^gzip;q=0$/, 'gzip'), /Accept-Encoding gzip;q=0 .* gzip/],
    ['gzip is sent whatever is accepted', sent('accept-encoding', /^(?!.*gzip).*/, 'gzip'), /Accept-Encoding \S+ is answered with gzip/],
    ['GZIP in capitals is not known', sent('accept-encoding', /^GZIP$/, 'identity'), /Accept-Encoding GZIP is answered with identity/],
  ],
  '404 for a path that is not': [
    ['a slash at the end is tolerated', target(/(.)\/$/, '$1'), /\/ of the reader: the status is 200, not 404/],
    ['an unknown path is a page of HTML', set('content-type', 'text/html', 404), /the media type is text\/html/],
    ['an escaped slash is a slash', target(/%2F/gi, '/'), /the status is 200, not 404/],
    ['a path may end with .json', target(/\.json$/, ''), /\.json of the reader: the status is 200, not 404/],
  ],
  'each document has a PDF': [
    ['a PDF is named after the id', namedPdf(({ target }) => target.split('/').at(-2)), /called [0-9a-f-]+\.pdf, not INV-2026-0001/],
    ['every PDF has the same name', namedPdf(() => 'invoice'), /the file is called invoice\.pdf/],
    ['a PDF is another one each time', newPdf(), /has other bytes the second time/],
    ['all documents have one PDF', samePdf(), /has the bytes of another/],
    ["a PDF has another document's pages", withPagesOf(/^INV-2026-0001/, /^INV-2026-0002/), /does not show INV-2026-0002/],
    ['a draft has no PDF', withoutPdfs(/^draft/), /: 404 not_found, not 200/],
    ['a credit note has no PDF', withoutPdfs(/^CN/), /: 404 not_found, not 200/],
    ['a pro forma has no PDF', withoutPdfs(/^PF/), /: 404 not_found, not 200/],
    ['a draft is not marked', withPagesOf(/^INV/, /^draft/), /is not marked DRAFT/],
    ['a PDF shows its number and nothing else', barePdf(), /does not show [A-Z]/],
    ['a PDF has no e-invoice inside', inPdf((pdf) => pdf.replaceAll('factur-x.xml', 'factur-y.xml')), /has no e-invoice inside/],
  ],
  'an allowance counts down': [
    ['what is left stands still', alter('ratelimit', /r=\d+/, 'r=2'), /r is 2 after r=2/],
    ['what is left is told one too high', alter('ratelimit', /r=(\d+)/, (_all, left) => `r=${Number(left) + 1}`), /r is 1 on a 429|a 429 has r=1/],
    ['a 429 says that something is left', alter('ratelimit', 'r=0', 'r=1', 429), /r is 1 on a 429/],
    ['the seconds until the window ends stand still', alter('ratelimit', /t=\d+/, 't=2'), /t did not fall/],
    ['the seconds count from the start of the window', alter('ratelimit', /t=(\d+)/, (_all, t) => `t=${Math.max(1, 3 - Number(t))}`), /t rose|t is 1 at the start/],
    ['Retry-After is longer than the window', set('retry-after', '3600', 429), /Retry-After is 3600/],
    // Of a window of two seconds, so that the second that is left is one too few.
    ['Retry-After is too short', both(set('retry-after', '1', 429), alter('ratelimit', /t=\d+/, 't=2', 429)), /Retry-After is 1, t=2/],
    ['the policy names more than is allowed', alter('ratelimit-policy', 'q=5;', 'q=10;'), /r is \d+ at the start of a window of 10/],
    ['the policy names a longer window', alter('ratelimit-policy', /w=\d+/, 'w=60'), /t is 2 at the start of a window of 60 seconds/],
    ['what is left is told of another policy', alter('ratelimit', '"default"', '"burst"'), /RateLimit tells of "burst"/],
    ['the allowance does not come back', refusedForGood(), /429 after the wait/],
  ],
  'the allowance is the promised one': [
    ['less is allowed than was promised', alter('ratelimit-policy', 'q=120', 'q=60'), /the policy is "default";q=60;w=60/],
  ],
};
