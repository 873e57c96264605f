import { type SubscribableKind, moduleOfEvent } from '../../../contract/events.ts';
import type { JsonText } from '../../../contract/json-text.ts';
import { whyWithheld } from '../../../contract/withholding.ts';
import { dialectOf } from '../dialects/dialect.ts';
import type { StoreTransaction } from '../engines/engine.ts';
import { type SwitchColumns, switchesOf } from './companies.ts';

/** An event about a company, for its webhooks. */
export interface CompanyEvent {
  id: string;
  kind: SubscribableKind;
  createdAt: string;
  data: JsonText<unknown>;
}

/**
 * Stores events, each with one delivery for every webhook subscribed to it, if the company's plan includes the data
 * (webhooks.yaml). Permission to deliver is checked again when the delivery is due. An event without any such webhook
 * isn't stored.
 */
export async function appendEvents(
  transaction: StoreTransaction,
  company: string,
  events: readonly CompanyEvent[],
  { mintId, dueAt }: { mintId: () => string; dueAt: string },
): Promise<void> {
  if (events.length === 0) return;
  const webhooks = await transaction
    .selectFrom('webhooks')
    .innerJoin('companies', (join) => join.on('companies.id', '=', company))
    .select(['webhooks.id', 'webhooks.events', 'companies.modules', 'companies.invoicing_enabled'])
    .select(['companies.subscription_active', 'companies.api_enabled'])
    .where('webhooks.company', '=', company)
    .where('webhooks.deleted_at', 'is', null)
    .orderBy('webhooks.id')
    .execute();
  let isAdded = false;
  for (const { id, kind, createdAt, data } of events) {
    const hearing = webhooks.filter((row) => isHeard(kind, row));
    if (hearing.length === 0) continue;
    await transaction
      .insertInto('events')
      .values({ id, company, kind, created_at: createdAt, data })
      .execute();
    const common = { company, event: id, due_at: dueAt, state: 'waiting' } as const;
    await transaction
      .insertInto('deliveries')
      .values(hearing.map((webhook) => ({ ...common, id: mintId(), webhook: webhook.id })))
      .execute();
    isAdded = true;
  }
  if (isAdded) await dialectOf(transaction).tellWorkers(transaction);
}

export type AppendEvents = typeof appendEvents;

/** Whether a webhook gets an event. Subscription and API switches are ignored: they are checked when a delivery is due. */
function isHeard(kind: SubscribableKind, { events, ...row }: SwitchColumns & { events: string }): boolean {
  const inPlan = { ...switchesOf(row), subscriptionActive: true, apiEnabled: true };
  // The column is a JSON array of plain words, so a text search for the quoted word is enough.
  return events.includes(`"${kind}"`) && whyWithheld(inPlan, moduleOfEvent(kind)) === undefined;
}
