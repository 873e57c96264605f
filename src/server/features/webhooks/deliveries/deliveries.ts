import { setTimeout as pause } from 'node:timers/promises';

import { sql } from 'kysely';

import { HISTORY_DAYS, HISTORY_MS } from '../../../../contract/durations.ts';
import { pingData } from '../../../../contract/delivery-request.ts';
import { exampleData } from '../../../../contract/examples.ts';
import { quote, unknownName, UsageError } from '../../../../errors.ts';
import {
  type Authority,
  AuthorityEndedError,
  type AuthorisedTransaction,
  authorisedTransaction,
} from '../../../store/accounts/authorised-transaction.ts';
import { countUnsent, listDeliveryRows, type UnsentChoice, unsentIn } from './deliveries-list.ts';
import { type DeliveryDetail, type DeliveryRecord, findDelivery } from './delivery-details.ts';
import type { DeliveryKey, WebhookRef } from './delivery-keys.ts';
import { findWebhookRow } from '../stored-webhooks.ts';
import type { Connection } from '../../../store/dialects/dialect.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { readRow } from '../../../store/tables/table.ts';
import { webhooks } from '../../../store/tables/webhooks.ts';
import { createIds } from '../../../process/ids.ts';
import { getWebhookToChange, unknownWebhook } from '../registration.ts';

export interface DeliveryPage {
  deliveries: DeliveryRecord[];
  /** The value of `before` for the next page; null on the last page. */
  nextBefore: string | null;
}

/** Maximum number of deliveries on one page. */
export const PAGE_MAX = 100;
/** Maximum number of attempts of one delivery, all shown on one page. */
export const ATTEMPTS_MAX = 100;
const RECOVER_BATCH = 100;
/** Limit of the count of deliveries shown before they are sent again. */
export const RECOVERABLE_MAX = 10_000;
const PINGS_MAX = 5;
const PINGS_OF_COMPANY_MAX = 20;
const PING_WINDOW_MS = 60_000;

/**
 * Lists the deliveries of a webhook with every attempt, newest first.
 * @throws UsageError when there is no such webhook, or it has no delivery `before`.
 */
