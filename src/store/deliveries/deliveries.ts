import { sql } from 'kysely';

import type { EventKind } from '../../contract/events.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { chosenIn, type DeliveryKey, isChosen, keyRows, written } from './delivery-keys.ts';
import type { Engine } from '../engines/engine.ts';
import { withoutIndex } from '../engines/without-index.ts';

/** A delivery that this worker may send, with all that its request is made of. */
export interface LeasedDelivery extends DeliveryKey {
  /** Shows, when the attempt is over, that nobody else has taken the delivery since. */
  lease: string;
  /** The number of the attempt that begins with this lease. */
  attempt: number;
  failureCount: number;
  kind: EventKind;
  createdAt: string;
  data: JsonText<unknown>;
  url: string;
  /** As it is stored; see webhooks/secrets.ts. */
  secret: string;
  isWebhookDeleted: boolean;
  isWebhookPaused: boolean;
  apiEnabled: boolean;
  subscriptionActive: boolean;
  invoicingEnabled: boolean;
  /** JSON array of module names. */
  modules: string;
}

/** A delivery whose time has come: a retry that is due, or one whose worker let its lease run out. */
export interface TimedDelivery extends DeliveryKey {
  state: 'sending' | 'retrying';
  dueAt: string;
  lease: string | null;
  attempt: number;
  failureCount: number;
  interruptionCount: number;
}

/** The deliveries that are to be made, as the loop takes them. */
export interface DeliveryQueue {
  /**
   * Takes a lease until a time on those of the deliveries that still wait, and raises their counts of attempts. It is
   * committed before anything is sent; what another worker takes at the same moment is left to it.
   */
  lease: (keys: readonly DeliveryKey[], lease: string, until: Date) => Promise<LeasedDelivery[]>;
  /** Deliveries whose time has come, the earliest first. */
  listTimed: (now: Date, countMax: number) => Promise<TimedDelivery[]>;
  /** Lets the retries among them wait for a slot, if they still are due. */
  bringForward: (keys: readonly DeliveryKey[], now: Date) => Promise<void>;
  /** When the next retry is due or the next lease ends; undefined when there is neither. */
  nextTime: () => Promise<string | undefined>;
  /** How many wait for a slot, counted up to `countMax`: an exact count of many would hold up everything else. */
  countWaiting: (countMax: number) => Promise<number>;
}

export function createDeliveryQueue(engine: Engine): DeliveryQueue {
  return { lease: createLease(engine), ...createTimes(engine), countWaiting: createCount(engine) };
}

interface LeasedRow extends DeliveryKey {
  attempt_count: number;
  failure_count: number;
  kind: EventKind;
  created_at: string;
  data: JsonText<unknown>;
  url: string;
  secret: string;
  deleted_at: string | null;
  paused_at: string | null;
  api_enabled: number;
  subscription_active: number;
  invoicing_enabled: number;
  modules: string;
}

interface LeaseValues {
  keys: string;
  lease: string;
  until: string;
}

function createLease(engine: Engine): DeliveryQueue['lease'] {
  const lease = engine.name === 'sqlite' ? createLeaseOnSqlite(engine) : createLeaseOnPostgres(engine);
  return async (keys, holder, until) => {
    const values = { keys: keyRows(keys), lease: holder, until: until.toISOString() };
    return (await lease(values)).map((row) => toLeased(row, holder));
  };
}

type Lease = (values: LeaseValues) => Promise<LeasedRow[]>;

/** SQLite can't read what a statement changes in the same statement. */
function createLeaseOnSqlite(engine: Engine): Lease {
  const take = engine.command((db, value: LeaseValues) =>
    written(
      db,
      sql<DeliveryKey>`
        UPDATE deliveries SET ${taking(value)} FROM ${chosenIn(engine, value.keys)}
        WHERE ${isChosen('deliveries')} AND state = 'waiting'
        RETURNING company, webhook, id`,
    ),
  );
  const read = engine.command((db, value: LeaseValues) =>
    written(
      db,
      sql<LeasedRow>`
        SELECT ${leasedColumns} FROM ${chosenIn(engine, value.keys)} CROSS JOIN deliveries AS d
        ${withSurroundings} AND ${isChosen('d')}`,
    ),
  );
  return (values) =>
    engine.transaction(async (transaction) => {
      const taken = await take(transaction, values);
      return taken.length === 0 ? [] : read(transaction, { ...values, keys: keyRows(taken) });
    });
}

/**
 * One statement is one journey to the database, and a transaction by itself. It stays prepared: to plan it takes longer
 * than to run it. The limit keeps the planner from reading all that waits, and looking for the chosen ones in that.
 *
 * It doesn't wait for the disk, as the results do. A crash of the whole database can forget the leases of its last
 * half second; then those deliveries are sent again, as after a crash of their worker.
 */
