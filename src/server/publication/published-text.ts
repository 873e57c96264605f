import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';

import type { RequestHandler } from 'express';

import { hasTag, preferredCoding, tagsOf } from '../api/answer.ts';

/**
 * Content codings offered, the one with the smallest result first. A text is compressed only once, on another thread, so
 * compression is more thorough than for API responses. Higher levels take three times as long to save another fiftieth.
 */
const codings = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 7,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  zstd: (bytes: Buffer) =>
    promisify(zstdCompress)(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 9 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
};
type Coding = keyof typeof codings;
const codingNames = Object.keys(codings) as readonly Coding[];

export type HeadersOf = (text: string) => Record<string, string>;

/** A text to publish, or the bytes of a file that is already compressed. */
export type Published = string | Buffer;

/**
 * Returns a handler for content that stays the same until the server ends. It is generated at the first request, compressed
 * once for each coding, and sent with a strong ETag, or 304 if the client has it (RFC 9110 section 13).
 * @param make generates the content. If it throws, requests are answered with the error until it succeeds.
 */
export function createPublishedText(
  mediaType: string,
  make: () => Published,
  headersOf: HeadersOf = () => ({}),
): RequestHandler {
  let made: ReturnType<typeof prepared> | undefined;
  return async (req, res) => {
    made ??= prepared(make(), mediaType, headersOf);
    const { bytes, digest, headers, compressed, offered } = made;
    const coding = preferredCoding(req, offered);
    const cacheHeaders = { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };
    res.set({ ...headers, ...cacheHeaders, ETag: coding ? `"${digest}-${coding}"` : `"${digest}"` });
    if (hasTag(req.headers['if-none-match'], tagsOf(digest, offered))) {
      res.status(304).end();
      return;
    }
    const sent = coding ? await (compressed[coding] ??= codings[coding](bytes)) : bytes;
    res.set({ 'Content-Type': made.mediaType, 'Content-Length': String(sent.length) });
    if (coding) res.set('Content-Encoding', coding);
    res.end(sent);
  };
}

function prepared(content: Published, mediaType: string, headersOf: HeadersOf) {
  const bytes = Buffer.from(content);
  const isText = typeof content === 'string';
  return {
    bytes,
    mediaType: isText ? `${mediaType}; charset=utf-8` : mediaType,
    offered: isText ? codingNames : [],
    digest: hash('sha1', bytes, 'base64url'),
    headers: headersOf(isText ? content : ''),
    compressed: {} as Partial<Record<Coding, Promise<Buffer>>>,
  };
}
