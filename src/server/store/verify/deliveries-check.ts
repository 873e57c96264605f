import { sql } from 'kysely';

import { isSubscribableKind } from '../../../contract/events.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { DeliveryState } from '../tables/webhooks.ts';
import { type Check, tableCheck } from './findings.ts';

const ROWS_AT_ONCE = 1_000;

const STATES: Record<DeliveryState, true> = {
  waiting: true,
  sending: true,
  retrying: true,
  delivered: true,
  failed: true,
  withheld: true,
};

interface EventRow {
  id: string;
  company: string;
  kind: string;
  data: string;
}

/** Returns the check that every event has a known kind, and data. */
export function eventsCheck(db: Connection): Check {
  return tableCheck<EventRow>(db, 'events', {
    id: 'id',
    columns: sql`id, company, kind, data`,
    from: sql`events`,
    key: ['id'],
    rowsMax: ROWS_AT_ONCE,
    problemsOf: ({ kind, data }) => [
      ...(kind === 'ping' || isSubscribableKind(kind) ? [] : [`the kind ${kind} is unknown`]),
      ...(isJsonObject(data) ? [] : ['the data is not a JSON object']),
    ],
  });
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

interface DeliveryRow {
  company: string;
  webhook: string;
  id: string;
  event: string;
  state: string;
  lease: string | null;
  event_id: string | null;
  webhook_id: string | null;
}

/** Returns the check that every delivery has its event, its webhook and a known state. */
export function deliveriesCheck(db: Connection): Check {
  return tableCheck<DeliveryRow>(db, 'deliveries', {
    id: 'id',
    columns: sql`d.company, d.webhook, d.id, d.event, d.state, d.lease, e.id AS event_id, w.id AS webhook_id`,
    from: sql`deliveries AS d
      LEFT JOIN events AS e ON e.company = d.company AND e.id = d.event
      LEFT JOIN webhooks AS w ON w.company = d.company AND w.id = d.webhook`,
    key: ['d.company', 'd.webhook', 'd.id'],
    rowsMax: ROWS_AT_ONCE,
    problemsOf: (row) => [
      ...(row.event_id === null ? [`the company has no event ${row.event}`] : []),
      ...(row.webhook_id === null ? [`there is no webhook ${row.webhook}`] : []),
      ...(Object.hasOwn(STATES, row.state) ? [] : [`the state ${row.state} is unknown`]),
      ...(row.state === 'sending' && row.lease === null
        ? ['it is marked as being sent, but no worker has it']
        : []),
    ],
  });
}

interface AttemptRow {
  company: string;
  webhook: string;
  delivery: string;
  number: number;
  attempt_count: number | null;
}

/** Returns the check that every attempt belongs to a delivery that has started at least as many attempts. */
export function attemptsCheck(db: Connection): Check {
  return tableCheck<AttemptRow>(db, 'delivery_attempts', {
    id: 'delivery',
    columns: sql`a.company, a.webhook, a.delivery, a.number, d.attempt_count`,
    from: sql`delivery_attempts AS a
      LEFT JOIN deliveries AS d ON d.company = a.company AND d.webhook = a.webhook AND d.id = a.delivery`,
    key: ['a.company', 'a.webhook', 'a.delivery', 'a.number'],
    rowsMax: ROWS_AT_ONCE,
    problemsOf({ number, attempt_count: count }) {
      if (count === null) return [`attempt ${number} belongs to no delivery`];
      return number > count ? [`attempt ${number} is one of ${count}`] : [];
    },
  });
}
