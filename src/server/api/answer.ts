import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';

import Negotiator from 'negotiator';

import type { JsonText } from '../../contract/json-text.ts';
import type { JsonReply } from './contract-backend.ts';
import type { ErrorReply } from '../connections/error-replies.ts';

/** Smaller bodies aren't worth compressing. */
const COMPRESSED_BYTES_MIN = 1_024;
/**
 * The codings that are offered, the better one first: zstd (RFC 8878) takes half of gzip's time and gives less. A page
 * of fifty takes a tenth of a millisecond, for which it saves five sixths of its bytes; handing it to another thread and
 * back would cost more than that. Higher levels take twice as long for another fiftieth.
 */
const codings = {
  zstd: (body: string) => zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
  gzip: (body: string) => gzipSync(body, { level: 3 }),
};
type Coding = keyof typeof codings;
const codingNames = Object.keys(codings) as Coding[];

/** Lets only the client keep an answer, which asks each time whether it still holds. */
export function setCacheHeaders(res: ServerResponse): void {
  res.setHeader('Cache-Control', 'private, no-cache');
  res.setHeader('Vary', 'Accept-Encoding');
}

/**
 * Sends a body with its strong ETag, or 304 when the client has it already (RFC 9110 section 13). The compressed
 * bytes are another representation, so they carry a tag of their own; any tag of the same body matches.
 * @returns the number of bytes that the client gets as the body.
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
 * A digest that tells a body from all others that may be at the same address. To digest a page of fifty records would take
 * half as long as to read it: the digests of its records say the same.
 */
export function digestOf(body: JsonText<unknown>, digests: JsonReply['digests'] = []): string {
  const [first, ...others] = digests;
  if (first !== undefined && others.length === 0) return first;
  return hash('sha1', digests.join('') || body, 'base64url');
}

/**
 * The coding in which the client would have the body rather than as it is (RFC 9110 section 12.5.3); of several that it
 * likes alike, the first of those offered. A client that takes anything gets gzip, which everybody reads.
 */
export function preferredCoding<C extends string>(
  { headers }: IncomingMessage,
  offered: readonly C[],
): C | undefined {
  const accepted = headers['accept-encoding']?.toLowerCase();
  if (accepted === undefined) return undefined;
  const preferred = offered.filter((coding) => coding === 'gzip' || accepted.includes(coding));
  // The package's types lack the order of preference.
  const negotiator = new Negotiator({ headers }) as { encoding: (...given: [string[], object]) => unknown };
  const chosen = negotiator.encoding([...preferred, 'identity'], { preferred });
  return preferred.find((coding) => coding === chosen);
}

/** Sends an error's body. @returns the number of bytes that the client gets as the body. */
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

/** The tags of a body as it is, and in each of its codings. */
export function tagsOf(digest: string, codings: readonly string[]): string[] {
  return ['', ...codings.map((coding) => `-${coding}`)].map((end) => `"${digest}${end}"`);
}

/** Whether an If-None-Match header names one of these tags, or any (RFC 9110 section 13.1.2). */
export function hasTag(ifNoneMatch: string | undefined, tags: readonly string[]): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  // A tag may have a comma in it.
  const named = [...ifNoneMatch.matchAll(/(?<![^\s,"])([^\s,"]*)("[^"]*")/g)];
  return named.some(([, weak = '', tag = '']) => ['', 'W/'].includes(weak) && tags.includes(tag));
}

/** Answers that are sent together at most, so that none waits more than a millisecond for others. */
const TOGETHER = 16;

/**
 * Has the answers of a turn of the event loop sent together at its end. Sending leaves little in the processor's caches
 * of what the next answer needs: one by one, those of eight connections at once took a fifth more of the server's time.
 * An answer that is alone in its turn waits for no other.
 * @returns a function whose promise comes true when an answer is to be sent.
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
