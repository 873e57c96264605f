import { unkeptIn } from './kept-json.ts';
import { Refusal } from './refusal.ts';

export interface FeedLine {
  /** From 1; blank lines count. */
  number: number;
  /** Bytes of the feed up to the end of this line. */
  bytesRead: number;
  /** Whether the next line has come with it. */
  hasNext?: boolean;
  /** The value that the line states; undefined where it can't be read. */
  value?: unknown;
  /** The fault in how the line states it. */
  problem?: Refusal | undefined;
}

/**
 * It bounds the memory that one line can take, and records with it: five hundred long answers would be longer. What a
 * change makes is sent in one delivery, whose limit (`deliveryBytesMax`) leaves room for what a job has already.
 */
export const LINE_BYTES_MAX = 8 * 1024 * 1024;

/** Deeper nesting is refused, because recursive code would overflow the stack. */
const DEPTH_MAX = 100;

/** Reads a stream of bytes as JSON Lines, holding one line at a time. A byte order mark at the beginning is ignored. */
export async function* readFeedLines(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax = LINE_BYTES_MAX,
): AsyncGenerator<FeedLine> {
  for await (const { bytes, ...place } of splitLines(input, bytesMax)) {
    if (bytes === undefined) {
      yield { ...place, problem: malformed(`The line has more than ${bytesMax} bytes.`) };
    } else {
      const line = readFeedLine(place.number === 1 ? withoutMark(bytes) : bytes);
      if (line) yield { ...place, ...line };
    }
  }
}

export interface RawLine {
  number: number;
  bytesRead: number;
  /** Whether a line that isn't blank has come with it. */
  hasNext: boolean;
  /** Without the line feed; undefined when there are too many of them. */
  bytes: Buffer | undefined;
}

const LINE_FEED = 0x0a;
/** Line feed, carriage return, tab and space. */
const BLANK = new Set<number | undefined>([LINE_FEED, 0x0d, 0x09, 0x20]);

/** Splits bytes at line feeds; after the last one there may be a line without. */
export async function* splitLines(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax = LINE_BYTES_MAX,
): AsyncGenerator<RawLine> {
  let number = 0;
  let bytesRead = 0;
  let parts: Uint8Array[] = [];
  let size = 0;
  const add = (part: Uint8Array) => {
    size += part.length;
    parts.push(part);
    // Keeps only the length of a line that is too long.
    if (size > bytesMax) parts = [];
  };
  const take = (hasNext: boolean): RawLine => {
    const bytes = size > bytesMax ? undefined : Buffer.concat(parts);
    const line = { number: ++number, bytesRead, hasNext, bytes };
    parts = [];
    size = 0;
    return line;
  };
  for await (const chunk of input) {
    const lastText = lastTextIn(chunk);
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end));
      bytesRead += end + 1 - start;
      start = end + 1;
      yield take(end < lastText);
    }
    add(chunk.subarray(start));
    bytesRead += chunk.length - start;
  }
  if (size > 0) yield take(false);
}

/** Where the last whole line that isn't blank ends; -1 where there is none. */
function lastTextIn(chunk: Uint8Array): number {
  let index = chunk.lastIndexOf(LINE_FEED);
  while (index >= 0 && BLANK.has(chunk[index])) index -= 1;
  return index;
}

export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readFeedLine(bytes: Buffer): Pick<FeedLine, 'value' | 'problem'> | undefined {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { problem: malformed('The line is not in UTF-8.') };
  }
  return /^[ \t\r]*$/.test(text) ? undefined : readChange(text);
}

/** Reads the text of one change. */
export function readChange(text: string): Pick<FeedLine, 'value' | 'problem'> {
  try {
    // The caller narrows the value.
    const value = JSON.parse(text) as unknown;
    if (isDeeperThan(DEPTH_MAX, value)) {
      return { problem: tooDeep() };
    }
    // Comparing is quicker than looking, and most programs write JSON as JSON.stringify does.
    return { value, problem: JSON.stringify(value) === text ? undefined : unkeptIn(text) };
  } catch (error) {
    // Reading what a later member of the same name hides takes a call for each level.
    const isDeep = error instanceof RangeError;
    return {
      problem: isDeep ? tooDeep() : malformed(`The line is not JSON: ${(error as SyntaxError).message}.`),
    };
  }
}

function isDeeperThan(depthMax: number, value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === depthMax) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const tooDeep = () => malformed(`The line nests values more than ${DEPTH_MAX} levels deep.`);

function malformed(message: string): Refusal {
  return new Refusal('malformed_line', message);
}
