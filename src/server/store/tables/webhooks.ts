import type { MoveEventKind } from '../../../contract/events.ts';
import {
  company,
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
    events: json<MoveEventKind[]>(),
    secret,
    created_at: text,
    /** The administrator who registered it; null when an operator did. */
    made_by: orNull(text),
    /** While it is paused, its deliveries wait and are passed over. */
    paused_at: orNull(text),
    /** A deleted webhook is gone for everyone at once; its row goes when the last of its deliveries has. */
    deleted_at: orNull(text),
    /** The times at which the latest pings were asked for, of which there may be some a minute. */
    pinged_at: orElse(json<string[]>(), "'[]'"),
    /** The first attempt that failed after the last that was delivered; null while it isn't failing. */
    failing_since: orNull(text),
    /** When people were last told that it fails. */
    failing_told_at: orNull(text),
    /** When people were last told that deliveries of it are marked failed. */
    failed_told_at: orNull(text),
  },
  key: ['company', 'id'],
  indexes: {
    // Few of many, which are looked for every minute and at every walk.
    webhooks_deleted: '(company, id) WHERE deleted_at IS NOT NULL',
    webhooks_paused: '(company, id) WHERE paused_at IS NOT NULL',
    webhooks_failing: '(company, id) WHERE failing_since IS NOT NULL',
  },
});

export const events = defineTable({
  name: 'events',
  columns: {
    company,
    /** Time-ordered: a company's events in the order of their ids are in the order in which they happened. */
    id: text,
    kind: text,
    created_at: text,
    /** The text of the record, or of what the event says of it. */
    data: recordText,
  },
  key: ['company', 'id'],
  indexes: {
    // A rare kind among many others, for the filters of the history.
    events_of_kind: '(company, kind, id)',
    events_age: '(id)',
  },
});

/**
 * A delivery is `waiting` while it may be sent as soon as a slot is free, `sending` while a worker holds a lease on it until
 * `due_at`, and `retrying` until its next attempt is due. It ends as `delivered` or `failed`, or is `withheld` when it was due
 * while the company could not be sent it.
 *
 * The key is what lists walk. In SQLite it is the table itself: an event goes to ten webhooks, and each further tree is ten more
 * pages to write. Events and their deliveries go at the same age, so none refers to the other.
 */
export const deliveries = defineTable({
  name: 'deliveries',
  columns: {
    company: text,
    webhook: text,
    /** The id that the receiver sees, in the header and in the body. */
    id: text,
    event: text,
    state: orElse(oneOf('waiting', 'sending', 'retrying', 'delivered', 'failed', 'withheld'), "'waiting'"),
    /** Attempts that were begun. */
    attempt_count: orElse(integer, '0'),
    /** Attempts of the schedule under way that failed. */
    failure_count: orElse(integer, '0'),
    /** Attempts in a row whose worker died. */
    interruption_count: orElse(integer, '0'),
    /** When it is to be sent; while it is being sent, when the lease on it ends. */
    due_at: text,
    /** The worker that has, or had last, the right to tell the attempt's outcome. */
    lease: orNull(text),
    /** Why it is withheld: the code that the API would refuse the same data with. */
    withheld_for: orNull(text),
  },
  key: ['company', 'webhook', 'id'],
  constraints: ['FOREIGN KEY (company, webhook) REFERENCES webhooks (company, id)'],
  indexes: {
    deliveries_waiting: "(company, webhook, due_at) WHERE state = 'waiting'",
    // Deliveries that a clock brings forward: retries, and leases that run out.
    deliveries_timed: "(due_at) WHERE state IN ('sending', 'retrying')",
    // Deliveries that are sent again together after an outage of the receiver.
    deliveries_unsent: "(company, webhook, id) WHERE state IN ('failed', 'withheld')",
    // Retries, in the order of the history. With waiting deliveries in it, each step of each delivery would write to it.
    deliveries_retrying: "(company, webhook, id) WHERE state = 'retrying'",
    // Whether an event may go. Ids grow with time, so new entries come at the end, next to each other.
    deliveries_of_event: '(company, event)',
  },
  isKeyed: true,
  // Each delivery leaves dead entries in the indexes that are walked; a fifth of a large table is too late for them.
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
    /** One of `status` and `error` is set. */
    status: orNull(integer),
    error: orNull(text),
    dns_ms: orNull(integer),
    connect_ms: orNull(integer),
    tls_ms: orNull(integer),
    first_byte_ms: orNull(integer),
    total_ms: integer,
    next_attempt_at: orNull(text),
  },
  key: ['company', 'webhook', 'delivery', 'number'],
  constraints: ['CHECK ((status IS NULL) <> (error IS NULL))'],
  isKeyed: true,
});

export type DeliveryState = RowOf<typeof deliveries>['state'];

/** The attempts of one hour, from which the portal tells how a webhook is doing, however many deliveries it has. */
export const webhookHours = defineTable({
  name: 'webhook_hours',
  columns: {
    company: text,
    webhook: text,
    /** `YYYY-MM-DDTHH` in UTC. */
    hour: text,
    delivered_count: integer,
    failed_count: integer,
    /** An empty text stands for none, as in `last_failure`. */
    last_delivered_at: text,
    /** Time, reason, delivery and the answer's text, one space between them, so that the greatest text is the latest. */
    last_failure: text,
  },
  key: ['company', 'webhook', 'hour'],
  indexes: { webhook_hours_age: '(hour)' },
  age: 'hour',
  isKeyed: true,
  // A count that changes many times an hour leaves as many dead rows, which find room beside the live one.
  also: (engine) => (engine === 'sqlite' ? [] : ['ALTER TABLE webhook_hours SET (fillfactor = 50)']),
});
