import { setImmediate as turn } from 'node:timers/promises';

import { answerLine, answerTogether, groupsOf, notTried } from '../../backoffice/feed.ts';
import { unavailable } from '../../../errors.ts';
import { type BatchForm, invalid, readBatch } from '../batch.ts';
import type { FeedReply, FeedRequest } from '../feed-backend.ts';

/** A few changes can be answered with a long record each. */
const ANSWERS_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Applies a batch of changes, one after the other, each in a transaction of its own, but imports that follow each other.
 * @throws AppError `invalid_request` for a body that isn't a batch; `unavailable` when the database was away before the
 *   first change was answered.
 */
export async function applyChanges({
  backoffice,
  token: { id: token, companies, changes },
  exchange,
  metrics,
  req,
}: FeedRequest): Promise<FeedReply> {
  const { form, lines } = await readBatch(req);
  const sender = { token, companies, changes };
  const answers: { status: string; text: string }[] = [];
  let bytes = 0;
  const isOver = () => exchange.fault !== undefined || bytes > ANSWERS_BYTES_MAX;
  for await (const group of groupsOf(lines)) {
    const together = isOver() ? undefined : await answerTogether(backoffice, group, sender);
    for (const [index, line] of group.entries()) {
      if (!together && isOver()) {
        answers.push(notTried(line));
        continue;
      }
      const answer = together?.[index] ?? (await answerLine(backoffice, line, sender));
      if ('fault' in answer && answers.length === 0) throw unavailable({ cause: answer.fault });
      exchange.fault = answer.fault;
      answers.push(answer);
      bytes += answer.text.length;
      // SQLite runs synchronously, so this lets other requests in between.
      await turn();
    }
  }
  if (answers.length === 0) throw invalid('The body has no change.');
  const counts = Map.groupBy(answers, ({ status }) => status);
  exchange.counts = Object.fromEntries([...counts].map(([status, { length }]) => [status, length]));
  for (const [status, { length }] of counts) metrics.changesAnswered(token, status, length);
  return { mediaType: form, body: bodyOf(form, answers) };
}

function bodyOf(form: BatchForm, answers: readonly { text: string }[]): string {
  const texts = answers.map(({ text }) => text);
  return form === 'application/json'
    ? `{"answers":[${texts.join(',')}]}`
    : texts.map((text) => `${text}\n`).join('');
}
