import type { EventKind } from '../../../contract/events.ts';
import type { JsonText } from '../../../contract/json-text.ts';
import { type AttemptRow, isToCome, toAttempt } from './deliveries-history.ts';
import type { KeptAttempt } from './deliveries-results.ts';
import type { DeliveryKey } from './delivery-keys.ts';
import type { Engine } from '../engines/engine.ts';
import type { DeliveryState } from '../schema.ts';

/** A delivery with all that its request is made of. */
export interface DeliveryDetail extends DeliveryKey {
  event: EventKind;
  createdAt: string;
  data: JsonText<unknown>;
  url: string;
  /** As it is stored; see webhooks/secrets.ts. */
  secret: string;
  state: DeliveryState;
  withheldFor: string | null;
  nextAttemptAt: string | null;
  /** Attempts that were begun. */
  attemptCount: number;
  /** The oldest first. */
  attempts: KeptAttempt[];
}

/** Finds a delivery of a company's webhook that wasn't deleted. */
export async function findDelivery(engine: Engine, key: DeliveryKey): Promise<DeliveryDetail | undefined> {
  const row = await engine.db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event')
    .innerJoin('webhooks as w', (join) =>
      join.onRef('w.company', '=', 'd.company').onRef('w.id', '=', 'd.webhook'),
    )
    .select(['e.kind', 'e.created_at', 'e.data', 'w.url', 'w.secret', 'w.paused_at'])
    .select(['d.state', 'd.withheld_for', 'd.due_at', 'd.attempt_count'])
    .where('d.company', '=', key.company)
    .where('d.webhook', '=', key.webhook)
    .where('d.id', '=', key.id)
    .where('w.deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  const attempts: AttemptRow[] = await engine.db
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('company', '=', key.company)
    .where('webhook', '=', key.webhook)
    .where('delivery', '=', key.id)
    .orderBy('number')
    .execute();
  return {
    ...key,
    // Written by the moves and by `insertPing`, as are the data.
    event: row.kind as EventKind,
    createdAt: row.created_at,
    data: row.data as JsonText<unknown>,
    url: row.url,
    secret: row.secret,
    state: row.state,
    withheldFor: row.withheld_for,
    nextAttemptAt: isToCome(row.state) && row.paused_at === null ? row.due_at : null,
    attemptCount: row.attempt_count,
    attempts: attempts.map(toAttempt),
  };
}
