import { type RawBuilder, sql } from 'kysely';

import { chosenText, type DeliveryKey, keyRows, rowsOf } from './delivery-keys.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import {
  boundTo,
  byCompany,
  ofAllCompanies,
  type StatementCompany,
  resultsOf,
} from '../../../store/machines.ts';

/** Maximum number of events in one pass. Each has one delivery for each webhook. */
const EVENTS_MAX = 20;
/** Maximum number of rows that one pass removes, unless one delivery alone has more. Removal blocks other SQLite writers. */
const ROWS_MAX = 100;

interface EventKey {
  company: string;
  id: string;
}

const keysOf = (events: readonly EventKey[]) => rowsOf(events.map(({ company, id }) => [company, id]));

interface OldRow extends DeliveryKey {
  event: string;
  attempt_count: number;
}

/** Condition for deliveries that ended or wait for a paused webhook, which might never be resumed. */
const isOver = (company: StatementCompany) => sql<boolean>`(state NOT IN ('waiting', 'sending', 'retrying')
  OR state <> 'sending' AND EXISTS (
    SELECT 1 FROM webhooks AS w
    WHERE w.company = deliveries.company AND w.id = deliveries.webhook AND ${boundTo(company, 'w.company')}
      AND w.paused_at IS NOT NULL
  ))`;

/**
 * Removes deliveries with their attempts, then any of the events that have no deliveries left.
 * @param condition checked again under each delivery's lock, because the delivery may have been sent again meanwhile.
 */
async function remove(
  engine: Engine,
  condition: (company: StatementCompany) => RawBuilder<boolean>,
  { rows, events }: { rows: readonly OldRow[]; events: readonly EventKey[] },
): Promise<void> {
  const { chosenIn } = engine.dialect;
  const keysIn = (keys: readonly DeliveryKey[]) =>
    sql`(SELECT ${chosenText(0)}, ${chosenText(1)}, ${chosenText(2)} FROM ${chosenIn(keyRows(keys))})`;
  const done = await byCompany(engine, events, (someEvents, company) =>
    engine.transaction(async (transaction) => {
      const some = rows.filter((row) => company === undefined || row.company === company);
      const { rows: gone } = await sql<DeliveryKey>`
        DELETE FROM deliveries WHERE ${boundTo(company)} AND (company, webhook, id) IN ${keysIn(some)} AND ${condition(company)}
        RETURNING company, webhook, id`.execute(transaction);
      await sql`
        DELETE FROM delivery_attempts
        WHERE ${boundTo(company)} AND (company, webhook, delivery) IN ${keysIn(gone)}`.execute(transaction);
      await sql`
        DELETE FROM events
        WHERE ${boundTo(company)}
          AND (company, id) IN (SELECT ${chosenText(0)}, ${chosenText(1)} FROM ${chosenIn(keysOf(someEvents))})
          AND NOT EXISTS (
            SELECT 1 FROM deliveries
            WHERE deliveries.company = events.company AND deliveries.event = events.id
              AND ${boundTo(company, 'deliveries.company')}
          )`.execute(transaction);
    }),
  );
  resultsOf(done);
}

/**
 * Removes one batch of ended deliveries of events before a time, with their attempts, and events left without deliveries.
 * @param after the event id after which this pass begins; an empty string for the first pass.
 * @returns the event id after which the next pass begins; undefined when nothing older is left.
 */
export async function removeOld(engine: Engine, before: Date, after: string): Promise<string | undefined> {
  const found = await ofAllCompanies(
    engine,
    (isReached) => sql<EventKey & { created_at: string }>`
      SELECT company, id, created_at FROM events WHERE id > ${after} AND ${isReached('company')} ORDER BY id LIMIT ${sql.lit(EVENTS_MAX)}`,
  );
  const events = found.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, EVENTS_MAX);
  // Ids grow with time, so the pass can stop at the first newer event.
  const limit = before.toISOString();
  const young = events.findIndex(({ created_at }) => created_at >= limit);
  const old = young === -1 ? events : events.slice(0, young);
  const gone: OldRow[] = [];
  let last = after;
  for (const { company, id } of old) {
    const { rows } = await sql<OldRow>`
      SELECT company, webhook, id, event, attempt_count FROM deliveries
      WHERE company = ${company} AND event = ${id} AND ${isOver(company)}`.execute(engine.db);
    const some = fewOf([...gone, ...rows]);
    gone.splice(0, gone.length, ...some.rows);
    if (!some.isAll) break;
    last = id;
  }
  if (old.length === 0) return undefined;
  await remove(engine, isOver, { rows: gone, events: old.filter(({ id }) => id <= last) });
  const isAll = last === old.at(-1)?.id && old.length < EVENTS_MAX;
  return isAll ? undefined : last;
}

/** Takes the first deliveries whose rows, attempts included, fit into one pass; always at least one. */
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

/** Removes some deliveries of a deleted webhook, or the webhook when none is left. @returns whether there may be more. */
export async function purgeDeletedWebhooks(engine: Engine): Promise<boolean> {
  const { db } = engine;
  const [webhook] = await ofAllCompanies(
    engine,
    (isReached) =>
      sql<EventKey>`SELECT company, id FROM webhooks WHERE deleted_at IS NOT NULL AND ${isReached('company')} LIMIT 1`,
  );
  if (!webhook) return false;
  const { company, id } = webhook;
  const deliveries = await db
    .selectFrom('deliveries')
    .select(['company', 'webhook', 'id', 'event', 'attempt_count'])
    .where((row) => row.and({ company, webhook: id }))
    .limit(sql.lit(ROWS_MAX))
    .execute();
  const { rows } = fewOf(deliveries);
  if (rows.length > 0) {
    const events = [...new Set(rows.map(({ event }) => event))].map((event) => ({ company, id: event }));
    await remove(engine, () => sql`TRUE`, { rows, events });
    return true;
  }
  const removal = sql`
    DELETE FROM webhooks WHERE company = ${company} AND id = ${id} AND deleted_at IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM deliveries WHERE company = ${company} AND webhook = ${id})`;
  await engine.transaction(async (transaction) => {
    await removal.execute(transaction);
    await transaction
      .deleteFrom('webhook_hours')
      .where((row) => row.and({ company, webhook: id }))
      .execute();
  });
  return true;
}
