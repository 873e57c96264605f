import type { Readable } from 'node:stream';

import { takenTogether } from '../../command-line/taken-together.ts';
import type { Answer, BatchAnswer } from '../../contract/feed.ts';
import type { JsonText } from '../../contract/json-text.ts';
import type { FeedAnswer } from '../backoffice/feed.ts';
import { LINE_BYTES_MAX, type RawLine, splitLines, withoutMark } from '../backoffice/feed-lines.ts';

/** Sends the texts of changes, and gives each answer. */
export type SendTexts = (
  texts: readonly Uint8Array[],
) => AsyncGenerator<{ text: string; answer: BatchAnswer }>;

/** A feed elsewhere doesn't take the changes; the message says why. */
export class NotSentError extends Error {}

/** Bytes of lines in one request; a line has up to 8 MB. */
const BATCH = { count: 100, size: 1_048_576, sizeOf: ({ bytes }: RawLine) => bytes?.length ?? 0 };

/**
 * Sends a feed, batch after batch, and gives its answers as if it had been applied here.
 * @throws NotSentError when changes aren't taken, and what reading the input throws.
 */
export async function* sendFeed(input: Readable, send: SendTexts): AsyncGenerator<FeedAnswer> {
  for await (const batch of takenTogether(sendableLines(input), BATCH)) {
    const answers = send(batch.flatMap(({ bytes }) => bytes ?? []));
    for (const line of batch)
      yield line.bytes === undefined ? refusalOf(line) : answerOf(line, await nextOf(answers));
  }
}

/** The lines that are answered: a blank one isn't. */
async function* sendableLines(input: Readable): AsyncGenerator<SendableLine> {
  for await (const { bytes, ...place } of splitLines(input)) {
    const problem = bytes ? undefined : `The line has more than ${LINE_BYTES_MAX} bytes.`;
    const sent = bytes && withoutMark(bytes);
    // The feed elsewhere would pass over a mark, where the line is the first of its batch.
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
  /** The reason why it isn't sent. */
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
  // What wasn't tried is sent again.
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
