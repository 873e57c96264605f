import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import type { Request } from 'express';

import type { ErrorReply } from './error-replies.ts';

const compress = promisify(gzip);

/** Below this a compressed body saves less than it costs. */
const COMPRESSED_BYTES_MIN = 1_024;
/** Half of the best saving for a quarter of its time. */
const COMPRESSION_LEVEL = 4;

const fixedHeaders = {
  'Content-Type': 'application/json',
  // A company's data is for that company, and what was kept is asked about again each time.
  'Cache-Control': 'private, no-cache',
  Vary: 'Accept-Encoding',
};

/**
 * Sends a body with its strong ETag, or 304 when the client has it already (RFC 9110 section 13). The compressed
 * bytes are another representation, so they carry a tag of their own; either tag of the same body matches.
 * @param headers come on top of the fixed ones.
 * @returns the number of bytes that the client gets as the body.
 */
export async function sendBody(
  req: Request,
  res: ServerResponse,
  body: string,
  headers: Record<string, string>,
): Promise<number> {
  const bytes = Buffer.from(body, 'utf8');
  const hash = createHash('sha1').update(bytes).digest('base64url');
  const isCompressed =
    bytes.length > COMPRESSED_BYTES_MIN && req.acceptsEncodings(['gzip', 'identity']) === 'gzip';
  const tag = isCompressed ? `"${hash}-gzip"` : `"${hash}"`;
  const { 'Content-Type': contentType, ...cacheHeaders } = fixedHeaders;
  if (hasTag(req.headers['if-none-match'], hash)) {
    res.writeHead(304, { ...cacheHeaders, ...headers, ETag: tag });
    res.end();
    return 0;
  }
  const sent = isCompressed ? await compress(bytes, { level: COMPRESSION_LEVEL }) : bytes;
  res.writeHead(200, {
    'Content-Type': contentType,
    ...cacheHeaders,
    ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
    'Content-Length': sent.length,
    ...headers,
    ETag: tag,
  });
  return end(req, res, sent);
}

/** Sends an error's body. @returns the number of bytes that the client gets as the body. */
export function sendError(
  req: Request,
  res: ServerResponse,
  reply: ErrorReply,
  headers: Record<string, string>,
): number {
  const bytes = Buffer.from(reply.body, 'utf8');
  res.writeHead(reply.status, {
    ...fixedHeaders,
    'Content-Length': bytes.length,
    ...reply.headers,
    ...headers,
  });
  return end(req, res, bytes);
}

function end(req: Request, res: ServerResponse, bytes: Buffer): number {
  const isHead = req.method === 'HEAD';
  res.end(isHead ? undefined : bytes);
  return isHead ? 0 : bytes.length;
}

/** Whether an If-None-Match header names the body with this hash, in either of its representations. */
function hasTag(ifNoneMatch: string | undefined, hash: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === `"${hash}"` || tag === `"${hash}-gzip"`);
}
