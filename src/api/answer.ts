import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';

import Negotiator from 'negotiator';

import { type JsonParts, textOf } from '../contract/json-text.ts';
import { encodeBody, endWith } from './body-bytes.ts';
import type { JsonReply } from './contract-backend.ts';
import type { ErrorReply } from './error-replies.ts';

/** Below this a compressed body saves less than it costs. */
const COMPRESSED_BYTES_MIN = 1_024;
/**
 * The codings that are offered, the better one first: zstd (RFC 8878) takes half of gzip's time and gives less. A page
 * of fifty takes a tenth of a millisecond, for which it saves five sixths of its bytes; handing it to another thread and
 * back would cost more than that. Higher levels take twice as long for another fiftieth. (`make bench` compares them.)
 */
const codings = {
  zstd: (body: string | Buffer) =>
    zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: (body: string | Buffer) => gzipSync(body, { level: 3 }),
};
type Coding = keyof typeof codings;
const codingNames = Object.keys(codings) as Coding[];

/** Of every answer that can be kept. */
export const cacheHeaders = {
  // A company's data is for that company, and what was kept is asked about again each time.
  'Cache-Control': 'private, no-cache',
  Vary: 'Accept-Encoding',
};
const fixedHeaders = { 'Content-Type': 'application/json', ...cacheHeaders };
/** Names and values in turn: Node goes through such a list in less time than through an object that is made each time. */
const fixedHead: readonly string[] = Object.entries(fixedHeaders).flat();

/**
 * Sends a body with its strong ETag, or 304 when the client has it already (RFC 9110 section 13). The compressed
 * bytes are another representation, so they carry a tag of their own; any tag of the same body matches.
 * @param headers come on top of the fixed ones.
 * @returns the number of bytes that the client gets as the body.
 */
export function sendBody(
  req: IncomingMessage,
  res: ServerResponse,
  { body, digests }: Pick<JsonReply, 'body' | 'digests'>,
  headers: Record<string, string>,
): number {
  const digest = digestOf(body, digests);
  const { bytes, byteLength } = encodeBody(body);
  const coding = byteLength > COMPRESSED_BYTES_MIN ? preferredCoding(req, codingNames) : undefined;
  const tag = coding ? `"${digest}-${coding}"` : `"${digest}"`;
  const ifNoneMatch = req.headers['if-none-match'];
  if (ifNoneMatch !== undefined && hasTag(ifNoneMatch, tagsOf(digest, codingNames))) {
    res.writeHead(304, { ...cacheHeaders, ...headers, ETag: tag });
    res.end();
    return 0;
  }
  const sent = coding ? codings[coding](bytes) : bytes;
  const sentBytes = coding ? sent.length : byteLength;
  const head = [...fixedHead, 'Content-Length', String(sentBytes), 'ETag', tag];
  if (coding) head.push('Content-Encoding', coding);
  for (const [name, value] of Object.entries(headers)) head.push(name, value);
  res.writeHead(200, head);
  return end(req, res, sent, sentBytes);
}

/**
 * What tells a body from all others that may be at the same address. A page of fifty records would take half as long
 * to digest as to be read: what is known of its records says the same.
 */
export function digestOf(body: JsonParts<unknown>, digests: JsonReply['digests'] = []): string {
  const [first] = digests;
  if (digests.length === 1 && typeof first === 'string') return first;
  // Put together in a third of the time that a join would take. Nothing stands between them: records' are of one length.
  let text = '';
  for (const digest of digests) {
    if (digest === null) return hash('sha1', textOf(body), 'base64url');
    text += digest;
  }
  return hash('sha1', text === '' ? textOf(body) : text, 'base64url');
}

/**
 * The coding in which the client would have the body rather than as it is (RFC 9110 section 12.5.3); of several that it
 * likes alike, the first of those offered. Who takes anything gets what everybody reads.
 */
export function preferredCoding<C extends string>(
  { headers }: IncomingMessage,
  offered: readonly C[],
): C | undefined {
  const accepted = headers['accept-encoding']?.toLowerCase();
  if (accepted === undefined) return undefined;
  const preferred = offered.filter((coding) => coding === 'gzip' || accepted.includes(coding));
  // Its types don't know of the order of preference yet.
  const negotiator = new Negotiator({ headers }) as { encoding: (...given: [string[], object]) => unknown };
  const chosen = negotiator.encoding([...preferred, 'identity'], { preferred });
  return preferred.find((coding) => coding === chosen);
}

/** Sends an error's body. @returns the number of bytes that the client gets as the body. */
export function sendError(
  req: IncomingMessage,
  res: ServerResponse,
  reply: ErrorReply,
  headers: Record<string, string>,
): number {
  const byteLength = Buffer.byteLength(reply.body);
  res.writeHead(reply.status, {
    ...fixedHeaders,
    'Content-Length': byteLength,
    ...reply.headers,
    ...headers,
  });
  return end(req, res, reply.body, byteLength);
}

/** Sends a body after the head. @returns the number of bytes that the client gets as the body. */
function end(req: IncomingMessage, res: ServerResponse, body: string | Buffer, byteLength: number): number {
  if (req.method === 'HEAD') {
    res.end();
    return 0;
  }
  endWith(res, body);
  return byteLength;
}

/** The tags of a body as it is, and in each of its codings. */
export function tagsOf(digest: string, codings: readonly string[]): string[] {
  return ['', ...codings.map((coding) => `-${coding}`)].map((end) => `"${digest}${end}"`);
}

/** Whether an If-None-Match header names one of these tags, or any (RFC 9110 section 13.1.2). */
export function hasTag(ifNoneMatch: string | undefined, tags: readonly string[]): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tags.includes(tag));
}
