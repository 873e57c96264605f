import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';

import Negotiator from 'negotiator';

import type { JsonText } from '../../contract/json-text.ts';
import type { JsonReply } from './contract-backend.ts';
import type { ErrorReply } from '../connections/error-replies.ts';

/** Minimum size in bytes of a body that is compressed; smaller ones aren't worth it. */
const COMPRESSED_BYTES_MIN = 1_024;
/**
 * Content codings offered, the preferred one first: zstd (RFC 8878) takes half as long as gzip and produces less. Compressing
 * a page of fifty takes a tenth of a millisecond and saves five sixths of its bytes; handing it to another thread and back
 * would cost more. Higher levels take twice as long to save another fiftieth.
 */
const codings = {
  zstd: (body: string) => zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: (body: string) => gzipSync(body, { level: 3 }),
};
type Coding = keyof typeof codings;
const codingNames = Object.keys(codings) as Coding[];

/** Sets headers that let only the client cache the response, and make it revalidate the response before each use. */
export function setCacheHeaders(res: ServerResponse): void {
  res.setHeader('Cache-Control', 'private, no-cache');
  res.setHeader('Vary', 'Accept-Encoding');
}

/**
 * Sends a body with its strong ETag, or status 304 if the client already has the body (RFC 9110 section 13). Each compressed
 * form is a separate representation with its own ETag, but `If-None-Match` matches any ETag of the body.
 * @returns the number of bytes sent as the body.
 */
export function sendBody(
  req: IncomingMessage,
  res: ServerResponse,
  { status, body, digests }: JsonReply,
): number {
  const digest = digestOf(body, digests);
  const byteLength = Buffer.byteLength(body);
  const coding = byteLength > COMPRESSED_BYTES_MIN ? preferredCoding(req, codingNames) : undefined;
  setCacheHeaders(res);
  res.setHeader('ETag', coding ? `"${digest}-${coding}"` : `"${digest}"`);
  if (hasTag(req.headers['if-none-match'], tagsOf(digest, codingNames))) {
    res.writeHead(304).end();
    return 0;
  }
  res.statusCode = status;
  if (!coding) return sendJson(req, res, body, byteLength);
  res.setHeader('Content-Encoding', coding);
  const compressed = codings[coding](body);
  return sendJson(req, res, compressed, compressed.length);
}

/**
 * Returns a digest that differs for every version of the body at one URL. Hashing a page of fifty records would take half as
 * long as reading it, so the records' own digests are used instead if given.
 */
export function digestOf(body: JsonText<unknown>, digests: JsonReply['digests'] = []): string {
  const [first, ...others] = digests;
  if (first !== undefined && others.length === 0) return first;
  return hash('sha1', digests.join('') || body, 'base64url');
}

/**
 * Returns the content coding that a client prefers, or undefined for none (RFC 9110 section 12.5.3). Of equally preferred
 * codings, it is the first one offered. A client that accepts anything gets gzip, which is supported everywhere.
 */
export function preferredCoding<C extends string>(
  { headers }: IncomingMessage,
  offered: readonly C[],
): C | undefined {
  const accepted = headers['accept-encoding']?.toLowerCase();
  if (accepted === undefined) return undefined;
  const preferred = offered.filter((coding) => coding === 'gzip' || accepted.includes(coding));
  // The package's types lack the `preferred` option.
  const negotiator = new Negotiator({ headers }) as { encoding: (...given: [string[], object]) => unknown };
  const chosen = negotiator.encoding([...preferred, 'identity'], { preferred });
  return preferred.find((coding) => coding === chosen);
}

/** Sends an error response with its JSON body. @returns the number of bytes sent as the body. */
export function sendError(
  req: IncomingMessage,
  res: ServerResponse,
  { status, body, headers }: ErrorReply,
): number {
  setCacheHeaders(res);
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  res.statusCode = status;
  return sendJson(req, res, body, Buffer.byteLength(body));
}

function sendJson(
  { method }: IncomingMessage,
  res: ServerResponse,
  body: string | Buffer,
  byteLength: number,
): number {
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', byteLength);
  const isHead = method === 'HEAD';
  res.end(isHead ? undefined : body);
  return isHead ? 0 : byteLength;
}

/** Returns the ETags of a body: one for the uncompressed body, and one for each content coding. */
export function tagsOf(digest: string, codings: readonly string[]): string[] {
  return ['', ...codings.map((coding) => `-${coding}`)].map((end) => `"${digest}${end}"`);
}

/** Whether an If-None-Match header contains one of the given ETags, or is `*` (RFC 9110 section 13.1.2). */
export function hasTag(ifNoneMatch: string | undefined, tags: readonly string[]): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  // An ETag can contain a comma.
  const named = [...ifNoneMatch.matchAll(/(?<![^\s,"])([^\s,"]*)("[^"]*")/g)];
  return named.some(([, weak = '', tag = '']) => ['', 'W/'].includes(weak) && tags.includes(tag));
}

/** Maximum number of responses sent together; with more, one could wait over a millisecond for the rest. */
const TOGETHER = 16;

/**
 * Returns a function whose promise resolves when a response should be sent: those of one event loop turn go out together.
 * Sending evicts from the processor's caches what the next response needs: sent one by one, those of eight connections took a
 * fifth more server time. A lone response doesn't wait for another.
 * @returns a function whose promise resolves when the response should be sent.
 */
export function createSendingTurn(): () => Promise<void> {
  let begun: PromiseWithResolvers<void> | undefined;
  let count = 0;
  const end = () => {
    begun?.resolve();
    begun = undefined;
  };
  return () => {
    if (!begun) {
      begun = Promise.withResolvers();
      count = 0;
      setImmediate(end);
    }
    const { promise } = begun;
    count += 1;
    if (count === TOGETHER) end();
    return promise;
  };
}
