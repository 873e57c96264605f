import { setImmediate as turn } from 'node:timers/promises';

import { answerLine, answerTogether, type FeedAnswer, groupsOf, notTried } from '../../backoffice/feed.ts';
import type { FeedLine } from '../../backoffice/feed-lines.ts';
import { AppError, unavailable } from '../../../errors.ts';
import { type BatchForm, invalid, readChangeBatch } from '../batch.ts';
import type { FeedReply, FeedRequest } from '../feed-backend.ts';

/** A few changes can be answered with a long record each. */
const ANSWERS_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Applies a batch of changes, one after the other, each in a transaction of its own, but imports that follow each other.
 * @throws AppError `invalid_request` for a body that isn't a batch; `unavailable` when the database was away, and
 *   `revoked_key` when the token was revoked, before the first change was answered.
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
      // SQLite runs synchronously, so this lets other requests in between.
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

/** The answers to a batch, as far as it has come. */
class BatchAnswers {
  readonly list: { status: string; text: string }[] = [];
  /** Why the database couldn't be used. */
  fault: unknown;
  readonly #hasHungUp: () => boolean;
  #isRevoked = false;
  #bytes = 0;

  /** @param hasHungUp whether nobody waits for the answers any more: whoever does so sends the batch again. */
  constructor(hasHungUp: () => boolean) {
    this.#hasHungUp = hasHungUp;
  }

  /** Whether nothing more is tried. */
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
