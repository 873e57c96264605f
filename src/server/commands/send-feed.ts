import type { Readable } from 'node:stream';

import { batched } from '../../command-line/taken-together.ts';
import type { Answer, BatchAnswer } from '../../contract/feed.ts';
import type { JsonText } from '../../contract/json-text.ts';
import type { FeedAnswer } from '../backoffice/feed.ts';
import { LINE_BYTES_MAX, type RawLine, splitLines, withoutMark } from '../backoffice/feed-lines.ts';

/** Sends changes, each as JSON text, and yields the answer to each. */
export type SendTexts = (
  texts: readonly Uint8Array[],
) => AsyncGenerator<{ text: string; answer: BatchAnswer }>;

/** Thrown when a remote feed doesn't accept changes; the message says why. */
export class NotSentError extends Error {}

/** Maximum lines and bytes in one request; a single line can have up to 8 MB. */
const BATCH = { count: 100, size: 1_048_576, sizeOf: ({ bytes }: RawLine) => bytes?.length ?? 0 };

/**
 * Sends a feed in batches, and yields its answers as if it had been applied locally.
 * @throws NotSentError when changes aren't accepted; also any error of reading the input.
 */
export async function* sendFeed(input: Readable, send: SendTexts): AsyncGenerator<FeedAnswer> {
  for await (const batch of batched(sendableLines(input), BATCH)) {
    const answers = send(batch.flatMap(({ bytes }) => bytes ?? []));
    for (const line of batch)
      yield line.bytes === undefined ? refusalOf(line) : answerOf(line, await nextOf(answers));
  }
}

/** Yields the lines that get an answer: all but blank ones. */
async function* sendableLines(input: Readable): AsyncGenerator<SendableLine> {
  for await (const { bytes, ...place } of splitLines(input)) {
    const problem = bytes ? undefined : `The line has more than ${LINE_BYTES_MAX} bytes.`;
    const sent = bytes && withoutMark(bytes);
    // The remote feed would ignore a mark if the line were the first in its batch.
    if (place.number > 1 && sent !== bytes)
      yield {
        ...place,
        bytes: undefined,
        problem: 'The line is not JSON: it begins with a byte order mark.',
      };
    else if (!sent || !isBlank(sent)) yield { ...place, bytes: sent, problem };
  }
}

interface SendableLine extends RawLine {
  /** The reason why the line isn't sent. */
  problem: string | undefined;
}

async function nextOf(answers: ReturnType<SendTexts>): Promise<{ text: string; answer: BatchAnswer }> {
  try {
    const next = await answers.next();
    if (!next.done) return next.value;
  } catch (error) {
    throw new NotSentError((error as Error).message, { cause: error });
  }
  throw new Error('There are fewer answers than changes.');
}

function answerOf(
  { number, bytesRead }: RawLine,
  { text, answer }: { text: string; answer: BatchAnswer },
): FeedAnswer {
  const own = text.replace(/^\{"line":\d+/, `{"line":${number}`) as JsonText<Answer>;
  // The sender sends changes with the status `not_tried` again, so none arrives here.
  return { line: number, bytesRead, status: (answer as Answer).status, text: own };
}

function refusalOf({ number, bytesRead, problem: message }: SendableLine): FeedAnswer {
  const error = { code: 'malformed_line', message, path: '' };
  const text = JSON.stringify({ line: number, status: 'refused', error }) as JsonText<Answer>;
  return { line: number, bytesRead, status: 'refused', text };
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
