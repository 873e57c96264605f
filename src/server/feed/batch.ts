import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { constants, createZstdDecompress, gunzip } from 'node:zlib';

import { AppError, quote } from '../../errors.ts';
import { type FeedLine, LINE_BYTES_MAX, readChange, readFeedLines } from '../backoffice/feed-lines.ts';

/** Media type of a batch and of the response to it. */
export type BatchForm = 'application/json' | 'application/x-ndjson';

export interface ChangeBatch {
  form: BatchForm;
  /** The batch's changes, each parsed only when it is reached, because a value takes much more memory than its text. */
  lines: Iterable<FeedLine> | AsyncIterable<FeedLine>;
}

const CHANGES_MAX = 1_000;

/**
 * Returns the batch of changes in a request's body. The whole body is read before any change is applied, so a body that
 * breaks off or is too long has no effect.
 * @throws AppError `invalid_request` for a body that isn't a batch; faults in single changes are reported when applied.
 */
export async function readChangeBatch(req: IncomingMessage): Promise<ChangeBatch> {
  const form = formOf(req);
  const bytes = await bytesOf(req);
  return { form, lines: form === 'application/json' ? itemsOf(bytes) : linesOf(bytes) };
}

const BODY_BYTES_MAX = 16_384;

/**
 * Returns the JSON value that a request's body consists of.
 * @throws AppError `invalid_request` for any other body.
 */
export async function readValue(req: IncomingMessage): Promise<unknown> {
  if (formOf(req) !== 'application/json') throw invalid('Content-Type must be application/json.');
  const bytes = await bytesOf(req);
  if (bytes.length > BODY_BYTES_MAX) throw invalid(`The body has more than ${BODY_BYTES_MAX} bytes.`);
  const text = textOf(bytes);
  valueOf(text);
  const { value, problem } = readChange(text);
  if (problem) throw invalid(problem.message);
  return value;
}

async function bytesOf(req: IncomingMessage): Promise<Buffer> {
  const decompress = decompressionOf(req);
  const bytes = await decompress(await bodyOf(req));
  refuseCrowded(bytes);
  return bytes;
}

function formOf({ headers }: IncomingMessage): BatchForm {
  const given = headers['content-type'] ?? '';
  const [type = ''] = given.toLowerCase().split(';');
  const form = type.trim();
  if (form === 'application/json' || form === 'application/x-ndjson') return form;
  throw invalid(`Content-Type must be application/json or application/x-ndjson, not ${quote(given)}.`);
}

type Decompress = (body: Buffer) => Promise<Buffer>;

/** Maximum number of objects and arrays in a batch. Each takes much more memory and time than its text. */
const CONTAINERS_MAX = 200_000;
const [BRACE, BRACKET] = [0x7b, 0x5b];

/** Refuses a body with too many objects and arrays. @throws AppError `invalid_request`. */
function refuseCrowded(bytes: Buffer): void {
  let count = 0;
  for (const byte of bytes) if (byte === BRACE || byte === BRACKET) count += 1;
  if (count > CONTAINERS_MAX)
    throw invalid(`The body has more than ${CONTAINERS_MAX} opening braces and brackets.`);
}

const bounds = { maxOutputLength: LINE_BYTES_MAX };
/** Options that limit zstd's decompression window to 8 MB; a frame could otherwise request 128 MB. */
const window = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };
const decompressions = new Map<string, Decompress>([
  ['identity', async (body) => body],
  ['gzip', (body) => promisify(gunzip)(body, bounds)],
  ['zstd', unzstd],
]);

/** Returns a body of several zstd frames decompressed (RFC 8878, section 3); Node would read only the first frame. */
async function unzstd(body: Buffer): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for (let [start, frames] = [0, 1]; start < body.length; frames += 1) {
    if (frames > CHANGES_MAX) throw invalid(`The body has more than ${CHANGES_MAX} frames of zstd.`);
    const frame = createZstdDecompress(window);
    frame.end(body.subarray(start));
    for await (const part of frame as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > LINE_BYTES_MAX) throw tooLong();
      parts.push(part);
    }
    start += frame.bytesWritten;
  }
  return Buffer.concat(parts);
}

