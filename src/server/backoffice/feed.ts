import type { Answer } from '../../contract/feed.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { AppError } from '../../errors.ts';
import {
  applyParsedChange,
  applyParsedTogether,
  isImport,
  type Outcome,
  type ChangeSender,
} from './apply.ts';
import { type FeedLine, readFeedLines } from './feed-lines.ts';
import type { Backoffice } from './backoffice.ts';
import { Refusal } from './refusal.ts';

export interface FeedAnswer {
  /** The number in the feed of the line that is answered, from 1. */
  line: number;
  /** The number of bytes of the feed up to that line's end. */
  bytesRead: number;
  status: Answer['status'];
  /** The answer as described in feed.yaml, as text; a record in it is the stored text. */
  text: JsonText<Answer>;
  /** The database or program error that ends the feed; absent otherwise. */
  fault?: unknown;
}

/**
 * Yields the answers of a feed, applied line by line, each in its own transaction; imports that arrive together share one. A
 * line is applied only when its answer is requested, so the consumer sets the pace, and can end the feed early.
 *
 * A refused line doesn't stop the feed, unless the database is unavailable: then the feed ends with that answer, because
 * later lines may depend on the line.
 * @param isBack waits for the database after a fault; a line with an id is retried when the database is back.
 * @throws any error from reading the input.
 */
export async function* applyFeed(
  backoffice: Backoffice,
  input: AsyncIterable<Uint8Array>,
  isBack: (fault: unknown) => Promise<boolean> = async () => false,
): AsyncGenerator<FeedAnswer> {
  for await (const group of groupsOf(readFeedLines(input))) {
    const together = await answerTogether(backoffice, group);
    yield* together ?? [];
    for (const line of together ? [] : group) {
      let answer = await answerLine(backoffice, line);
      // Only a change with an id can be retried safely.
      while ('fault' in answer && 'id' in idOf(line) && (await isBack(answer.fault)))
        answer = await answerLine(backoffice, line);
      yield answer;
      if ('fault' in answer) return;
    }
  }
}

/** The maximum number of imports that share a transaction. */
const GROUP_MAX = 100;

/** Yields groups of imports that arrive together; any other line is a group of its own. */
export async function* groupsOf(
  lines: AsyncIterable<FeedLine> | Iterable<FeedLine>,
): AsyncGenerator<FeedLine[]> {
  let group: FeedLine[] = [];
  for await (const line of lines) {
    const isShared = mayShare(line);
    if (!isShared && group.length > 0) {
      yield group;
      group = [];
    }
    group.push(line);
    // A line that has arrived doesn't wait for one that hasn't.
    if (isShared && line.hasNext && group.length < GROUP_MAX) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Whether a line is an import that may share a transaction with others, which is much faster. */
function mayShare(line: FeedLine): boolean {
  const change = (line.value as { change?: unknown } | null | undefined)?.change;
  return line.problem === undefined && 'id' in idOf(line) && isImport(change);
}

/**
 * Applies imports in one transaction and returns their answers, or undefined if that fails for any reason; each import must
 * then be applied by itself to get its answer.
 */
export async function answerTogether(
  backoffice: Backoffice,
  lines: readonly FeedLine[],
  sender?: ChangeSender,
): Promise<FeedAnswer[] | undefined> {
  if (lines.length < 2) return undefined;
  try {
    const values = lines.map(({ value }) => value);
    const outcomes = await applyParsedTogether(backoffice, values, sender);
    return lines.flatMap((line, index) => (outcomes[index] ? [answerOf(line, outcomes[index])] : []));
  } catch {
    return undefined;
  }
}

function answerOf(line: FeedLine, outcome: Outcome): FeedAnswer {
  const { number, bytesRead } = line;
  const { status, record } = outcome;
  const head = JSON.stringify({ line: number, ...idOf(line), status });
  const text = record === undefined ? head : `${head.slice(0, -1)},"record":${record ?? 'null'}}`;
  return { line: number, bytesRead, status, text: text as JsonText<Answer> };
}

/** Returns the answer to a change that wasn't tried, because the feed stopped before it. */
export function notTried(line: FeedLine): { status: 'not_tried'; text: string } {
  const status = 'not_tried';
  return { status, text: JSON.stringify({ line: line.number, ...idOf(line), status }) };
}

/** Applies one change and returns its answer, or `revoked` if the HTTP sender's token was revoked. */
export function answerLine(backoffice: Backoffice, line: FeedLine): Promise<FeedAnswer>;
export function answerLine(
  backoffice: Backoffice,
  line: FeedLine,
  sender: ChangeSender,
): Promise<FeedAnswer | 'revoked'>;
export async function answerLine(
  backoffice: Backoffice,
  line: FeedLine,
  sender?: ChangeSender,
): Promise<FeedAnswer | 'revoked'> {
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
    return answerOf(line, await applyParsedChange(backoffice, line.value, sender));
  } catch (error) {
    if (error instanceof Refusal) return refuse(error);
    if (error instanceof AppError && error.code === 'revoked_key') return 'revoked';
    // Senders over HTTP aren't told details of the database.
    const reason = sender ? '' : reasonOf(error);
    const message = `The database can't be used${reason}. Send this line again, and those after it.`;
    return { ...refuse(new Refusal('unavailable', message)), fault: error };
  }
}

/** Returns the database's reason for a failure, to end a sentence with; empty for a program error. */
function reasonOf(error: unknown): string {
  return error instanceof AppError && error.cause instanceof Error
    ? `: ${error.cause.message.replace(/\.$/, '')}`
    : '';
}

/** Returns the id of a change that may otherwise be invalid; empty if it has none. */
function idOf({ value }: FeedLine): { id?: string } {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
  return typeof id === 'string' ? { id } : {};
}
