import type { Asker, Party } from './_parties.ts';
import type { Defect, ProxiedReply, ProxiedRequest } from './_proxy.ts';

type Json = Record<string, unknown>;

/** Replaces the body, and tells its length. */
export function withBody(reply: ProxiedReply, body: string | Buffer): ProxiedReply {
  const bytes = Buffer.from(body);
  return { ...reply, body: bytes, headers: { ...reply.headers, 'content-length': String(bytes.length) } };
}

/** A defect in the text of JSON bodies with a status; only where the text changes. */
export function inText(status: number, change: (text: string) => string): NonNullable<Defect['reply']> {
  return (reply, { method }) => {
    if (reply.status !== status || method === 'HEAD') return reply;
    return withBody(reply, change(reply.body.toString('utf8')));
  };
}

/** A defect in the JSON bodies with a status. */
export function inBody(
  status: number,
  change: (body: Json, request: ProxiedRequest) => Json,
): NonNullable<Defect['reply']> {
  return (reply, request) => {
    if (reply.status !== status || request.method === 'HEAD' || 'content-encoding' in reply.headers)
      return reply;
    // Every body that isn't compressed is a JSON object.
    const body = JSON.parse(reply.body.toString('utf8')) as Json;
    return withBody(reply, JSON.stringify(change(body, request)));
  };
}

/** A defect in each record that is served under a path, in lists and alone. */
export function inRecords(path: string, change: (record: Json) => Json): NonNullable<Defect['reply']> {
  return inBody(200, (body, { target }) => {
    if (!target.startsWith(path)) return body;
    const { data } = body as { data: Json | Json[] };
    return { ...body, data: Array.isArray(data) ? data.map(change) : change(data) };
  });
}

/** A defect in the list that is served under a path. */
export function inLists(
  path: string,
  change: (page: { data: Json[]; nextCursor: string | null }, query: URLSearchParams) => Json,
): NonNullable<Defect['reply']> {
  return inBody(200, (body, { target }) => {
    const [asked, query] = target.split('?');
    return asked === path
      ? change(body as { data: Json[]; nextCursor: string | null }, new URLSearchParams(query))
      : body;
  });
}

/** A defect in the headers of answers with a status. */
export function inHeaders(
  status: number,
  change: (headers: ProxiedReply['headers']) => Record<string, string | string[] | undefined>,
): NonNullable<Defect['reply']> {
  return (reply) => {
    if (reply.status !== status) return reply;
    const headers = Object.entries(change(reply.headers)).filter(([, value]) => value !== undefined);
    return { ...reply, headers: Object.fromEntries(headers) as ProxiedReply['headers'] };
  };
}

/** Headers without some of them. */
export function without<T>(headers: Record<string, T>, ...names: string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

/** A defect in which a query parameter is lost on its way. */
export function withoutParameter(name: string): NonNullable<Defect['request']> {
  return (request) =>
    queryOf(request).has(name) ? withQuery(request, (query) => query.delete(name)) : request;
}

export function queryOf({ target }: ProxiedRequest): URLSearchParams {
  return new URLSearchParams(target.split('?')[1]);
}

/** The request with another query. */
export function withQuery(request: ProxiedRequest, change: (query: URLSearchParams) => void): ProxiedRequest {
  const [path = ''] = request.target.split('?');
  const query = queryOf(request);
  change(query);
  return { ...request, target: query.size > 0 ? `${path}?${query.toString()}` : path };
}

/** The request with another key. */
export function withKeyOf(party: Party, asker: Asker, request: ProxiedRequest): ProxiedRequest {
  return { ...request, headers: { ...request.headers, authorization: party.authorization(asker) ?? '' } };
}
