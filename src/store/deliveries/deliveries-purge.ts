import { type RawBuilder, sql } from 'kysely';

import { chosenIn, chosenText, type DeliveryKey, keyRows, rowsOf, written } from './delivery-keys.ts';
import type { Engine } from '../engines/engine.ts';

/** Events that one pass looks at: each has a delivery for each of a company's webhooks. */
const EVENTS_MAX = 20;
/** Rows that one pass removes, or the rows of one delivery. SQLite does nothing else meanwhile. */
const ROWS_MAX = 100;

/** Removes old and deleted history, a little in each pass. */
export interface DeliveryPurge {
  /**
   * Removes deliveries that ended, of events from before a time, with their attempts, and the events that nothing
   * refers to any more.
   * @param after the id of the event after which this pass begins; an empty text for the first.
   * @returns the id after which the next pass begins; undefined when nothing older is left.
   */
  removeOld: (before: Date, after: string) => Promise<string | undefined>;
  /** Removes deliveries of deleted webhooks, and such webhooks that have none. @returns whether there may be more. */
  removeDeleted: () => Promise<boolean>;
}

export function createDeliveryPurge(engine: Engine): DeliveryPurge {
  return { removeOld: createOldRemoval(engine), removeDeleted: createDeletedRemoval(engine) };
}

interface OldRow extends DeliveryKey {
  event: string;
  attempt_count: number;
}

type Remove = (deliveries: readonly OldRow[], events: readonly string[]) => Promise<void>;

/** It has ended, or waits for a paused webhook, which may never be resumed. */
const isOver = sql<boolean>`(state NOT IN ('waiting', 'sending', 'retrying')
  OR state <> 'sending' AND EXISTS (
    SELECT 1 FROM webhooks AS w
    WHERE w.company = deliveries.company AND w.id = deliveries.webhook AND w.paused_at IS NOT NULL
  ))`;

/**
 * Builds the removal of deliveries, and of those of the events that then have none.
 * @param condition is checked again once a delivery is locked: it may have been sent again meanwhile.
 */
function createRemoval(engine: Engine, condition: RawBuilder<boolean>): Remove {
  const keysIn = (keys: string) =>
    sql`(SELECT ${chosenText(0)}, ${chosenText(1)}, ${chosenText(2)} FROM ${chosenIn(engine, keys)})`;
  const deliveries = engine.command((db, value: { keys: string }) =>
    written(
      db,
      sql<DeliveryKey>`
        DELETE FROM deliveries WHERE (company, webhook, id) IN ${keysIn(value.keys)} AND ${condition}
        RETURNING company, webhook, id`,
    ),
  );
  const attempts = engine.command((db, value: { keys: string }) =>
    written(
      db,
      sql<never>`
        DELETE FROM delivery_attempts WHERE (company, webhook, delivery) IN ${keysIn(value.keys)}`,
    ),
  );
  const events = engine.command((db, value: { ids: string }) =>
    written(
      db,
      sql<never>`
        DELETE FROM events WHERE id IN (SELECT ${chosenText(0)} FROM ${chosenIn(engine, value.ids)})
          AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.event = events.id)`,
    ),
  );
  return async (rows, eventIds) => {
    await engine.transaction(async (transaction) => {
      const gone = await deliveries(transaction, { keys: keyRows(rows) });
      await attempts(transaction, { keys: keyRows(gone) });
      await events(transaction, { ids: rowsOf(eventIds.map((id) => [id])) });
    });
  };
}

function createOldRemoval(engine: Engine): DeliveryPurge['removeOld'] {
  const remove = createRemoval(engine, isOver);
  const listEvents = engine.prepare((db, value: { after: string }) =>
    written(
      db,
      sql<{ id: string; created_at: string }>`
        SELECT id, created_at FROM events WHERE id > ${value.after} ORDER BY id LIMIT ${sql.lit(EVENTS_MAX)}`,
    ),
  );
  const listDeliveries = engine.prepare((db, value: { event: string }) =>
    written(
      db,
      sql<OldRow>`
        SELECT company, webhook, id, event, attempt_count FROM deliveries
        WHERE event = ${value.event} AND ${isOver}`,
    ),
  );
  return async (before, after) => {
    const events = await listEvents({ after });
    // Ids grow with time, so nothing behind a younger one is older.
    const limit = before.toISOString();
    const young = events.findIndex(({ created_at }) => created_at >= limit);
    const old = young === -1 ? events : events.slice(0, young);
    const gone: OldRow[] = [];
    let last = after;
    for (const { id } of old) {
      const rows = await listDeliveries({ event: id });
      const some = fewOf([...gone, ...rows]);
      gone.splice(0, gone.length, ...some.rows);
      // The next pass goes on with this event.
      if (!some.isAll) break;
      last = id;
    }
    if (old.length === 0) return undefined;
    await remove(
      gone,
      old.map(({ id }) => id).filter((id) => id <= last),
    );
    const isAll = last === old.at(-1)?.id && old.length < EVENTS_MAX;
    return isAll ? undefined : last;
  };
}

/** The first deliveries that together have at most as many rows, attempts included, as one pass removes; at least one. */
function fewOf(deliveries: readonly OldRow[]): { rows: OldRow[]; isAll: boolean } {
  let count = 0;
  const end = deliveries.findIndex(({ attempt_count }, index) => {
    count += 1 + attempt_count;
    return index > 0 && count > ROWS_MAX;
  });
  return end === -1
    ? { rows: [...deliveries], isAll: true }
    : { rows: deliveries.slice(0, end), isAll: false };
}

function createDeletedRemoval(engine: Engine): DeliveryPurge['removeDeleted'] {
  const remove = createRemoval(engine, sql`TRUE`);
  const findDeleted = engine.prepare((db) =>
    db.selectFrom('webhooks').select(['company', 'id']).where('deleted_at', 'is not', null).limit(1),
  );
  const listDeliveries = engine.prepare((db, value: { company: string; webhook: string }) =>
    db
      .selectFrom('deliveries')
      .select(['company', 'webhook', 'id', 'event', 'attempt_count'])
      .where('company', '=', value.company)
      .where('webhook', '=', value.webhook)
      .limit(sql.lit(ROWS_MAX)),
  );
  const removeWebhook = engine.command((db, value: { company: string; id: string }) =>
    written(
      db,
      sql<never>`
        DELETE FROM webhooks WHERE company = ${value.company} AND id = ${value.id} AND deleted_at IS NOT NULL
          AND NOT EXISTS (
            SELECT 1 FROM deliveries WHERE company = ${value.company} AND webhook = ${value.id}
          )`,
    ),
  );
  return async () => {
    const [webhook] = await findDeleted({});
    if (!webhook) return false;
    const { rows: gone } = fewOf(await listDeliveries({ company: webhook.company, webhook: webhook.id }));
    if (gone.length > 0) await remove(gone, [...new Set(gone.map(({ event }) => event))]);
    else await engine.transaction((transaction) => removeWebhook(transaction, webhook));
    return true;
  };
}