export async function listDeliveries(
  engine: Engine,
  of: WebhookRef,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<DeliveryPage> {
  const webhook = await findWebhookRow(engine.db, of.company, of.webhook);
  if (!webhook) throw unknownWebhook(of);
  if (before !== undefined && !(await findDelivery(engine.db, { ...of, id: before })))
    throw new UsageError(`The webhook ${quote(of.webhook)} has no delivery ${quote(before)}.`);
  const found = await listDeliveryRows(engine.db, [webhook], {}, { before, countMax: limit });
  return { deliveries: found.deliveries, nextBefore: found.before ?? null };
}

const anew = (dueAt: string) =>
  ({ state: 'waiting', due_at: dueAt, failure_count: 0, interruption_count: 0, withheld_for: null }) as const;

/**
 * Sends a delivery again in any state except `sending`: the same id and body, a fresh signature, and a restarted retry
 * schedule.
 * @param options.by the authority, here and below; an operator by default.
 * @param options.attemptCount the number of attempts that `by` saw: nothing is sent if there was another attempt since, or
 *   the delivery already waits, so that a form submitted twice sends once.
 * @throws UsageError when there is no such delivery, it is being sent at this moment, or it has had 100 attempts; also what
 *   `authorisedTransaction` and `getWebhookToChange` throw, here and below.
 */
export async function resend(
  engine: Engine,
  { company, webhook, id }: DeliveryKey,
  now: Date,
  { by = 'operator', attemptCount }: { by?: Authority; attemptCount?: number } = {},
): Promise<'waiting' | 'changed'> {
  const act = { company, by, now, isProofNeeded: false };
  return authorisedTransaction(engine, act, async (authorised) => {
    const { transaction } = authorised;
    await getWebhookToChange(authorised, webhook);
    let update = transaction
      .updateTable('deliveries')
      .set(anew(now.toISOString()))
      .where((row) => row.and({ company, webhook, id }))
      .where('state', '<>', 'sending')
      .where('attempt_count', '<', ATTEMPTS_MAX);
    if (attemptCount !== undefined)
      update = update.where('attempt_count', '=', attemptCount).where('state', '<>', 'waiting');
    if ((await update.returning('id').execute()).length > 0) {
      await engine.dialect.tellWorkers(transaction);
      const details = { webhook, delivery: id };
      await authorised.record({ action: 'delivery.sent_again', subject: id, details });
      return 'waiting';
    }
    const row = await transaction
      .selectFrom('deliveries')
      .select(['state', 'attempt_count'])
      .where((where) => where.and({ company, webhook, id }))
      .executeTakeFirst();
    const name = `delivery ${quote(id)}`;
    if (!row) throw new UsageError(`The webhook ${quote(webhook)} has no ${name}.`);
    if (row.state === 'sending') throw new UsageError(`The ${name} is being sent. Wait for its result.`);
    if (row.attempt_count >= ATTEMPTS_MAX)
      throw new UsageError(`The ${name} has had ${ATTEMPTS_MAX} attempts, the most it can have.`);
    return 'changed';
  });
}

/**
 * Counts the deliveries that `recover` would send, up to `RECOVERABLE_MAX`.
 * @throws UsageError when the time isn't within the last 30 days, or the number of chosen deliveries isn't from 1 to 100.
 */
export async function countRecoverable(
  db: Connection,
  of: WebhookRef,
  choice: UnsentChoice,
  now: Date,
): Promise<number> {
  if ('ids' in choice && (choice.ids.length === 0 || choice.ids.length > PAGE_MAX))
    throw new UsageError(`Choose 1 to ${PAGE_MAX} deliveries.`);
  const ageMs = 'ids' in choice ? 0 : now.getTime() - choice.from.getTime();
  if (!(ageMs >= 0 && ageMs <= HISTORY_MS))
    throw new UsageError(`Choose a time within the last ${HISTORY_DAYS} days.`);
  return countUnsent(db, of, choice, { attemptsMax: ATTEMPTS_MAX, countMax: RECOVERABLE_MAX });
}

/**
 * Sends chosen failed or withheld deliveries again, in batches. Each batch is one transaction: if the authority ends
 * meanwhile, sending stops.
 * @param options.count the number of deliveries that `by` saw: nothing is sent if it has changed.
 * @returns the number of deliveries sent again.
 * @throws UsageError when there is no such webhook, and what `countRecoverable` throws.
 */
export async function recover(
  engine: Engine,
  { company, webhook }: WebhookRef,
  choice: UnsentChoice,
  now: Date,
  { by = 'operator', count: seen }: { by?: Authority; count?: number } = {},
): Promise<number> {
  let count = 0;
  const act = { company, now, isProofNeeded: false };
  const sendBatch = (after: string, authority: Authority) =>
    authorisedTransaction(engine, { ...act, by: authority }, async (authorised) => {
      await getWebhookToChange(authorised, webhook);
      if (after === '') {
        const present = await countRecoverable(authorised.transaction, { company, webhook }, choice, now);
        if (seen !== undefined && present !== seen)
          throw new UsageError('The number has changed since you looked. Nothing was sent.');
      }
      const sent = await resendUnsent(authorised, webhook, choice, after);
      if (count === 0 && sent.count > 0) {
        const chosen: Record<string, string> =
          'ids' in choice
            ? { deliveries: choice.ids.join(' ') }
            : { since: choice.from.toISOString(), until: (choice.until ?? now).toISOString() };
        const details = { webhook, ...chosen };
        await authorised.record({ action: 'deliveries.recovered', subject: webhook, details });
      }
      return sent;
    });
  let batch = await sendBatch('', by);
  count += batch.count;
  // The first batch has used up the form, which is valid for one request.
  const authority = by === 'operator' ? by : { ...by, form: undefined };
  while (batch.last !== undefined) {
    try {
      batch = await sendBatch(batch.last, authority);
    } catch (error) {
      if (error instanceof AuthorityEndedError) break;
      throw error;
    }
    count += batch.count;
  }
  return count;
}

/**
 * Sends one batch of chosen failed or withheld deliveries again, in the order of their ids.
 * @param after the id after which to continue; an empty string at first.
 * @returns the number of deliveries that will be sent, and the last id of the batch; undefined for the last batch.
 */
async function resendUnsent(
  authorised: AuthorisedTransaction,
  webhook: string,
  choice: UnsentChoice,
  after: string,
): Promise<{ count: number; last: string | undefined }> {
  const { engine, transaction, company, now } = authorised;
  const { table, condition } = unsentIn(transaction, { company, webhook }, choice);
  const { rows } = await sql<{ id: string }>`
    SELECT d.id FROM ${table} WHERE ${condition} AND d.id > ${after} AND d.attempt_count < ${ATTEMPTS_MAX}
    ORDER BY d.id LIMIT ${sql.lit(RECOVER_BATCH)}`.execute(transaction);
  const ids = rows.map(({ id }) => id);
  let count = 0;
  if (ids.length > 0) {
    const changed = await transaction
      .updateTable('deliveries')
      .set(anew(now.toISOString()))
      .where((row) => row.and({ company, webhook }))
      .where('id', 'in', ids)
      // The state is checked again under the row's lock: a worker may have taken the delivery.
      .where('state', 'in', ['failed', 'withheld'])
      .returning('id')
      .execute();
    count = changed.length;
    await engine.dialect.tellWorkers(transaction);
  }
  return { count, last: rows.length === RECOVER_BATCH ? rows.at(-1)?.id : undefined };
}

/**
 * Sends a webhook a signed `ping`, or the contract's example of an event that it has chosen.
 * @returns the id of its delivery.
 * @throws UsageError when there is no such webhook, it hasn't chosen the event, it is paused, or there were 5 pings to it within a minute, or 20 to all
 *   the company's webhooks: without a limit, pings could scan other people's ports.
 */
export async function ping(
  engine: Engine,
  { company, webhook }: WebhookRef,
  { now, by = 'operator', event: kind = 'ping' }: { now: Date; by?: Authority; event?: string },
): Promise<string> {
  const mint = createIds();
  const [id, event] = [mint.prefixed('dlv_', now.getTime()), mint.prefixed('evt_', now.getTime())];
  const at = now.toISOString();
  const since = new Date(now.getTime() - PING_WINDOW_MS).toISOString();
  const act = { company, by, now, isProofNeeded: false };
  await authorisedTransaction(engine, act, async (authorised) => {
    const { transaction } = authorised;
    const { pausedAt, events } = await getWebhookToChange(authorised, webhook);
    const chosen = events.find((one) => one === kind);
    if (!chosen && kind !== 'ping')
      throw new UsageError(unknownName(kind, 'an event of the webhook', events));
    if (pausedAt !== null) throw new UsageError(`The webhook ${quote(webhook)} is paused. Resume it first.`);
    const rows = await transaction
      .selectFrom('webhooks')
      .select(['id', 'pinged_at'])
      .where('company', '=', company)
      .execute();
    // A time in the future comes from a clock that was set back, and doesn't count.
    const timesOf = (row: { pinged_at: string }) =>
      readRow(webhooks, row).pingedAt.filter((time) => time > since && time <= at);
    const times = rows.filter((row) => row.id === webhook).flatMap(timesOf);
    if (times.length >= PINGS_MAX || rows.flatMap(timesOf).length >= PINGS_OF_COMPANY_MAX)
      throw new UsageError(
        `You can send ${PINGS_MAX} tests a minute to a webhook, and ${PINGS_OF_COMPANY_MAX} in all. Try again in a minute.`,
      );
    await transaction
      .updateTable('webhooks')
      .set({ pinged_at: JSON.stringify([...times, at]) })
      .where((row) => row.and({ company, id: webhook }))
      .execute();
    await transaction
      .insertInto('events')
      .values({
        ...{ id: event, company, kind, created_at: at },
        ...(chosen ? { data: exampleData(chosen), is_test: 1 } : { data: pingData }),
      })
      .execute();
    await transaction
      .insertInto('deliveries')
      .values({ company, webhook, id, event, due_at: at, state: 'waiting' })
      .execute();
    await engine.dialect.tellWorkers(transaction);
    const details = { webhook, ...(chosen && { event: chosen }) };
    const action = chosen ? 'webhook.sampled' : 'webhook.pinged';
    await authorised.record({ action, subject: webhook, details });
  });
  return id;
}

const LOOK_EVERY_MS = 50;

/** Waits up to `msMax` for a delivery's first attempt, and returns at once if none is to come. */
export async function waitForAttempt(
  engine: Engine,
  of: DeliveryKey,
  msMax: number,
): Promise<DeliveryDetail | undefined> {
  const deadline = performance.now() + msMax;
  for (;;) {
    const found = await findDelivery(engine.db, of);
    const isOpen = found?.state === 'waiting' || found?.state === 'sending';
    if (!found || found.attempts.length > 0 || !isOpen || performance.now() >= deadline) return found;
    await pause(LOOK_EVERY_MS);
  }
}
