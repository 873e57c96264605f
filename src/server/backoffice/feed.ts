import type { Answer, Change } from '../../contract/feed.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { AppError } from '../../errors.ts';
import { applyChange, type Sender } from './apply.ts';
import { type FeedLine, readFeedLines } from './feed-lines.ts';
import type { Backoffice } from './backoffice.ts';
import { Refusal } from './refusal.ts';

export interface FeedAnswer {
  /** The number of the line, from 1. */
  line: number;
  /** Bytes of the feed up to the end of that line. */
  bytesRead: number;
  status: Answer['status'];
  /** The answer as feed.yaml describes it, in which a record stands as it is stored. */
  text: JsonText<Answer>;
  /** Why nothing further is applied: the error of the database or of the program. */
  fault?: unknown;
}

/**
 * Applies a feed, one line after the other, each in a transaction of its own. A line is applied when its answer is
 * asked for: the reader of the answers sets the pace, and ends the feed by asking no more.
 *
 * A refused line costs that line only, unless the reason is that the database can't be used: then the feed ends with
 * that answer, because later lines may build on the line.
 * @param isBack waits for the database after a fault; a line with an id is tried again when it is back.
 * @throws what reading the input throws.
 */
export async function* applyFeed(
  backoffice: Backoffice,
  input: AsyncIterable<Uint8Array>,
  isBack: (fault: unknown) => Promise<boolean> = async () => false,
): AsyncGenerator<FeedAnswer> {
  for await (const line of readFeedLines(input)) {
    let answer = await answerLine(backoffice, line);
    // Only a change with an id can be tried again safely.
    while ('fault' in answer && 'id' in idOf(line) && (await isBack(answer.fault)))
      answer = await answerLine(backoffice, line);
    yield answer;
    if ('fault' in answer) return;
  }
}

/** The answer to a change that isn't tried, because the database went away before. */
export function notTried(line: FeedLine): { status: 'not_tried'; text: string } {
  const status = 'not_tried';
  return { status, text: JSON.stringify({ line: line.number, ...idOf(line), status }) };
}

/** Applies one change, and answers it; `sender` is who sends it over HTTP. */
export async function answerLine(
  backoffice: Backoffice,
  line: FeedLine,
  sender?: Sender,
): Promise<FeedAnswer> {
  const { number, bytesRead } = line;
  const start = { line: number, ...idOf(line) };
  const answer = (status: Answer['status'], text: string) => ({
    line: number,
    bytesRead,
    status,
    text: text as JsonText<Answer>,
  });
  const refuse = ({ code, message, path }: Refusal) =>
    answer('refused', JSON.stringify({ ...start, status: 'refused', error: { code, message, path } }));
  try {
    if (line.problem) return refuse(line.problem);
    // `applyChange` validates it.
    const outcome = await applyChange(backoffice, line.value as Change, sender);
    const head = JSON.stringify({ ...start, status: outcome.status });
    if (outcome.record === undefined) return answer(outcome.status, head);
    return answer(outcome.status, `${head.slice(0, -1)},"record":${outcome.record ?? 'null'}}`);
  } catch (error) {
    if (error instanceof Refusal) return refuse(error);
    // Nobody elsewhere is told about the database.
    const reason = sender ? '' : reasonOf(error);
    const message = `The database can't be used${reason}. Send this line again, and those after it.`;
    return { ...refuse(new Refusal('unavailable', message)), fault: error };
  }
}

/** The reason that the database gave, as the end of a sentence; empty for a fault of the program. */
function reasonOf(error: unknown): string {
  return error instanceof AppError && error.cause instanceof Error
    ? `: ${error.cause.message.replace(/\.$/, '')}`
    : '';
}

/** The id of a change that may be wrong in everything else. */
function idOf({ value }: FeedLine): { id?: string } {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? { id } : {};
}
