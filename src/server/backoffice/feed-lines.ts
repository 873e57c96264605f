import { findLossyValue } from './kept-json.ts';
import { Refusal } from './refusal.ts';

export interface FeedLine {
  /** The line's number in the feed, from 1; blank lines count. */
  number: number;
  /** The number of bytes of the feed up to the line's end. */
  bytesRead: number;
  /** Whether a further line that isn't blank has already arrived. */
  hasNext?: boolean;
  /** The parsed value of the line; undefined if it can't be parsed. */
  value?: unknown;
  /** The refusal of a line that can't be read as JSON; undefined if it can. */
  problem?: Refusal | undefined;
}

/**
 * The maximum length of a line in bytes, which bounds the memory for one line and the size of records. An event about a
 * change is sent in one delivery, whose limit (`deliveryBytesMax`) leaves room for what a job has already.
 */
export const LINE_BYTES_MAX = 8 * 1024 * 1024;

/** The maximum depth of nested JSON; deeper nesting could overflow the stack in recursive code. */
const DEPTH_MAX = 100;

/** Yields the lines of a byte stream as JSON, holding one line in memory at a time. A leading byte order mark is ignored. */
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
  /** Whether a further line that isn't blank has already arrived. */
  hasNext: boolean;
  /** The line's bytes without its line feed; undefined when it is too long. */
  bytes: Buffer | undefined;
}

const LINE_FEED = 0x0a;
/** The bytes that a blank line can consist of: line feed, carriage return, tab and space. */
const BLANK = new Set<number | undefined>([LINE_FEED, 0x0d, 0x09, 0x20]);

/** Yields the lines of a byte stream; the last one needs no line feed. */
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
    // Keeps only the length of an overlong line.
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

/** Returns the index at which a chunk's last complete non-blank line ends; -1 if it has none. */
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

/** Returns the value in the text of one change, or the refusal if it can't be read. */
export function readChange(text: string): Pick<FeedLine, 'value' | 'problem'> {
  try {
    // The caller narrows the value.
    const value = JSON.parse(text) as unknown;
    if (isDeeperThan(DEPTH_MAX, value)) {
      return { problem: tooDeep() };
    }
    // Comparing is faster than scanning, and most programs write JSON as JSON.stringify does.
    return { value, problem: JSON.stringify(value) === text ? undefined : findLossyValue(text) };
  } catch (error) {
    // A member hidden by a later one of its name can still be nested too deeply, and overflow the stack.
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
