import { sql } from 'kysely';

import type { JsonText } from '../../../../contract/json-text.ts';
import type { AuthorisedTransaction } from '../../../store/accounts/authorised-transaction.ts';
import { type UnsentChoice, unsentIn } from './deliveries-list.ts';

const anew = (dueAt: string) =>
  ({ state: 'waiting', due_at: dueAt, failure_count: 0, interruption_count: 0, withheld_for: null }) as const;

export type ResendOutcome = 'waiting' | 'sending' | 'limit reached' | 'changed' | undefined;

/**
 * Sends a delivery again, unless it is being sent, or has had `attemptsMax` attempts.
 * @param options.attemptCount the number of attempts that the user saw. If there was another one since, or the delivery
 *   already waits, nothing changes, so that a form that is submitted twice sends once.
 */
export async function resendDelivery(
  authorised: AuthorisedTransaction,
  { webhook, id }: { webhook: string; id: string },
  options: { attemptsMax: number; attemptCount?: number | undefined },
): Promise<ResendOutcome> {
  const { engine, transaction, company, now } = authorised;
  const { attemptCount, attemptsMax } = options;
  let update = transaction
    .updateTable('deliveries')
    .set(anew(now.toISOString()))
    .where((row) => row.and({ company, webhook, id }))
    .where('state', '<>', 'sending')
    .where('attempt_count', '<', attemptsMax);
  if (attemptCount !== undefined)
    update = update.where('attempt_count', '=', attemptCount).where('state', '<>', 'waiting');
  if ((await update.returning('id').execute()).length > 0) {
    await engine.dialect.tellWorkers(transaction);
    return 'waiting';
  }
  const row = await transaction
    .selectFrom('deliveries')
    .select(['state', 'attempt_count'])
    .where((row) => row.and({ company, webhook, id }))
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.state === 'sending') return 'sending';
  return row.attempt_count >= attemptsMax ? 'limit reached' : 'changed';
}

/**
 * Sends chosen deliveries again that failed or were withheld, in the order of their ids.
 * @param page.after the id after which to go on; an empty text at first.
 * @returns the number of deliveries that will be sent, and the last id of this page; undefined when it is the last page.
 */
export async function resendUnsent(
  authorised: AuthorisedTransaction,
  webhook: string,
  page: { choice: UnsentChoice; after: string; countMax: number; attemptsMax: number },
): Promise<{ count: number; last: string | undefined }> {
  const { engine, transaction, company, now } = authorised;
  const { table, condition } = unsentIn(transaction, { company, webhook }, page.choice);
  const { rows } = await sql<{ id: string }>`
    SELECT d.id FROM ${table} WHERE ${condition} AND d.id > ${page.after} AND d.attempt_count < ${page.attemptsMax}
    ORDER BY d.id LIMIT ${sql.lit(page.countMax)}`.execute(transaction);
  const ids = rows.map(({ id }) => id);
  let count = 0;
  if (ids.length > 0) {
    const changed = await transaction
      .updateTable('deliveries')
      .set(anew(now.toISOString()))
      .where((row) => row.and({ company, webhook }))
      .where('id', 'in', ids)
      // Checked again under the row's lock: a worker may have taken it.
      .where('state', 'in', ['failed', 'withheld'])
      .returning('id')
      .execute();
    count = changed.length;
    await engine.dialect.tellWorkers(transaction);
  }
  return { count, last: rows.length === page.countMax ? rows.at(-1)?.id : undefined };
}

/** A ping, with the ids of its event and of its delivery. */
interface Ping {
  webhook: string;
  id: string;
  event: string;
  data: JsonText<{ message: string }>;
}

/**
 * Adds a ping, unless the webhook or all webhooks of its company have had too many since a time. The count is exact, because
 * the transaction has the company's lock.
 * @returns whether it was added.
 */
export async function insertPing(
  authorised: AuthorisedTransaction,
  { webhook, id, event, data }: Ping,
  limit: { since: string; countMax: number; ofCompanyMax: number },
): Promise<boolean> {
  const { transaction, company } = authorised;
  const at = authorised.now.toISOString();
  const rows = await transaction
    .selectFrom('webhooks')
    .select(['id', 'pinged_at'])
    .where('company', '=', company)
    .execute();
  // A time in the future comes from a clock that was set back, and doesn't count.
  const timesOf = ({ pinged_at }: { pinged_at: string }) =>
    (JSON.parse(pinged_at) as string[]).filter((time) => time > limit.since && time <= at);
  const times = rows.filter((row) => row.id === webhook).flatMap(timesOf);
  if (times.length >= limit.countMax || rows.flatMap(timesOf).length >= limit.ofCompanyMax) return false;
  await transaction
    .updateTable('webhooks')
    .set({ pinged_at: JSON.stringify([...times, at]) })
    .where((row) => row.and({ company, id: webhook }))
    .execute();
  await transaction
    .insertInto('events')
    .values({ id: event, company, kind: 'ping', created_at: at, data })
    .execute();
  await transaction
    .insertInto('deliveries')
    .values({ company, webhook, id, event, due_at: at, state: 'waiting' })
    .execute();
  await authorised.engine.dialect.tellWorkers(transaction);
  return true;
}
