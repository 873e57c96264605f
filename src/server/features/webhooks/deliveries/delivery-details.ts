import type { EventKind } from '../../../../contract/events.ts';
import type { JsonText } from '../../../../contract/json-text.ts';
import type { Connection } from '../../../store/dialects/dialect.ts';
import type { DeliveryState } from '../../../store/tables/webhooks.ts';
import type { Webhook } from '../stored-webhooks.ts';
import type { KeptAttempt } from './results.ts';
import type { DeliveryKey } from './delivery-keys.ts';

/** A delivery with its attempts, as shown to its company. */
export interface DeliveryRecord {
  webhook: string;
  id: string;
  event: EventKind;
  createdAt: string;
  /** Whether it is a ping or a sample. */
  isTest: boolean;
  state: DeliveryState;
  /** The time of the next attempt; null if none is planned or the webhook is paused. */
  nextAttemptAt: string | null;
  withheldFor: string | null;
  /** Number of attempts begun. */
  attemptCount: number;
  /** Finished attempts, oldest first. */
  attempts: KeptAttempt[];
}

/** A delivery with everything its request is built from. */
export interface DeliveryDetail extends DeliveryRecord, DeliveryKey {
  data: JsonText<unknown>;
  url: string;
  /** The sealed secret as stored; see secret-box.ts. */
  secret: string;
}

/** Finds a delivery to a company's webhook; undefined if the webhook was deleted. */
export async function findDelivery(db: Connection, key: DeliveryKey): Promise<DeliveryDetail | undefined> {
  const row = await db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', (join) => join.on('e.company', '=', key.company).onRef('e.id', '=', 'd.event'))
    .innerJoin('webhooks as w', (join) =>
      join.on('w.company', '=', key.company).onRef('w.id', '=', 'd.webhook'),
    )
    .select(['e.kind', 'e.created_at', 'e.data', 'e.is_test', 'w.url', 'w.secret', 'w.paused_at'])
    .select(['d.webhook', 'd.id', 'd.state', 'd.withheld_for', 'd.due_at', 'd.attempt_count'])
    .where('d.company', '=', key.company)
    .where('d.webhook', '=', key.webhook)
    .where('d.id', '=', key.id)
    .where('w.deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const webhook = { ...key, id: key.webhook, pausedAt: row.paused_at };
  const [record] = await withAttempts(db, [webhook], [row]);
  // Only the moves and `ping` write this data.
  return (
    record && { ...key, ...record, data: row.data as JsonText<unknown>, url: row.url, secret: row.secret }
  );
}

/** A delivery joined with its event, in database columns. */
export interface DeliveryRow {
  webhook: string;
  id: string;
  kind: string;
  created_at: string;
  is_test: number;
  state: DeliveryState;
  withheld_for: string | null;
  due_at: string;
  attempt_count: number;
}

const idsOf = (those: readonly { id: string }[]) => those.map(({ id }) => id);

/** Converts rows of deliveries to some webhooks of a company, at least one, to records with their attempts. */
export async function withAttempts(
  db: Connection,
  webhooks: readonly Pick<Webhook, 'company' | 'id' | 'pausedAt'>[],
  rows: readonly DeliveryRow[],
): Promise<DeliveryRecord[]> {
  if (rows.length === 0) return [];
  const attempts = await db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('company', '=', webhooks[0]?.company ?? '')
    .where('webhook', 'in', idsOf(webhooks))
    .where('delivery', 'in', idsOf(rows))
    .orderBy('number')
    .execute();
  const byDelivery = Map.groupBy(attempts, ({ webhook, delivery }) => `${webhook} ${delivery}`);
  const paused = idsOf(webhooks.filter(({ pausedAt }) => pausedAt !== null));
  return rows.map((row) => ({
    webhook: row.webhook,
    id: row.id,
    // Only the moves and `ping` write kinds of events.
    event: row.kind as EventKind,
    createdAt: row.created_at,
    isTest: row.kind === 'ping' || row.is_test === 1,
    state: row.state,
    nextAttemptAt:
      ['waiting', 'retrying'].includes(row.state) && !paused.includes(row.webhook) ? row.due_at : null,
    withheldFor: row.withheld_for,
    attemptCount: row.attempt_count,
    attempts: (byDelivery.get(`${row.webhook} ${row.id}`) ?? []).map((attempt) => ({
      number: attempt.number,
      attemptedAt: attempt.attempted_at,
      status: attempt.status,
      error: attempt.error,
      phases: {
        dns: attempt.dns_ms,
        connect: attempt.connect_ms,
        tls: attempt.tls_ms,
        firstByte: attempt.first_byte_ms,
      },
      totalMs: attempt.total_ms,
      nextAttemptAt: attempt.next_attempt_at,
      answerText: attempt.answer_text ?? undefined,
    })),
  }));
}
