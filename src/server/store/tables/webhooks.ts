import type { SubscribableKind } from '../../../contract/events.ts';
import {
  company,
  flag,
  recordText,
  integer,
  json,
  oneOf,
  orElse,
  orNull,
  type RowOf,
  secret,
  defineTable,
  text,
} from './table.ts';

export const webhooks = defineTable({
  name: 'webhooks',
  columns: {
    company,
    id: text,
    url: text,
    events: json<SubscribableKind[]>(),
    secret,
    created_at: text,
    /** The administrator who registered the webhook; null when an operator did. */
    made_by: orNull(text),
    /** The time the webhook was paused; its deliveries wait until it is resumed and this is null again. */
    paused_at: orNull(text),
    /** The time of deletion. The webhook disappears at once for everyone; its row is removed after its last delivery. */
    deleted_at: orNull(text),
    /** The times of the latest ping requests, for their limit per minute. */
    pinged_at: orElse(json<string[]>(), "'[]'"),
    /** The time of the first failed attempt since the last success; null while it isn't failing. */
    failing_since: orNull(text),
    /** The last time administrators were notified that the webhook is failing. */
    failing_told_at: orNull(text),
    /** The last time administrators were notified that deliveries were marked failed. */
    failed_told_at: orNull(text),
    /** A line for people, because several webhooks may have the same address; empty for none. */
    description: orElse(text, "''"),
    /** Events that were chosen earlier. The history still has them, so they count where authority depends on events. */
    past_events: orElse(json<SubscribableKind[]>(), "'[]'"),
    /** The webhook whose secret is being replaced by this one. */
    replaces: orNull(text),
  },
  key: ['company', 'id'],
  indexes: {
    // A few webhooks among many, looked up every minute and on every pass over the deliveries.
    webhooks_deleted: '(company, id) WHERE deleted_at IS NOT NULL',
    webhooks_paused: '(company, id) WHERE paused_at IS NOT NULL',
    webhooks_failing: '(company, id) WHERE failing_since IS NOT NULL',
  },
});

/** SQL for the id of the record that an event is about: of the invoice in an event of payments. */
export const RECORD_ID = "COALESCE(data ->> 'id', data ->> 'invoiceId')";

export const events = defineTable({
  name: 'events',
  columns: {
    company,
    /** A time-ordered id: sorting a company's events by it puts them in the order in which they happened. */
    id: text,
    kind: text,
    created_at: text,
    /** JSON of the event's data: the record, or details about it. */
    data: recordText,
    /** Whether somebody asked for this event as a sample. A ping is a test without this mark. */
    is_test: orElse(flag, '0'),
  },
  key: ['company', 'id'],
  indexes: {
    events_of_record: `(company, (${RECORD_ID}), id)`,
    // Finds rare kinds of events for the history's filters.
    events_of_kind: '(company, kind, id)',
    events_age: '(id)',
  },
});

/**
 * Webhook deliveries. A delivery is `waiting` for a free slot, `sending` while a worker holds a lease on it until
 * `due_at`, and `retrying` until its next attempt is due. It ends as `delivered` or `failed`, or as `withheld` if the company
 * was not entitled to the data when it was due.
 *
 * Lists scan the key. In SQLite the key is the table itself: an event may go to ten webhooks, and each further tree means ten
 * more pages to write. Events and deliveries are removed at the same age, so there is no foreign key between them.
 */
export const deliveries = defineTable({
  name: 'deliveries',
  columns: {
    company: text,
    webhook: text,
    /** The delivery's id, sent to the receiver in the header and the body. */
    id: text,
    event: text,
    state: orElse(oneOf('waiting', 'sending', 'retrying', 'delivered', 'failed', 'withheld'), "'waiting'"),
    /** Number of attempts started. */
    attempt_count: orElse(integer, '0'),
    /** Failed attempts of the current retry schedule. */
    failure_count: orElse(integer, '0'),
    /** Consecutive attempts whose worker died. */
    interruption_count: orElse(integer, '0'),
    /** The time of the next attempt; during an attempt, the end of its lease. */
    due_at: text,
    /** Id of the current or last lease, whose worker alone may record the attempt's outcome. */
    lease: orNull(text),
    /** The reason for withholding: the error code with which the API would refuse the same data. */
    withheld_for: orNull(text),
  },
  key: ['company', 'webhook', 'id'],
  constraints: ['FOREIGN KEY (company, webhook) REFERENCES webhooks (company, id)'],
  indexes: {
    deliveries_waiting: "(company, webhook, due_at) WHERE state = 'waiting'",
    // Deliveries that become due by time: retries and expiring leases.
    deliveries_timed: "(due_at) WHERE state IN ('sending', 'retrying')",
    // Deliveries that can be sent again together after the receiver's outage.
    deliveries_unsent: "(company, webhook, id) WHERE state IN ('failed', 'withheld')",
    // Retries in the order of the history. Waiting deliveries are left out so that most deliveries never write to it.
    deliveries_retrying: "(company, webhook, id) WHERE state = 'retrying'",
    // Finds out whether an event can be removed. Ids grow with time, so new entries are adjacent at the end.
    deliveries_of_event: '(company, event)',
  },
  isKeyed: true,
  // Each delivery leaves dead entries in the indexes; vacuuming at the default, a fifth of a large table, is too late.
  also: (engine) =>
    engine === 'sqlite' ? [] : ['ALTER TABLE deliveries SET (autovacuum_vacuum_scale_factor = 0.01)'],
});

export const deliveryAttempts = defineTable({
  name: 'delivery_attempts',
  columns: {
    company: text,
    webhook: text,
    delivery: text,
    number: integer,
    attempted_at: text,
    /** The response's HTTP status. Exactly one of `status` and `error` is set. */
    status: orNull(integer),
    error: orNull(text),
    dns_ms: orNull(integer),
    connect_ms: orNull(integer),
    tls_ms: orNull(integer),
    first_byte_ms: orNull(integer),
    total_ms: integer,
    next_attempt_at: orNull(text),
    /** The beginning of an answer that isn't 2xx, as one line. */
    answer_text: orNull(text),
  },
  key: ['company', 'webhook', 'delivery', 'number'],
  constraints: ['CHECK ((status IS NULL) <> (error IS NULL))'],
  isKeyed: true,
});

export type DeliveryState = RowOf<typeof deliveries>['state'];

/** Each webhook's attempts per hour, so that the portal can show its health however many deliveries it has. */
export const webhookHours = defineTable({
  name: 'webhook_hours',
  columns: {
    company: text,
    webhook: text,
    /** The hour, as `YYYY-MM-DDTHH` in UTC. */
    hour: text,
    delivered_count: integer,
    failed_count: integer,
    /** The time of the hour's last successful attempt; empty if there is none, like `last_failure`. */
    last_delivered_at: text,
    /** The last failure: time, reason, delivery id and response text, separated by spaces. The greatest text is the last. */
    last_failure: text,
  },
  key: ['company', 'webhook', 'hour'],
  indexes: { webhook_hours_age: '(hour)' },
  age: 'hour',
  isKeyed: true,
  // A count changes many times an hour; free space on the page lets its new versions stay beside the old ones.
  also: (engine) => (engine === 'sqlite' ? [] : ['ALTER TABLE webhook_hours SET (fillfactor = 50)']),
});
