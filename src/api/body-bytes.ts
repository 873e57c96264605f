import type { ServerResponse } from 'node:http';

import { type JsonParts, textOf } from '../contract/json-text.ts';

/** Up to this a text goes out in one piece with its head, for which all of it has to be copied once more. */
const SHORT_CHARACTERS_MAX = 4_096;
/** Holds a hundred invoices. A client that is slow to take its answer may make the process keep as much for it. */
const ENCODING_BYTES = 128 * 1024;
/** UTF-8 takes no more for one of JavaScript's characters (RFC 3629: no more than 4 for a pair of them). */
const CHARACTER_BYTES_MAX = 3;
const COMMA = ','.charCodeAt(0);

/** Where bodies are encoded, one after the other: memory of its own for each would cost as much as its encoding. */
let encoding = Buffer.allocUnsafeSlow(ENCODING_BYTES);

/** A body as it goes out, in UTF-8. */
export interface EncodedBody {
  /** Has to be used before the next body is encoded. */
  bytes: string | Buffer;
  byteLength: number;
}

/** Encodes a body part by part: to put its text together first takes longer, and as much memory again. */
export function encodeBody(parts: JsonParts<unknown>): EncodedBody {
  const { before, items, after } = parts;
  const characters = items.reduce((sum, { length }) => sum + length + 1, before.length + after.length);
  if (characters <= SHORT_CHARACTERS_MAX) {
    const text = textOf(parts);
    return { bytes: text, byteLength: Buffer.byteLength(text) };
  }
  const byteLength = encodeInto(encoding, parts);
  const bytes = byteLength === undefined ? Buffer.from(textOf(parts)) : encoding.subarray(0, byteLength);
  return { bytes, byteLength: bytes.length };
}

/** @returns the number of bytes, or undefined when the target may be too small. */
function encodeInto(target: Buffer, { before, items, after }: JsonParts<unknown>): number | undefined {
  const fits = (part: string, at: number) => at + part.length * CHARACTER_BYTES_MAX <= target.length;
  if (!fits(before, 0)) return undefined;
  let at = target.write(before);
  let isFirst = true;
  for (const item of items) {
    if (!fits(item, at + 1)) return undefined;
    if (!isFirst) target[at++] = COMMA;
    isFirst = false;
    at += target.write(item, at);
  }
  return fits(after, at) ? at + target.write(after, at) : undefined;
}

/** Ends an answer whose head is written with its encoded body. */
export function endWith(res: ServerResponse, bytes: EncodedBody['bytes']): void {
  res.end(bytes);
  // What the system hasn't taken over at once is read from here later on.
  const isHeld = res.socket?.writableLength !== 0;
  if (isHeld && typeof bytes !== 'string' && bytes.buffer === encoding.buffer)
    encoding = Buffer.allocUnsafeSlow(ENCODING_BYTES);
}
