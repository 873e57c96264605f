import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';

import { inHeaders, withBody, without } from './_planting.ts';
import type { Defect, ProxiedReply } from './_proxy.ts';

const EMPTY = Buffer.alloc(0);

/** Gives answers with one status another. */
function restatus(from: number, to: number): NonNullable<Defect['reply']> {
  return (reply) => (reply.status === from ? { ...reply, status: to } : reply);
}

function withoutHeader(status: number, name: string): NonNullable<Defect['reply']> {
  return inHeaders(status, (headers) => ({ ...headers, [name]: undefined }));
}

/** Puts a tag of its own making on each answer, and answers 304 to it. */
function tagged(tagOf: (target: string) => string): NonNullable<Defect['reply']> {
  return (reply, { target, headers }) => {
    if (reply.status !== 200) return reply;
    const etag = `"${tagOf(target)}"`;
    const tagged = { ...reply, headers: { ...reply.headers, etag } };
    return headers['if-none-match'] === etag ? unchanged(tagged) : tagged;
  };
}

function unchanged(reply: ProxiedReply): ProxiedReply {
  return {
    ...reply,
    status: 304,
    headers: without(reply.headers, 'content-type', 'content-length'),
    body: EMPTY,
  };
}

/** Defects in statuses, headers, tags and methods. */
export const httpDefects: readonly Defect[] = [
  {
    name: '200 becomes another success',
    says: /the status is 206, not 200/,
    reply: restatus(200, 206),
  },
  { name: '404 becomes 403', says: /the status is 403, not 404/, reply: restatus(404, 403) },
  { name: '503 becomes an undeclared 500', says: /the status is 500, not 503/, reply: restatus(503, 500) },
  { name: '400 becomes an undeclared 422', says: /the status is 422, not 400/, reply: restatus(400, 422) },
  {
    name: 'X-Request-Id is missing',
    says: /the header x-request-id is missing/,
    reply: withoutHeader(200, 'x-request-id'),
  },
  {
    name: 'X-Request-Id is missing on an error',
    says: /the header x-request-id is missing/,
    reply: withoutHeader(404, 'x-request-id'),
  },
  {
    name: 'WWW-Authenticate is missing',
    says: /the header www-authenticate is missing/,
    reply: withoutHeader(401, 'www-authenticate'),
  },
  {
    name: 'Retry-After is missing on 429',
    says: /the header retry-after is missing/,
    reply: withoutHeader(429, 'retry-after'),
  },
  {
    name: 'Retry-After is missing on 503',
    says: /the header retry-after is missing/,
    reply: withoutHeader(503, 'retry-after'),
  },
  {
    name: 'Retry-After is a date',
    says: /the header retry-after as a whole must be integer/,
    reply: inHeaders(429, (headers) => ({ ...headers, 'retry-after': 'Fri, 20 Nov 2026 12:01:00 GMT' })),
  },
  {
    name: 'RateLimit has another form',
    says: /the header ratelimit as a whole must match pattern/,
    reply: inHeaders(200, (headers) => ({ ...headers, ratelimit: 'limit=120, remaining=119, reset=42' })),
  },
  {
    name: 'a cache may share the answer',
    says: /the header cache-control as a whole must be equal to constant/,
    reply: inHeaders(200, (headers) => ({ ...headers, 'cache-control': 'public, max-age=60' })),
  },
  {
    name: 'Allow is missing',
    within: /405 with Allow/,
    says: /the header allow is missing/,
    reply: withoutHeader(405, 'allow'),
  },
  {
    name: 'Allow forgets HEAD',
    within: /405 with Allow/,
    says: /the header allow as a whole must be equal to constant/,
    reply: inHeaders(405, (headers) => ({ ...headers, allow: 'GET' })),
  },
  {
    name: 'a header is not declared',
    says: /the header x-powered-by is not declared/,
    reply: inHeaders(200, (headers) => ({ ...headers, 'x-powered-by': 'Express' })),
  },
  {
    name: 'an allowance is stated to a wrong key',
    says: /the header ratelimit is not declared/,
    reply: inHeaders(401, (headers) => ({ ...headers, ratelimit: '"default";r=119;t=42' })),
  },
  {
    name: 'a header comes twice',
    says: /the header cache-control came more than once/,
    reply: inHeaders(200, (headers) => ({ ...headers, 'cache-control': ['private, no-cache', 'no-store'] })),
  },
  {
    name: 'the media type has a charset',
    says: /the media type is application\/json; charset=utf-8/,
    reply: inHeaders(200, (headers) => ({ ...headers, 'content-type': 'application/json; charset=utf-8' })),
  },
  {
    name: 'an error is HTML by its media type',
    says: /the media type is text\/html/,
    reply: inHeaders(404, (headers) => ({ ...headers, 'content-type': 'text/html' })),
  },
  {
    name: '304 has another tag than 200',
    within: /304 while nothing has changed/,
    says: /names another tag/,
    reply: inHeaders(304, (headers) => ({ ...headers, etag: '"other"' })),
  },
  {
    name: '304 has a media type',
    says: /a 304 has a Content-Type/,
    reply: inHeaders(304, (headers) => ({ ...headers, 'content-type': 'application/json' })),
  },
  {
    name: 'If-None-Match is ignored',
    says: /the status is 200, not 304/,
    request: (request) => ({ ...request, headers: without(request.headers, 'if-none-match') }),
  },
  {
    name: 'every If-None-Match gets 304',
    within: /304 while nothing has changed/,
    says: /If-None-Match "another" is answered 304/,
    reply: (reply, { headers }) =>
      reply.status === 200 && headers['if-none-match'] !== undefined ? unchanged(reply) : reply,
  },
  {
    name: 'a weak tag is not matched',
    within: /304 while nothing has changed/,
    says: /If-None-Match W\/"[^"]+" is answered 200/,
    request: (request) => {
      const isWeak = request.headers['if-none-match']?.startsWith('W/');
      return isWeak ? { ...request, headers: { ...request.headers, 'if-none-match': '"none"' } } : request;
    },
  },
  {
    name: 'a tag is made of the address, so it goes stale',
    within: /a tag changes when time/,
    says: /the tag of a list with a valid quote is answered 304|the tag stayed/,
    reply: tagged((target) => createHash('sha1').update(target).digest('base64url')),
  },
  {
    name: 'every answer has the same tag',
    within: /a tag names one body/,
    says: /names another body too/,
    reply: tagged(() => 'one'),
  },
  {
    name: 'the same body gets a new tag each time',
    says: /the status is 200, not 304/,
    reply: inHeaders(200, (headers) => ({ ...headers, etag: `"${Math.random().toString(36).slice(2)}"` })),
  },
  {
    name: 'HEAD is refused',
    within: /HEAD has the headers of GET/,
    says: /the status is 405, GET's is 200/,
    reply: (reply, { method }) => (method === 'HEAD' ? { ...reply, status: 405 } : reply),
  },
  {
    name: 'HEAD has a body',
    within: /HEAD has the headers of GET/,
    says: /a body of \d+ bytes came with it/,
    reply: (reply, { method }) =>
      method === 'HEAD' ? { ...reply, stray: Buffer.from('{"data":[]}') } : reply,
  },
  {
    name: 'HEAD does not state the length',
    within: /HEAD has the headers of GET/,
    says: /content-length is undefined/,
    reply: (reply, { method }) =>
      method === 'HEAD' ? { ...reply, headers: without(reply.headers, 'content-length') } : reply,
  },
  {
    name: 'POST is served as GET is',
    within: /405 with Allow/,
    says: /POST .* the status is 200, not 405/,
    request: (request) => (request.method === 'POST' ? { ...request, method: 'GET' } : request),
  },
  {
    name: 'a compressed body is another body',
    within: /a compressed body is the same body/,
    says: /the compressed body is another/,
    reply: (reply) =>
      reply.headers['content-encoding'] === 'gzip' && reply.body.length > 0
        ? withBody(
            reply,
            gzipSync(
              gunzipSync(reply.body).toString('utf8').replace('Brennan', 'Brennon').replace('0001', '0002'),
            ),
          )
        : reply,
  },
  {
    name: 'a compressed body has the tag of the plain one',
    within: /a compressed body is the same body/,
    says: /the tags of the two representations are wrong/,
    reply: (reply) =>
      reply.headers['content-encoding'] === 'gzip'
        ? {
            ...reply,
            headers: { ...reply.headers, etag: String(reply.headers['etag']).replace('-gzip', '') },
          }
        : reply,
  },
  {
    name: 'nothing is ever compressed',
    within: /a compressed body is the same body/,
    says: /bytes are not compressed/,
    request: (request) => ({ ...request, headers: without(request.headers, 'accept-encoding') }),
  },
  {
    name: 'a slash at the end is tolerated',
    within: /404 for a path that is not/,
    says: /\/ of the reader: the status is 200, not 404/,
    request: (request) => ({ ...request, target: request.target.replace(/(.)\/$/, '$1') }),
  },
  {
    name: 'an unknown path is a page of HTML',
    within: /404 for a path that is not/,
    says: /the media type is text\/html/,
    reply: (reply, { target }) =>
      target === '/api/v1/nothing'
        ? withBody(
            { ...reply, headers: { ...reply.headers, 'content-type': 'text/html' } },
            '<!doctype html>',
          )
        : reply,
  },
];
