import { sql } from 'kysely';

import { type MoveEventKind, moduleOfEvent } from '../contract/events.ts';
import type { JsonText } from '../contract/json-text.ts';
import { invoicingModules } from '../contract/scopes.ts';
import type { Engine, StoreTransaction } from './engine.ts';
import type { Tables } from './schema.ts';

/** Something that happened, as it is told to the company's own software. */
export interface CompanyEvent {
  id: string;
  kind: MoveEventKind;
  createdAt: string;
  data: JsonText<unknown>;
}

/** Keeps events, each with one delivery for each webhook that is to hear of it. */
export type AppendEvents = (
  transaction: StoreTransaction,
  company: string,
  events: readonly CompanyEvent[],
  mintDeliveryId: () => string,
) => Promise<void>;

/**
 * Builds the fan-out. A webhook hears of an event that was chosen for it while the company's plan includes the data
 * (service.md, "Registering a webhook"); whether it may be delivered is looked at again when it is due. An event that
 * no webhook hears of is not kept.
 */
export function createEventAppender(engine: Engine): AppendEvents {
  const listeners = engine.command((db, value: { company: string }) =>
    db
      .selectFrom('webhooks')
      .innerJoin('companies', 'companies.id', 'webhooks.company')
      .select(['webhooks.id', 'webhooks.events', 'companies.modules', 'companies.invoicing_enabled'])
      .where('webhooks.company', '=', value.company)
      .orderBy('webhooks.id'),
  );
  const insertEvent = engine.command((db, value: Tables['events']) =>
    db.insertInto('events').values({
      id: value.id,
      company: value.company,
      kind: value.kind,
      created_at: value.created_at,
      data: value.data,
    }),
  );
  return async (transaction, company, events, mintDeliveryId) => {
    if (events.length === 0) return;
    const rows = await listeners(transaction, { company });
    if (rows.length === 0) return;
    for (const event of events) {
      const hearing = rows.filter((row) => isHeard(event.kind, row)).map(({ id }) => id);
      if (hearing.length === 0) continue;
      const { id, kind, createdAt, data } = event;
      await insertEvent(transaction, { id, company, kind, created_at: createdAt, data });
      await insertDeliveries(transaction, company, event, hearing, mintDeliveryId);
    }
  };
}

interface Listener {
  events: string;
  modules: string;
  invoicing_enabled: number;
}

function isHeard(kind: MoveEventKind, { events, modules, invoicing_enabled }: Listener): boolean {
  const module = moduleOfEvent(kind);
  if (invoicing_enabled === 0 && invoicingModules.includes(module)) return false;
  // Both are JSON arrays of plain words, so a quoted word is found in one as it is.
  return events.includes(`"${kind}"`) && modules.includes(`"${module}"`);
}

/** One statement for all of an event's deliveries; there are at most as many as a company has webhooks. */
async function insertDeliveries(
  transaction: StoreTransaction,
  company: string,
  { id, createdAt }: CompanyEvent,
  webhooks: readonly string[],
  mintDeliveryId: () => string,
): Promise<void> {
  const rows = webhooks.map(
    (webhook) => sql`(${mintDeliveryId()}, ${company}, ${webhook}, ${id}, 'waiting', ${createdAt})`,
  );
  await sql`INSERT INTO deliveries (id, company, webhook, event, state, due_at) VALUES ${sql.join(rows)}`.execute(
    transaction,
  );
}