function createLeaseOnPostgres(engine: Engine): Lease {
  return engine.prepare((db, value: LeaseValues) =>
    written(
      db,
      sql<LeasedRow>`
        WITH unhurried AS MATERIALIZED (
          SELECT set_config('synchronous_commit', 'off', TRUE)
        ), free AS MATERIALIZED (
          SELECT d.company, d.webhook, d.id
          FROM ${chosenIn(engine, value.keys)}
          CROSS JOIN LATERAL (
            SELECT company, webhook, id, state FROM deliveries WHERE ${isChosen('deliveries')}
            LIMIT 1 FOR UPDATE SKIP LOCKED
          ) AS d
          WHERE d.state = 'waiting'
        ), d AS (
          UPDATE deliveries SET ${taking(value)} FROM free
          WHERE deliveries.company = free.company AND deliveries.webhook = free.webhook AND deliveries.id = free.id
          RETURNING deliveries.*
        )
        SELECT ${leasedColumns} FROM unhurried CROSS JOIN d ${withSurroundings}`,
    ),
  );
}

const taking = ({ lease, until }: LeaseValues) =>
  sql`state = 'sending', lease = ${lease}, due_at = ${until}, attempt_count = attempt_count + 1`;

const leasedColumns = sql`d.company, d.webhook, d.id, d.attempt_count, d.failure_count, e.kind, e.created_at, e.data,
  w.url, w.secret, w.deleted_at, w.paused_at, c.api_enabled, c.subscription_active, c.invoicing_enabled, c.modules`;

const withSurroundings = sql`CROSS JOIN events AS e CROSS JOIN webhooks AS w CROSS JOIN companies AS c
  WHERE e.id = d.event AND w.company = d.company AND w.id = d.webhook AND c.id = d.company`;

function toLeased(row: LeasedRow, lease: string): LeasedDelivery {
  return {
    company: row.company,
    webhook: row.webhook,
    id: row.id,
    lease,
    attempt: row.attempt_count,
    failureCount: row.failure_count,
    kind: row.kind,
    createdAt: row.created_at,
    data: row.data,
    url: row.url,
    secret: row.secret,
    isWebhookDeleted: row.deleted_at !== null,
    isWebhookPaused: row.paused_at !== null,
    apiEnabled: row.api_enabled === 1,
    subscriptionActive: row.subscription_active === 1,
    invoicingEnabled: row.invoicing_enabled === 1,
    modules: row.modules,
  };
}

/** The index `deliveries_timed` serves a condition in these very words. */
const isTimed = sql<boolean>`state IN ('sending', 'retrying')`;

interface TimedRow extends DeliveryKey {
  state: TimedDelivery['state'];
  due_at: string;
  lease: string | null;
  attempt_count: number;
  failure_count: number;
  interruption_count: number;
}

function createTimes(engine: Engine): Pick<DeliveryQueue, 'listTimed' | 'bringForward' | 'nextTime'> {
  const list = engine.prepare((db, value: { now: string; countMax: number }) =>
    written(
      db,
      sql<TimedRow>`
        SELECT company, webhook, id, state, due_at, lease, attempt_count, failure_count, interruption_count
        FROM deliveries WHERE ${isTimed} AND due_at <= ${value.now} ORDER BY due_at LIMIT ${value.countMax}`,
    ),
  );
  // By their keys: the index of what is timed holds every retry there is.
  const bring = engine.command((db, value: { keys: string; now: string }) =>
    written(
      db,
      sql<never>`
        UPDATE deliveries SET state = 'waiting' FROM ${chosenIn(engine, value.keys)}
        WHERE ${isChosen('deliveries')} AND ${withoutIndex('state')} = 'retrying' AND due_at <= ${value.now}`,
    ),
  );
  const next = engine.prepare((db) =>
    written(
      db,
      sql<{ due_at: string }>`SELECT due_at FROM deliveries WHERE ${isTimed} ORDER BY due_at LIMIT 1`,
    ),
  );
  return {
    async listTimed(now, countMax) {
      const rows = await list({ now: now.toISOString(), countMax });
      return rows.map(({ due_at, attempt_count, failure_count, interruption_count, ...row }) => ({
        ...row,
        dueAt: due_at,
        attempt: attempt_count,
        failureCount: failure_count,
        interruptionCount: interruption_count,
      }));
    },
    async bringForward(keys, now) {
      const values = { keys: keyRows(keys), now: now.toISOString() };
      await engine.transaction((transaction) => bring(transaction, values));
    },
    nextTime: async () => (await next({}))[0]?.due_at,
  };
}

function createCount(engine: Engine): DeliveryQueue['countWaiting'] {
  const count = engine.prepare((db, value: { countMax: number }) =>
    written(
      db,
      sql<{ count: number | string }>`
        SELECT COUNT(*) AS count
        FROM (SELECT 1 FROM deliveries WHERE state = 'waiting' LIMIT ${value.countMax}) AS counted`,
    ),
  );
  return async (countMax) => Number((await count({ countMax }))[0]?.count ?? 0);
}
