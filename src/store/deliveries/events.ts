import { type MoveEventKind, moduleOfEvent } from '../../contract/events.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { invoicingModules } from '../../contract/scopes.ts';
import type { Command, Engine, StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../schema.ts';

/** An event for the company's webhooks. */
export interface CompanyEvent {
  id: string;
  kind: MoveEventKind;
  createdAt: string;
  data: JsonText<unknown>;
}

/** Stores events, each with one delivery for every webhook that gets it. */
export type AppendEvents = (
  transaction: StoreTransaction,
  company: string,
  events: readonly CompanyEvent[],
  deliveries: { mintId: () => string; dueAt: string },
) => Promise<void>;

/**
 * Builds the fan-out. A webhook gets an event that was chosen for it while the company's plan includes the data
 * (service.md, "Registering a webhook"). Whether it may be delivered is checked again when it is due. An event that no
 * webhook gets isn't stored.
 */
export function createEventAppender(engine: Engine): AppendEvents {
  const listeners = engine.command((db, value: { company: string }) =>
    db
      .selectFrom('webhooks')
      .innerJoin('companies', 'companies.id', 'webhooks.company')
      .select(['webhooks.id', 'webhooks.events', 'companies.modules', 'companies.invoicing_enabled'])
      .where('webhooks.company', '=', value.company)
      .where('webhooks.deleted_at', 'is', null)
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
  const insertDeliveries = createDeliveryInserter(engine);
  return async (transaction, company, events, { mintId, dueAt }) => {
    if (events.length === 0) return;
    const webhooks = await listeners(transaction, { company });
    if (webhooks.length === 0) return;
    for (const event of events) {
      const hearing = webhooks.filter((row) => isHeard(event.kind, row)).map(({ id }) => id);
      if (hearing.length === 0) continue;
      const { id, kind, createdAt, data } = event;
      await insertEvent(transaction, { id, company, kind, created_at: createdAt, data });
      const rows = hearing.map((webhook) => [mintId(), webhook] as const);
      await insertDeliveries(transaction, { company, event: id, dueAt }, rows);
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

/** Builds the statement that stores all deliveries of an event; one is compiled for each number of webhooks. */
function createDeliveryInserter(engine: Engine) {
  const compiled = new Map<number, Command<Record<string, string>, unknown>>();
  const insertMany = (count: number) =>
    engine.command((db, value: Record<string, string>) => {
      const rows = Array.from({ length: count }, (_row, index) => ({
        // A statement has a place for each of these names.
        id: value[`id${index}`] as string,
        webhook: value[`webhook${index}`] as string,
        company: value.company as string,
        event: value.event as string,
        due_at: value.dueAt as string,
        state: 'waiting' as const,
      }));
      return db.insertInto('deliveries').values(rows);
    });
  return async (
    transaction: StoreTransaction,
    common: { company: string; event: string; dueAt: string },
    deliveries: readonly (readonly [id: string, webhook: string])[],
  ) => {
    const insert = compiled.get(deliveries.length) ?? insertMany(deliveries.length);
    compiled.set(deliveries.length, insert);
    const values: Record<string, string> = { ...common };
    for (const [index, [deliveryId, webhook]] of deliveries.entries()) {
      values[`id${index}`] = deliveryId;
      values[`webhook${index}`] = webhook;
    }
    await insert(transaction, values);
  };
}