function decompressionOf({ headers }: IncomingMessage): Decompress {
  const transfer = headers['transfer-encoding'] ?? 'chunked';
  if (transfer.toLowerCase() !== 'chunked')
    throw invalid(`Transfer-Encoding must be chunked, not ${quote(transfer)}.`);
  const given = headers['content-encoding'] ?? 'identity';
  const decompress = decompressions.get(given.toLowerCase());
  if (!decompress) throw invalid(`Content-Encoding must be gzip, zstd or identity, not ${quote(given)}.`);
  return async (body) => {
    try {
      return await decompress(body);
    } catch (error) {
      if (error instanceof AppError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw code === 'ERR_BUFFER_TOO_LARGE' ? tooLong() : invalid(`The body is not ${given}: ${message}.`);
    }
  };
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > LINE_BYTES_MAX) throw tooLong();
  const parts: Buffer[] = [];
  let size = 0;
  try {
    // Destroying the request would close its connection before the error could be sent.
    for await (const part of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > LINE_BYTES_MAX) throw tooLong();
      parts.push(part);
    }
  } catch (error) {
    throw error instanceof AppError ? error : invalid('The body broke off.');
  }
  return Buffer.concat(parts);
}

const LINE_FEED = 0x0a;

function linesOf(bytes: Buffer): AsyncIterable<FeedLine> {
  let count = 0;
  for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, end + 1)) {
    const isLast = end === bytes.length - 1;
    count += 1;
    if (count > CHANGES_MAX || (count === CHANGES_MAX && !isLast))
      throw invalid(`The body has more than ${CHANGES_MAX} lines.`);
  }
  return readFeedLines([bytes]);
}

/** Returns the changes in a JSON array. Each is parsed separately, so that a fault affects only its own change. */
function itemsOf(bytes: Buffer): Iterable<FeedLine> {
  const text = textOf(bytes);
  if (!Array.isArray(valueOf(text))) throw invalid('The body must be an array of changes.');
  const places = placesIn(text);
  if (places.length > CHANGES_MAX) throw invalid(`The body has more than ${CHANGES_MAX} changes.`);
  return linesAt(places, text);
}

function* linesAt(places: readonly [start: number, end: number][], text: string): Generator<FeedLine> {
  for (const [index, [start, end]] of places.entries()) {
    const change = readChange(text.slice(start, end));
    yield { number: index + 1, bytesRead: 0, hasNext: index + 1 < places.length, ...change };
  }
}

/** Returns where each item of a JSON array starts and ends, at most one more than a batch may have. */
function placesIn(text: string): [start: number, end: number][] {
  const places: [number, number][] = [];
  let [depth, start] = [0, 0];
  for (const index of structureOf(text)) {
    const character = text[index] ?? '';
    const step = STEPS[character] ?? 0;
    depth += step;
    // The character is inside an item, or begins or ends one.
    if (Math.max(depth, depth - step) > 1) continue;
    const isBlank = text.slice(start, index).trim() === '';
    if (character !== '[' && !isBlank) places.push([start, index]);
    if (places.length > CHANGES_MAX) break;
    start = index + 1;
  }
  return places;
}

const STEPS: Record<string, number> = { '[': 1, '{': 1, ']': -1, '}': -1, ',': 0 };

/** Yields the positions of the brackets, braces and commas that are outside strings. */
function* structureOf(text: string): Generator<number> {
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '"') index = endOfString(text, index);
    else if (Object.hasOwn(STEPS, text[index] ?? '')) yield index;
  }
}

function endOfString(text: string, begin: number): number {
  let end = begin + 1;
  while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`The body is not JSON: ${(error as Error).message}.`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid('The body is not in UTF-8.');
  }
}

function tooLong(): AppError {
  return invalid(`The body has more than ${LINE_BYTES_MAX} bytes.`);
}

export function invalid(message: string): AppError {
  return new AppError('invalid_request', message);
}
