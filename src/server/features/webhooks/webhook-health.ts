import { sql } from 'kysely';

import { dialectOf } from '../../store/dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { chosenInteger, chosenText, rowsOf } from './deliveries/delivery-keys.ts';

export interface AttemptCounts {
  delivered: number;
  failed: number;
}

/** The last failed attempt to a webhook. */
export interface LastFailure {
  at: string;
  /** The error class or the status, as text. */
  reason: string;
  delivery: string;
  /** The beginning of the answer; empty if there was no answer or it wasn't text. */
  answerText: string;
}

/** A webhook's attempts in each of some periods, and its last success and failure. */
export interface WebhookHealth {
  spans: AttemptCounts[];
  lastDeliveredAt: string | null;
  lastFailure: LastFailure | null;
}

/** A period in whole UTC hours; its end is excluded. */
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
 * Reads the health of a company's webhooks, given their ids. It adds up hourly counts, so its cost doesn't depend on the
 * number of deliveries. A webhook without attempts has counts of 0.
 */
export async function readWebhookHealth(
  { db, dialect }: Pick<Engine, 'db' | 'dialect'>,
  company: string,
  webhooks: readonly string[],
  spans: readonly HourSpan[],
): Promise<Map<string, WebhookHealth>> {
  const health = new Map(webhooks.map((webhook) => [webhook, empty(spans.length)]));
  const asked = webhooks.flatMap((webhook) =>
    spans.map(({ from, until }, index) => [webhook, index, hourOf(from), hourOf(until)]),
  );
  // One subquery per period: grouping would sort thousands of rows first.
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
  const [delivered, failed, deliveredAt = '', ...failure] = sums.split(',');
  health.spans[span] = { delivered: Number(delivered), failed: Number(failed) };
  if (deliveredAt > (health.lastDeliveredAt ?? '')) health.lastDeliveredAt = deliveredAt;
  const [at = '', reason = '', delivery = '', ...words] = failure.join(',').split(' ');
  if (at > (health.lastFailure?.at ?? ''))
    health.lastFailure = { at, reason, delivery, answerText: words.join(' ') };
}

/** A new attempt to be counted, with its time and its status or error class. */
export interface CountedAttempt {
  company: string;
  webhook: string;
  delivery: string;
  at: string;
  status: number | null;
  error: string | null;
  answerText: string | undefined;
  isTest?: boolean | undefined;
}

/**
 * Adds attempts to the hourly counts. Workers that write at once lock the counts in the order of their keys, which prevents
 * deadlocks.
 */
export async function countAttempts(
  transaction: StoreTransaction,
  attempts: readonly CountedAttempt[],
): Promise<void> {
  const hours = Map.groupBy(
    attempts,
    ({ company, webhook, at }) => `${company} ${webhook} ${at.slice(0, 13)}`,
  );
  const rows = [...hours]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, ofHour]) => countsOf(ofHour));
  if (rows.length === 0) return;
  const later = (column: string) => sql`${sql.ref(column)} = CASE
    WHEN ${sql.ref(`excluded.${column}`)} > ${sql.ref(`webhook_hours.${column}`)} THEN ${sql.ref(`excluded.${column}`)}
    ELSE ${sql.ref(`webhook_hours.${column}`)} END`;
  await sql`
    INSERT INTO webhook_hours (company, webhook, hour, delivered_count, failed_count, last_delivered_at, last_failure)
    SELECT ${chosenText(0)}, ${chosenText(1)}, ${chosenText(2)}, ${chosenInteger(3)}, ${chosenInteger(4)},
      ${chosenText(5)}, ${chosenText(6)}
    FROM ${dialectOf(transaction).chosenIn(rowsOf(rows))}
    WHERE TRUE
    ON CONFLICT (company, webhook, hour) DO UPDATE SET
      delivered_count = webhook_hours.delivered_count + excluded.delivered_count,
      failed_count = webhook_hours.failed_count + excluded.failed_count,
      ${later('last_delivered_at')}, ${later('last_failure')}`.execute(transaction);
}

/**
 * Builds the row of an hour from its attempts, at least one. An empty string means no success or no failure. A failure begins
 * with its time, then reason, delivery and answer, so that the greatest string is the latest.
 */
function countsOf(attempts: readonly CountedAttempt[]): (string | number)[] {
  const [{ company, webhook, at } = { company: '', webhook: '', at: '' }] = attempts;
  const isDelivered = ({ status }: CountedAttempt) => status !== null && status >= 200 && status <= 299;
  const [delivered, failed] = [attempts.filter(isDelivered), attempts.filter((one) => !isDelivered(one))];
  const countOf = (some: readonly CountedAttempt[]) => some.filter(({ isTest }) => !isTest).length;
  const failures = failed.map(({ at: failedAt, error, status, delivery, answerText = '' }) =>
    `${failedAt} ${error ?? status} ${delivery} ${answerText}`.trimEnd(),
  );
  const last = (texts: string[]) => texts.sort().at(-1) ?? '';
  return [
    company,
    webhook,
    at.slice(0, 13),
    countOf(delivered),
    countOf(failed),
    last(delivered.map((attempt) => attempt.at)),
    last(failures),
  ];
}

function hourOf(time: Date): string {
  return time.toISOString().slice(0, 13);
}
