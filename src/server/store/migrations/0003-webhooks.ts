import { partOf, statementsToAdd, type Table } from '../tables/table.ts';
import { deliveryAttempts, events, webhooks } from '../tables/webhooks.ts';
import type { Migration } from './migration.ts';

const only = (table: Table, ...names: string[]) => partOf(table, (name) => names.includes(name));
const adds = [
  only(webhooks, 'description', 'past_events', 'replaces'),
  only(events, 'is_test', 'events_of_record'),
  only(deliveryAttempts, 'answer_text'),
];

/** Adds descriptions, changes of events, samples, receivers' answers, and the search for a record's deliveries. */
export const extendWebhooks: Migration = {
  name: '0003-webhooks',
  adds,
  statements: (engine) => adds.flatMap((part) => statementsToAdd(part, engine)),
};
