import { sql } from 'kysely';

import { isMoveEventKind } from '../../../contract/events.ts';
import type { Engine } from '../engines/engine.ts';
import type { DeliveryState } from '../schema.ts';
import { type Check, countRows, type Finding, lookThrough } from './findings.ts';

const ROWS_AT_ONCE = sql.lit(1_000);

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

/** Whether every event is of a kind that there is, and has data. */
export function eventsCheck(engine: Engine): Check {
  const read = async ([id]: readonly string[]) => {
    const { rows } = await sql<EventRow>`
      SELECT id, company, kind, data FROM events WHERE id > ${id} ORDER BY id LIMIT ${ROWS_AT_ONCE}`.execute(
      engine.db,
    );
    return rows;
  };
  const problemsOf = ({ id, company, kind, data }: EventRow): Finding[] => {
    const problems = [
      ...(kind === 'ping' || isMoveEventKind(kind) ? [] : [`the kind ${kind} is unknown`]),
      ...(isJsonObject(data) ? [] : ['the data is not a JSON object']),
    ];
    return problems.map((problem) => ({ in: 'events', company, id, problem }));
  };
  return {
    in: 'events',
    count: countRows(engine, sql.table('events')),
    looks: () => lookThrough(read, ({ id }) => [id], problemsOf, 1),
  };
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
  event_company: string | null;
  webhook_id: string | null;
}

/** Whether every delivery has its event and its webhook, and a state that there is. */
export function deliveriesCheck(engine: Engine): Check {
  const read = async ([company, webhook, id]: readonly string[]) => {
    const { rows } = await sql<DeliveryRow>`
      SELECT d.company, d.webhook, d.id, d.event, d.state, d.lease, e.company AS event_company, w.id AS webhook_id
      FROM deliveries AS d
      LEFT JOIN events AS e ON e.id = d.event
      LEFT JOIN webhooks AS w ON w.company = d.company AND w.id = d.webhook
      WHERE (d.company, d.webhook, d.id) > (${company}, ${webhook}, ${id})
      ORDER BY d.company, d.webhook, d.id LIMIT ${ROWS_AT_ONCE}`.execute(engine.db);
    return rows;
  };
  const problemsOf = (row: DeliveryRow): Finding[] => {
    const { company, id } = row;
    const problems = [
      ...(row.event_company === null ? [`there is no event ${row.event}`] : []),
      ...(row.event_company !== null && row.event_company !== company
        ? [`the event ${row.event} is another company's`]
        : []),
      ...(row.webhook_id === null ? [`there is no webhook ${row.webhook}`] : []),
      ...(Object.hasOwn(STATES, row.state) ? [] : [`the state ${row.state} is unknown`]),
      ...(row.state === 'sending' && row.lease === null ? ['it is being sent by no worker'] : []),
    ];
    return problems.map((problem) => ({ in: 'deliveries', company, id, problem }));
  };
  return {
    in: 'deliveries',
    count: countRows(engine, sql.table('deliveries')),
    looks: () => lookThrough(read, ({ company, webhook, id }) => [company, webhook, id], problemsOf, 3),
  };
}

interface AttemptRow {
  company: string;
  webhook: string;
  delivery: string;
  number: number;
  attempt_count: number | null;
}

/** Whether every attempt belongs to a delivery that has begun as many. */
export function attemptsCheck(engine: Engine): Check {
  const read = async ([company, webhook, delivery, number]: readonly string[]) => {
    const { rows } = await sql<AttemptRow>`
      SELECT a.company, a.webhook, a.delivery, a.number, d.attempt_count
      FROM delivery_attempts AS a
      LEFT JOIN deliveries AS d ON d.company = a.company AND d.webhook = a.webhook AND d.id = a.delivery
      WHERE (a.company, a.webhook, a.delivery, a.number)
        > (${company}, ${webhook}, ${delivery}, CAST(${number || '0'} AS INTEGER))
      ORDER BY a.company, a.webhook, a.delivery, a.number LIMIT ${ROWS_AT_ONCE}`.execute(engine.db);
    return rows;
  };
  const problemsOf = ({ company, delivery, number, attempt_count: count }: AttemptRow): Finding[] => {
    const finding = (problem: string) => [{ in: 'delivery_attempts', company, id: delivery, problem }];
    if (count === null) return finding(`attempt ${number} belongs to no delivery`);
    return number > count ? finding(`attempt ${number} is one of ${count}`) : [];
  };
  return {
    in: 'delivery_attempts',
    count: countRows(engine, sql.table('delivery_attempts')),
    looks: () =>
      lookThrough(read, (row) => [row.company, row.webhook, row.delivery, String(row.number)], problemsOf, 4),
  };
}
