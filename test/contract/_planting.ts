import { createHash } from 'node:crypto';

import type { Asker, Party } from './_parties.ts';
import type { Change, ProxiedReply, ProxiedRequest } from './_proxy.ts';

/*
 * The words of the table of defects: what is changed in a request before the server gets it, and in an answer before it
 * reaches whoever asked.
 */

type Replacement = string | ((...found: string[]) => string);
const replaced = (text: string, pattern: RegExp | string, by: Replacement) =>
  typeof by === 'string' ? text.replace(pattern, by) : text.replace(pattern, by);

/** Replaces the body, and tells its length. */
export function withBody(reply: ProxiedReply, body: string | Buffer): ProxiedReply {
  const bytes = Buffer.from(body);
  return { ...reply, body: bytes, headers: { ...reply.headers, 'content-length': String(bytes.length) } };
}

export function queryOf({ target }: ProxiedRequest): URLSearchParams {
  return new URLSearchParams(target.split('?')[1]);
}

export function withQuery(request: ProxiedRequest, change: (query: URLSearchParams) => void): ProxiedRequest {
  const [path = ''] = request.target.split('?');
  const query = queryOf(request);
  change(query);
  return { ...request, target: query.size > 0 ? `${path}?${query.toString()}` : path };
}

function without<T>(headers: Record<string, T>, ...names: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

/** The request with somebody's key. */
export function withKeyOf(party: Party, asker: Asker, request: ProxiedRequest): ProxiedRequest {
  return { ...request, headers: { ...request.headers, authorization: party.authorization(asker) ?? '' } };
}

/** An answer is changed where a request, or it, is such a one. */
export function answer(
  change: (reply: ProxiedReply, request: ProxiedRequest) => ProxiedReply,
  isFor: (request: ProxiedRequest, reply: ProxiedReply) => boolean = () => true,
): Change {
  return { reply: (reply, request) => (isFor(request, reply) ? change(reply, request) : reply) };
}

/** Both changes are made, one after the other. */
export function both({ reply: first }: Change, { reply: second }: Change): Change {
  return {
    reply: async (reply, request, again, party) => {
      const changed = (await first?.(reply, request, again, party)) ?? reply;
      return second?.(changed, request, again, party) ?? changed;
    },
  };
}

/** One status becomes another. */
export function status(from: number, to: number): Change {
  return answer(
    (reply) => ({ ...reply, status: to }),
    (_request, reply) => reply.status === from,
  );
}

export function answering(
  status: number,
  isFor: (request: ProxiedRequest, reply: ProxiedReply) => boolean,
): Change {
  return answer((reply) => {
    if (status === 206) return withBody({ ...reply, status }, reply.body.subarray(0, 4));
    if (status !== 304) return { ...reply, status };
    const headers = without(reply.headers, 'content-type', 'content-length');
    return { ...reply, status, headers, body: Buffer.alloc(0) };
  }, isFor);
}

/** Whether a request that is answered 200 has a header. */
export const has =
  (name: string, pattern = /^/) =>
  ({ headers }: ProxiedRequest, reply: ProxiedReply) =>
    reply.status === 200 && name in headers && pattern.test(headers[name] ?? '');

/** A header of answers with a status gets another value. */
export function set(name: string, value: string | string[] | (() => string), of = 200): Change {
  return answer(
    (reply) => ({
      ...reply,
      headers: { ...reply.headers, [name]: typeof value === 'function' ? value() : value },
    }),
    (_request, reply) => reply.status === of,
  );
}

type ForRequest = (request: ProxiedRequest) => boolean;

/** A header of answers with a status is missing. */
export function drop(name: string, of = 200, isFor: ForRequest = () => true): Change {
  return answer(
    (reply) => ({ ...reply, headers: without(reply.headers, name) }),
    (request, reply) => reply.status === of && isFor(request),
  );
}

/** A header of answers is written otherwise, wherever it is, or with one status alone. */
export function alter(name: string, pattern: RegExp | string, by: Replacement, of?: number): Change {
  return answer(
    (reply) => ({
      ...reply,
      headers: { ...reply.headers, [name]: replaced(String(reply.headers[name]), pattern, by) },
    }),
    (_request, reply) => name in reply.headers && reply.status === (of ?? reply.status),
  );
}

const isPlainJson = ({ method }: ProxiedRequest, { headers }: ProxiedReply) =>
  method !== 'HEAD' && headers['content-type'] === 'application/json' && !('content-encoding' in headers);

/** The text of JSON bodies with a status is changed. */
export function text(pattern: RegExp | string, by: Replacement, of = 200): Change {
  return answer(
    (reply) => withBody(reply, replaced(reply.body.toString('utf8'), pattern, by)),
    (request, reply) => reply.status === of && isPlainJson(request, reply),
  );
}

/** JSON bodies with a status are others. */
export function body(value: object, of: number): Change {
  return answer(
    (reply) => withBody(reply, JSON.stringify(value)),
    (request, reply) => reply.status === of && isPlainJson(request, reply),
  );
}

export interface ProxiedPage {
  data: Record<string, unknown>[];
  nextCursor: string | null;
}

/** The list that is served under a path is changed. */
export function page(path: string, change: (page: ProxiedPage, query: URLSearchParams) => object): Change {
  return answer(
    (reply, request) => {
      const given = JSON.parse(reply.body.toString('utf8')) as ProxiedPage;
      return withBody(reply, JSON.stringify(change(given, queryOf(request))));
    },
    (request, reply) =>
      request.target.split('?')[0] === path && reply.status === 200 && isPlainJson(request, reply),
  );
}

/** The list that is served under a path has other records. */
export function records(
  path: string,
  change: (data: ProxiedPage['data'], query: URLSearchParams) => ProxiedPage['data'],
): Change {
  return page(path, (given, query) => ({ ...given, data: change(given.data, query) }));
}

/** A member has another value in each record that is served under a path, or none. */
export function member(path: string, name: string, change: unknown): Change {
  const changed = (record: object) => {
    const value = (record as Record<string, unknown>)[name];
    if (value === undefined) return record;
    return {
      ...record,
      [name]: typeof change === 'function' ? (change as (now: unknown) => unknown)(value) : change,
    };
  };
  return answer(
    (reply) => {
      const given = JSON.parse(reply.body.toString('utf8')) as { data: object | object[] };
      const data = Array.isArray(given.data) ? given.data.map(changed) : changed(given.data);
      return withBody(reply, JSON.stringify({ ...given, data }));
    },
    (request, reply) =>
      request.target.startsWith(path) && reply.status === 200 && isPlainJson(request, reply),
  );
}

/** Chooses between an answer with a status and the one that somebody else gets to the same request. */
export function second(
  of: number,
  asker: Asker,
  choose: (own: ProxiedReply, other: ProxiedReply, request: ProxiedRequest) => ProxiedReply,
): Change {
  return {
    reply: async (reply, request, again, party) =>
      reply.status === of ? choose(reply, await again(withKeyOf(party, asker, request)), request) : reply,
  };
}

/** Another request is answered in the place of one. */
export function instead(
  other: (request: ProxiedRequest) => ProxiedRequest,
  isFor: (request: ProxiedRequest, reply: ProxiedReply) => boolean,
): Change {
  return {
    reply: (reply, request, again) => (isFor(request, reply) ? again(other(request)) : reply),
  };
}

/** A request for a record that there isn't. */
export const forNothing = (request: ProxiedRequest) => ({ ...request, target: '/api/v1/jobs/absent_0000' });

/** Answers have a tag that is made of their address, and 304 goes by it. */
export function tagged(
  tagOf: (target: string) => string,
  isFor: (reply: ProxiedReply) => boolean = () => true,
): Change {
  return {
    reply: (reply, request, again, party) => {
      if (reply.status !== 200 || !isFor(reply)) return reply;
      const etag = `"${tagOf(request.target)}"`;
      const known = { ...reply, headers: { ...reply.headers, etag } };
      const isKnown = request.headers['if-none-match'] === etag;
      return answering(304, () => isKnown).reply?.(known, request, again, party) ?? known;
    },
  };
}

export const digest = (given: string) => createHash('sha1').update(given).digest('base64url');

/** The address of a request is read otherwise. */
export function target(pattern: RegExp | string, by: Replacement, isFor: ForRequest = () => true): Change {
  return {
    request: (request) =>
      isFor(request) ? { ...request, target: replaced(request.target, pattern, by) } : request,
  };
}

/** A request that Node refuses to read is read otherwise, or answered. */
export function unparsed(pattern: RegExp, by: string): Change {
  return { unparsed: (given) => given.replace(pattern, by) };
}

/** A parameter is read otherwise, or lost where it is `undefined`. */
export function parameter(
  name: string,
  read: (value: string) => string | undefined = () => undefined,
  isFor: (query: URLSearchParams) => boolean = () => true,
): Change {
  return {
    request: (request) => {
      const value = queryOf(request).get(name);
      if (value === null || !isFor(queryOf(request))) return request;
      const seen = read(value);
      if (seen === value) return request;
      return withQuery(request, (query) => (seen === undefined ? query.delete(name) : query.set(name, seen)));
    },
  };
}

/** A header of requests is read otherwise. */
export function sent(name: string, pattern: RegExp, by: Replacement): Change {
  return {
    request: (request) => {
      const value = request.headers[name];
      if (value === undefined) return request;
      return { ...request, headers: { ...request.headers, [name]: replaced(value, pattern, by) } };
    },
  };
}

/** A header of requests isn't looked at. */
export function unsent(name: string, isFor: ForRequest = () => true): Change {
  return {
    request: (request) =>
      isFor(request) ? { ...request, headers: without(request.headers, name) } : request,
  };
}

/** A method is served as another one is. */
export function method(from: string, to: string): Change {
  return { request: (request) => (request.method === from ? { ...request, method: to } : request) };
}

/** Somebody is taken for somebody else, for some addresses. */
export function as(asker: Asker, other: Asker, isFor: (target: string) => boolean = () => true): Change {
  return {
    request: (request, party) => {
      const isAsked = request.headers['authorization'] === party.authorization(asker);
      return isAsked && isFor(request.target) ? withKeyOf(party, other, request) : request;
    },
  };
}
