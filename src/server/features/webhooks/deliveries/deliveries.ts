import { setTimeout as pause } from 'node:timers/promises';

import { HISTORY_DAYS, HISTORY_MS } from '../../../../contract/durations.ts';
import { pingData } from '../../../../contract/delivery-request.ts';
import { quote, UsageError } from '../../../../errors.ts';
import {
  AuthorityEndedError,
  type Authority,
  authorisedTransaction,
} from '../../../store/accounts/authorised-transaction.ts';
import { insertPing, resendDelivery, resendUnsent } from './resending.ts';
import { countUnsent, listDeliveryRows, type UnsentChoice } from './deliveries-list.ts';
import { type DeliveryDetail, type DeliveryRecord, findDelivery } from './delivery-details.ts';
import type { DeliveryKey, WebhookKey } from './delivery-keys.ts';
import { findWebhookRow } from '../stored-webhooks.ts';
import type { Connection } from '../../../store/dialects/dialect.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { createIds } from '../../../process/ids.ts';
import { getWebhookToChange, unknownWebhook } from '../registration.ts';

export interface DeliveryPage {
  deliveries: DeliveryRecord[];
  /** The `before` of the next page; null at the end. */
  nextBefore: string | null;
}

/** Deliveries on one page. */
export const PAGE_MAX = 100;
/** Attempts of one delivery in total, which are shown on one page. */
export const ATTEMPTS_MAX = 100;
const RECOVER_BATCH = 100;
/** Deliveries are counted up to this number before they are sent again. */
export const RECOVERABLE_MAX = 10_000;
const PINGS_MAX = 5;
const PINGS_OF_COMPANY_MAX = 20;
const PING_WINDOW_MS = 60_000;

/**
 * The deliveries of a webhook with every attempt, the newest first.
 * @throws UsageError when there is no such webhook, it has no delivery `before`, or `limit` isn't from 1 to 100.
 */
export async function listDeliveries(
  engine: Engine,
  of: WebhookKey,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<DeliveryPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX)
    throw new UsageError(`The limit must be an integer from 1 to ${PAGE_MAX}, not ${limit}.`);
  const webhook = await findWebhookRow(engine.db, of.company, of.webhook);
  if (!webhook) throw unknownWebhook(of);
  if (before !== undefined && !(await findDelivery(engine.db, { ...of, id: before })))
    throw new UsageError(`The webhook ${quote(of.webhook)} has no delivery ${quote(before)}.`);
  const found = await listDeliveryRows(engine.db, { ...webhook, ...of }, {}, { before, countMax: limit });
  return { deliveries: found.deliveries, nextBefore: found.before ?? null };
}

/**
 * Sends a delivery again, in any state: the same id and body with a fresh signature, and the schedule from its
 * beginning.
 * @param options.by the authority, here and below: an operator, unless given.
 * @param options.attemptCount as `by` saw it: nothing is sent when there was another attempt since, or it waits
 *   already.
 * @throws UsageError when there is none, when it is being sent at this moment, and when it has had 100 attempts; what
 *   `authorisedTransaction` and `getWebhookToChange` throw, here and below.
 */
export async function resend(
  engine: Engine,
  of: DeliveryKey,
  now: Date,
  { by = 'operator', attemptCount }: { by?: Authority; attemptCount?: number } = {},
): Promise<'waiting' | 'changed'> {
  const act = { company: of.company, by, now, isProofNeeded: false };
  return authorisedTransaction(engine, act, async (authorised) => {
    await getWebhookToChange(authorised, of.webhook);
    const outcome = await resendDelivery(authorised, of, { attemptsMax: ATTEMPTS_MAX, attemptCount });
    const name = `delivery ${quote(of.id)}`;
    if (outcome === undefined) throw new UsageError(`The webhook ${quote(of.webhook)} has no ${name}.`);
    if (outcome === 'sending')
      throw new UsageError(`The ${name} is being sent at this moment; look at its result first.`);
    if (outcome === 'limit reached')
      throw new UsageError(`The ${name} has had ${ATTEMPTS_MAX} attempts, which is the limit.`);
    if (outcome === 'waiting')
      await authorised.record({
        action: 'delivery.sent_again',
        subject: of.id,
        details: { webhook: of.webhook, delivery: of.id },
      });
    return outcome;
  });
}

