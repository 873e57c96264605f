import { sql } from 'kysely';

import { chosenInteger, chosenText, rowsOf } from './delivery-keys.ts';
import type { Engine } from '../engines/engine.ts';

/** Numbers of attempts by their result. */
export interface AttemptCounts {
  delivered: number;
  failed: number;
}

/** An attempt that failed. */
export interface LastFailure {
  at: string;
  /** The class of error or the status, as text. */
  reason: string;
  delivery: string;
}

/** The attempts of a webhook in each of some periods, and its last results. */
export interface WebhookHealth {
  spans: AttemptCounts[];
  lastDeliveredAt: string | null;
  lastFailure: LastFailure | null;
}

/** A period in full hours of UTC, without its end. */
export interface HourSpan {
  from: Date;
  until: Date;
}

interface HealthRow {
  webhook: string;
  span: number;
  sums: string | null;
}

/**
 * Reads the health of some webhooks of a company, by their ids. It adds up hourly counts, so its cost doesn't depend on
 * the number of deliveries. A webhook without attempts has counts of 0.
 */
export async function readHealth(
  { db, dialect }: Engine,
  company: string,
  webhooks: readonly string[],
  spans: readonly HourSpan[],
): Promise<Map<string, WebhookHealth>> {
  const health = new Map(webhooks.map((webhook) => [webhook, empty(spans.length)]));
  const asked = webhooks.flatMap((webhook) =>
    spans.map(({ from, until }, index) => [webhook, index, hourOf(from), hourOf(until)]),
  );
  // One text for each period, because grouping would sort thousands of rows first.
  const { rows } = await sql<HealthRow>`
    SELECT ${chosenText(0)} AS webhook, ${chosenInteger(1)} AS span, (
      SELECT SUM(h.delivered_count) || ',' || SUM(h.failed_count) || ',' || MAX(h.last_delivered_at) || ','
        || MAX(h.last_failure)
      FROM webhook_hours AS h
      WHERE h.company = ${company} AND h.webhook = ${chosenText(0)}
        AND h.hour >= ${chosenText(2)} AND h.hour < ${chosenText(3)}
    ) AS sums
    FROM ${dialect.chosenIn(rowsOf(asked))}`.execute(db);
  for (const row of rows) {
    const found = health.get(row.webhook);
    if (found) add(found, row);
  }
  return health;
}

function empty(spanCount: number): WebhookHealth {
  const spans = Array.from({ length: spanCount }, () => ({ delivered: 0, failed: 0 }));
  return { spans, lastDeliveredAt: null, lastFailure: null };
}

function add(health: WebhookHealth, { span, sums }: HealthRow): void {
  if (sums === null) return;
  const [delivered, failed, deliveredAt = '', failure = ''] = sums.split(',');
  health.spans[span] = { delivered: Number(delivered), failed: Number(failed) };
  if (deliveredAt > (health.lastDeliveredAt ?? '')) health.lastDeliveredAt = deliveredAt;
  const [at = '', reason = '', delivery = ''] = failure.split(' ');
  if (at > (health.lastFailure?.at ?? '')) health.lastFailure = { at, reason, delivery };
}

/** The hour of a time, as the counts are stored under it. */
function hourOf(time: Date): string {
  return time.toISOString().slice(0, 13);
}
