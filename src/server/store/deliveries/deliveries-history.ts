import { sql } from 'kysely';

import type { EventKind } from '../../../contract/events.ts';
import type { JsonText } from '../../../contract/json-text.ts';
import type { AuthorisedTransaction } from '../portal/authorised-transaction.ts';
import type { KeptAttempt } from './deliveries-results.ts';
import type { Engine } from '../engines/engine.ts';
import type { DeliveryState, Tables } from '../schema.ts';

/** A delivery with its attempts, as its company sees it. */
export interface DeliveryRecord {
  id: string;
  event: EventKind;
  createdAt: string;
  state: DeliveryState;
  /** The time of the next attempt; null without one, and while the webhook is paused. */
  nextAttemptAt: string | null;
  /** The reason why it is withheld; null when it isn't. */
  withheldFor: string | null;
  /** The oldest first. */
  attempts: KeptAttempt[];
}

interface WebhookId {
  company: string;
  webhook: string;
}

/** Whether a company has a webhook that wasn't deleted. */
export async function hasWebhook(engine: Engine, { company, webhook }: WebhookId): Promise<boolean> {
  const row = await engine.db
    .selectFrom('webhooks')
    .select('id')
    .where('company', '=', company)
    .where('id', '=', webhook)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether a webhook has a delivery. */
export async function hasDelivery(
  engine: Engine,
  { company, webhook }: WebhookId,
  id: string,
): Promise<boolean> {
  const row = await engine.db
    .selectFrom('deliveries')
    .select('id')
    .where('company', '=', company)
    .where('webhook', '=', webhook)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Deliveries of a webhook, the newest first.
 * @param page.before the id of the last one that was shown; undefined for the first page.
 */
export async function listDeliveryRecords(
  engine: Engine,
  { company, webhook }: WebhookId,
  page: { before: string | undefined; countMax: number },
): Promise<DeliveryRecord[]> {
  let query = engine.db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event')
    .innerJoin('webhooks as w', (join) =>
      join.onRef('w.company', '=', 'd.company').onRef('w.id', '=', 'd.webhook'),
    )
    .select(['d.id', 'e.kind', 'e.created_at', 'd.state', 'd.due_at', 'd.withheld_for', 'w.paused_at'])
    .where('d.company', '=', company)
    .where('d.webhook', '=', webhook);
  if (page.before !== undefined) query = query.where('d.id', '<', page.before);
  const rows = await query.orderBy('d.id', 'desc').limit(page.countMax).execute();
  const [newest, oldest] = [rows[0]?.id, rows.at(-1)?.id];
  if (newest === undefined || oldest === undefined) return [];
  const attempts = await engine.db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('company', '=', company)
    .where('webhook', '=', webhook)
    .where('delivery', '>=', oldest)
    .where('delivery', '<=', newest)
    .orderBy('delivery')
    .orderBy('number')
    .execute();
  const byDelivery = Map.groupBy(attempts, ({ delivery }) => delivery);
  return rows.map((row) => ({
    id: row.id,
    // Written by the moves and by `insertPing`.
    event: row.kind as EventKind,
    createdAt: row.created_at,
    state: row.state,
    nextAttemptAt: isToCome(row.state) && row.paused_at === null ? row.due_at : null,
    withheldFor: row.withheld_for,
    attempts: (byDelivery.get(row.id) ?? []).map(toAttempt),
  }));
}

/** Whether a delivery in this state has another attempt to come. */
export const isToCome = (state: DeliveryState) => state === 'waiting' || state === 'retrying';

/** An attempt as its table has it. */
export type AttemptRow = Omit<Tables['delivery_attempts'], 'company' | 'webhook' | 'delivery'>;

export function toAttempt(row: AttemptRow): KeptAttempt {
  return {
    number: row.number,
    attemptedAt: row.attempted_at,
    status: row.status,
    error: row.error,
    phases: {
      dns: row.dns_ms,
      connect: row.connect_ms,
      tls: row.tls_ms,
      firstByte: row.first_byte_ms,
    },
    totalMs: row.total_ms,
    nextAttemptAt: row.next_attempt_at,
  };
}

/** Begins the schedule of deliveries anew, now. */
const anew = (dueAt: string) =>
  ({ state: 'waiting', due_at: dueAt, failure_count: 0, interruption_count: 0, withheld_for: null }) as const;

/** The result of sending a delivery again; undefined when there is no such delivery. */
export type ResendOutcome = 'waiting' | 'sending' | 'limit reached' | 'changed' | undefined;

/**
 * Sends a delivery again, unless it is being sent, or has had `attemptsMax` attempts.
 * @param options.attemptCount the number of attempts that the user saw. When the delivery has had another one since, or
 *   waits already, it stays as it is, so that a form that is sent twice sends once.
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
    .where('company', '=', company)
    .where('webhook', '=', webhook)
    .where('id', '=', id)
    .where('state', '<>', 'sending')
    .where('attempt_count', '<', attemptsMax);
  if (attemptCount !== undefined)
    update = update.where('attempt_count', '=', attemptCount).where('state', '<>', 'waiting');
  if ((await update.returning('id').execute()).length > 0) {
    await authorised.record({
      action: 'delivery.sent_again',
      subject: id,
      details: { webhook, delivery: id },
    });
    await engine.dialect.tellWorkers(transaction);
    return 'waiting';
  }
  const row = await transaction
    .selectFrom('deliveries')
    .select(['state', 'attempt_count'])
    .where('company', '=', company)
    .where('webhook', '=', webhook)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.state === 'sending') return 'sending';
  return row.attempt_count >= attemptsMax ? 'limit reached' : 'changed';
}

/**
 * Sends the deliveries again that failed or were withheld, of events from a time on, in the order of their ids.
 * @param page.after the id after which to go on; an empty text at first.
 * @param page.isToldOf whether the audit trail gets an entry.
 * @returns the number of deliveries that will be sent, and the last id of this page; undefined when it is the last page.
 */
export async function resendUnsent(
  authorised: AuthorisedTransaction,
  webhook: string,
  page: { since: string; after: string; countMax: number; attemptsMax: number; isToldOf: boolean },
): Promise<{ count: number; last: string | undefined }> {
  const { engine, transaction, company, now } = authorised;
  const rows = await transaction
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event')
    .select(['d.id', 'd.attempt_count', 'e.created_at'])
    .where('d.company', '=', company)
    .where('d.webhook', '=', webhook)
    .where('d.id', '>', page.after)
    .where(sql<boolean>`d.state IN ('failed', 'withheld')`)
    .orderBy('d.id')
    .limit(page.countMax)
    .execute();
  const ids = rows
    .filter(({ created_at, attempt_count }) => created_at >= page.since && attempt_count < page.attemptsMax)
    .map(({ id }) => id);
  let count = 0;
  if (ids.length > 0) {
    const changed = await transaction
      .updateTable('deliveries')
      .set(anew(now.toISOString()))
      .where('company', '=', company)
      .where('webhook', '=', webhook)
      .where('id', 'in', ids)
      // Checked again once the row is locked: a worker may have taken it meanwhile.
      .where('state', 'in', ['failed', 'withheld'])
      .returning('id')
      .execute();
    count = changed.length;
    if (page.isToldOf && count > 0) {
      const details = { webhook, since: page.since };
      await authorised.record({ action: 'deliveries.recovered', subject: webhook, details });
    }
    await engine.dialect.tellWorkers(transaction);
  }
  return { count, last: rows.length === page.countMax ? rows.at(-1)?.id : undefined };
}

/** A ping, with the ids of its event and of its delivery. */
export interface Ping {
  webhook: string;
  id: string;
  event: string;
  data: JsonText<{ message: string }>;
}

/**
 * Adds a ping, unless the webhook is paused, or it or all webhooks of its company have had too many since a time. The
 * count is exact, because the transaction has the company's lock.
 */
export async function insertPing(
  authorised: AuthorisedTransaction,
  { webhook, id, event, data }: Ping,
  limit: { since: string; countMax: number; ofCompanyMax: number },
): Promise<'created' | 'no webhook' | 'paused' | 'limit reached'> {
  const { transaction, company } = authorised;
  const at = authorised.now.toISOString();
  const rows = await transaction
    .selectFrom('webhooks')
    .select(['id', 'pinged_at', 'paused_at', 'deleted_at'])
    .where('company', '=', company)
    .execute();
  const row = rows.find(({ id: other, deleted_at }) => other === webhook && deleted_at === null);
  if (!row) return 'no webhook';
  if (row.paused_at !== null) return 'paused';
  // Written below. A time in the future comes from a clock that was set back, and doesn't count.
  const timesOf = ({ pinged_at }: { pinged_at: string }) =>
    (JSON.parse(pinged_at) as string[]).filter((time) => time > limit.since && time <= at);
  const times = timesOf(row);
  if (times.length >= limit.countMax || rows.flatMap(timesOf).length >= limit.ofCompanyMax)
    return 'limit reached';
  await transaction
    .updateTable('webhooks')
    .set({ pinged_at: JSON.stringify([...times, at]) })
    .where('company', '=', company)
    .where('id', '=', webhook)
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
  await authorised.record({ action: 'webhook.pinged', subject: webhook, details: { webhook } });
  return 'created';
}
