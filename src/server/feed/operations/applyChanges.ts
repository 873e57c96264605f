import { setImmediate as turn } from 'node:timers/promises';

import { answerLine, answerTogether, type FeedAnswer, groupsOf, notTried } from '../../backoffice/feed.ts';
import type { FeedLine } from '../../backoffice/feed-lines.ts';
import { AppError, unavailable } from '../../../errors.ts';
import { type BatchForm, invalid, readChangeBatch } from '../batch.ts';
import type { FeedReply, FeedRequest } from '../feed-backend.ts';

/** Maximum total bytes of a batch's answers. Even a few changes can each be answered with a long record. */
const ANSWERS_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Applies a batch of changes in order, each in its own transaction (consecutive imports can share one), and returns answers.
 * @throws AppError `invalid_request` for a body that isn't a batch. If no change has been answered yet, it is `unavailable`
 * when the database is down, and `revoked_key` when the token is revoked.
 */
export async function applyChanges({
  backoffice,
  token: { id: token, companies, changes },
  exchange,
  metrics,
  req,
}: FeedRequest): Promise<FeedReply> {
  const { form, lines } = await readChangeBatch(req);
  const sender = { token, companies, changes };
  const answers = new BatchAnswers(() => req.socket.destroyed);
  for await (const group of groupsOf(lines)) {
    const together = answers.isOver ? undefined : await answerTogether(backoffice, group, sender);
    for (const [index, line] of group.entries()) {
      if (!together && answers.isOver) {
        answers.list.push(notTried(line));
        continue;
      }
      answers.add(line, together?.[index] ?? (await answerLine(backoffice, line, sender)));
      // SQLite is synchronous, so this gives other requests a turn.
      await turn();
    }
  }
  if (answers.list.length === 0) throw invalid('The body has no change.');
  exchange.fault = answers.fault;
  const counts = Map.groupBy(answers.list, ({ status }) => status);
  exchange.counts = Object.fromEntries([...counts].map(([status, { length }]) => [status, length]));
  for (const [status, { length }] of counts) metrics.changesAnswered(token, status, length);
  return { mediaType: form, body: bodyOf(form, answers.list) };
}

/** The answers to a batch's changes, as far as they have been applied. */
class BatchAnswers {
  readonly list: { status: string; text: string }[] = [];
  /** The database error that stopped the batch; undefined if none did. */
  fault: unknown;
  readonly #hasHungUp: () => boolean;
  #isRevoked = false;
  #bytes = 0;

  /** Creates an empty list of answers. @param hasHungUp whether the client has disconnected; it will send the batch again. */
  constructor(hasHungUp: () => boolean) {
    this.#hasHungUp = hasHungUp;
  }

  /** Whether the batch's remaining changes must not be tried. */
  get isOver(): boolean {
    return (
      this.fault !== undefined || this.#isRevoked || this.#bytes > ANSWERS_BYTES_MAX || this.#hasHungUp()
    );
  }

  add(line: FeedLine, answer: FeedAnswer | 'revoked'): void {
    if (answer === 'revoked') {
      if (this.list.length === 0) throw new AppError('revoked_key', 'This feed token was revoked.');
      this.#isRevoked = true;
      this.list.push(notTried(line));
      return;
    }
    if (answer.fault !== undefined && this.list.length === 0) throw unavailable({ cause: answer.fault });
    this.fault = answer.fault;
    this.list.push(answer);
    this.#bytes += Buffer.byteLength(answer.text);
  }
}

function bodyOf(form: BatchForm, answers: readonly { text: string }[]): string {
  const texts = answers.map(({ text }) => text);
  return form === 'application/json'
    ? `{"answers":[${texts.join(',')}]}`
    : texts.map((text) => `${text}\n`).join('');
}