/**
 * Counts the deliveries that `recover` would send, up to `RECOVERABLE_MAX`.
 * @throws UsageError when the time isn't within the last 30 days, or not from 1 to 100 deliveries are chosen.
 */
export async function countRecoverable(
  db: Connection,
  of: WebhookKey,
  choice: UnsentChoice,
  now: Date,
): Promise<number> {
  if ('ids' in choice && (choice.ids.length === 0 || choice.ids.length > PAGE_MAX))
    throw new UsageError(`Choose from 1 to ${PAGE_MAX} deliveries.`);
  const ageMs = 'ids' in choice ? 0 : now.getTime() - choice.from.getTime();
  if (!(ageMs >= 0 && ageMs <= HISTORY_MS))
    throw new UsageError(`The time must lie within the last ${HISTORY_DAYS} days.`);
  return countUnsent(db, of, choice, { attemptsMax: ATTEMPTS_MAX, countMax: RECOVERABLE_MAX });
}

/**
 * Sends chosen deliveries again that failed or were withheld, in batches. Each batch is a transaction: when the authority
 * ends meanwhile, the sending stops.
 * @param options.count as `by` saw it: nothing is sent when it is another one by now.
 * @returns the number of deliveries.
 * @throws UsageError when there is no such webhook, and what `countRecoverable` throws.
 */
export async function recover(
  engine: Engine,
  { company, webhook }: WebhookKey,
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
      const page = { choice, after, countMax: RECOVER_BATCH, attemptsMax: ATTEMPTS_MAX };
      const sent = await resendUnsent(authorised, webhook, page);
      if (count === 0 && sent.count > 0) {
        const chosen: Record<string, string> =
          'ids' in choice ? { deliveries: choice.ids.join(' ') } : { since: choice.from.toISOString() };
        const details = { webhook, ...chosen };
        await authorised.record({ action: 'deliveries.recovered', subject: webhook, details });
      }
      return sent;
    });
  let batch = await sendBatch('', by);
  count += batch.count;
  // The first batch has used the form.
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
 * Sends a signed `ping` to a webhook.
 * @returns the id of its delivery.
 * @throws UsageError when there is no such webhook, when it is paused, and after 5 pings within a minute, or 20 of
 *   the company's webhooks together: without a limit, pings would scan other people's ports.
 */
export async function ping(
  engine: Engine,
  { company, webhook }: WebhookKey,
  { now, by = 'operator' }: { now: Date; by?: Authority },
): Promise<string> {
  const mint = createIds();
  const ids = { id: mint.prefixed('dlv_', now.getTime()), event: mint.prefixed('evt_', now.getTime()) };
  const since = new Date(now.getTime() - PING_WINDOW_MS).toISOString();
  const limit = { since, countMax: PINGS_MAX, ofCompanyMax: PINGS_OF_COMPANY_MAX };
  const act = { company, by, now, isProofNeeded: false };
  await authorisedTransaction(engine, act, async (authorised) => {
    const { pausedAt } = await getWebhookToChange(authorised, webhook);
    if (pausedAt !== null) throw new UsageError(`The webhook ${quote(webhook)} is paused; resume it first.`);
    if (!(await insertPing(authorised, { webhook, ...ids, data: pingData }, limit)))
      throw new UsageError(
        `A webhook can be pinged ${PINGS_MAX} times a minute, and those of a company ${PINGS_OF_COMPANY_MAX} times together; wait a little.`,
      );
    await authorised.record({ action: 'webhook.pinged', subject: webhook, details: { webhook } });
  });
  return ids.id;
}

const LOOK_EVERY_MS = 50;

/** Waits for the first attempt of a delivery, at most so long, and not where none is to come. */
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
