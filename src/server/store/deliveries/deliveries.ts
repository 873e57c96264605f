import { sql } from 'kysely';

import type { EventKind } from '../../../contract/events.ts';
import type { JsonText } from '../../../contract/json-text.ts';
import { type DeliveryKey, isChosen, keyRows } from './delivery-keys.ts';
import type { Engine } from '../engines/engine.ts';
import { withoutIndex } from '../dialects/dialect.ts';

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

/**
 * Takes a lease until a time on those of the deliveries that still wait, and raises their counts of attempts. It is
 * committed before anything is sent; what another worker takes at the same moment is left to it.
 */
export async function leaseDeliveries(
  engine: Engine,
  keys: readonly DeliveryKey[],
  lease: string,
  until: Date,
): Promise<LeasedDelivery[]> {
  const values = { keys: keyRows(keys), lease, until: until.toISOString() };
  const take = engine.dialect.readsChanges ? leaseAtOnce : leaseInTwoSteps;
  return (await take(engine, values)).map((row) => toLeased(row, lease));
}

/** A leased delivery with its surroundings. */
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

/** Deliveries to lease, as `keyRows` writes them. */
interface LeaseValues {
  keys: string;
  lease: string;
  until: string;
}

const taking = ({ lease, until }: LeaseValues) =>
  sql`state = 'sending', lease = ${lease}, due_at = ${until}, attempt_count = attempt_count + 1`;

const leasedColumns = sql`d.company, d.webhook, d.id, d.attempt_count, d.failure_count, e.kind, e.created_at, e.data,
  w.url, w.secret, w.deleted_at, w.paused_at, c.api_enabled, c.subscription_active, c.invoicing_enabled, c.modules`;

const withSurroundings = sql`CROSS JOIN events AS e CROSS JOIN webhooks AS w CROSS JOIN companies AS c
  WHERE e.id = d.event AND w.company = d.company AND w.id = d.webhook AND c.id = d.company`;

/** For databases that can't read what a statement changes in the same statement. */
async function leaseInTwoSteps(engine: Engine, values: LeaseValues): Promise<LeasedRow[]> {
  const { chosenIn } = engine.dialect;
  return engine.transaction(async (transaction) => {
    const { rows: taken } = await sql<DeliveryKey>`
      UPDATE deliveries SET ${taking(values)} FROM ${chosenIn(values.keys)}
      WHERE ${isChosen('deliveries')} AND state = 'waiting'
      RETURNING company, webhook, id`.execute(transaction);
    if (taken.length === 0) return [];
    const { rows } = await sql<LeasedRow>`
      SELECT ${leasedColumns} FROM ${chosenIn(keyRows(taken))} CROSS JOIN deliveries AS d
      ${withSurroundings} AND ${isChosen('d')}`.execute(transaction);
    return rows;
  });
}

/**
 * One statement is one journey to the database, and a transaction by itself. The limit keeps the planner from reading all
 * that waits, and looking for the chosen ones in that.
 *
 * It doesn't wait for the disk, as the results do. A crash of the whole database can forget the leases of its last
 * half second; then those deliveries are sent again, as after a crash of their worker.
 */
async function leaseAtOnce({ db, dialect }: Engine, values: LeaseValues): Promise<LeasedRow[]> {
  const { rows } = await sql<LeasedRow>`
    WITH unhurried AS MATERIALIZED (
      SELECT set_config('synchronous_commit', 'off', TRUE)
    ), free AS MATERIALIZED (
      SELECT d.company, d.webhook, d.id
      FROM ${dialect.chosenIn(values.keys)}
      CROSS JOIN LATERAL (
        SELECT company, webhook, id, state FROM deliveries WHERE ${isChosen('deliveries')}
        LIMIT 1 FOR UPDATE SKIP LOCKED
      ) AS d
      WHERE d.state = 'waiting'
    ), d AS (
      UPDATE deliveries SET ${taking(values)} FROM free
      WHERE deliveries.company = free.company AND deliveries.webhook = free.webhook AND deliveries.id = free.id
      RETURNING deliveries.*
    )
    SELECT ${leasedColumns} FROM unhurried CROSS JOIN d ${withSurroundings}`.execute(db);
  return rows;
}

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

/** Deliveries whose time has come, the earliest first. */
export async function listTimed({ db }: Engine, now: Date, countMax: number): Promise<TimedDelivery[]> {
  const { rows } = await sql<TimedRow>`
    SELECT company, webhook, id, state, due_at, lease, attempt_count, failure_count, interruption_count
    FROM deliveries WHERE ${isTimed} AND due_at <= ${now.toISOString()} ORDER BY due_at LIMIT ${countMax}`.execute(
    db,
  );
  return rows.map(({ due_at, attempt_count, failure_count, interruption_count, ...row }) => ({
    ...row,
    dueAt: due_at,
    attempt: attempt_count,
    failureCount: failure_count,
    interruptionCount: interruption_count,
  }));
}

/** Lets the retries among some deliveries wait for a slot, if they still are due. */
export async function bringForward(engine: Engine, keys: readonly DeliveryKey[], now: Date): Promise<void> {
  // By their keys: the index of what is timed holds every retry there is.
  const bring = sql`
    UPDATE deliveries SET state = 'waiting' FROM ${engine.dialect.chosenIn(keyRows(keys))}
    WHERE ${isChosen('deliveries')} AND ${withoutIndex('state')} = 'retrying' AND due_at <= ${now.toISOString()}`;
  await engine.transaction((transaction) => bring.execute(transaction));
}

/** When the next retry is due or the next lease ends; undefined when there is neither. */
export async function nextDeliveryTime({ db }: Engine): Promise<string | undefined> {
  const { rows } = await sql<{ due_at: string }>`
    SELECT due_at FROM deliveries WHERE ${isTimed} ORDER BY due_at LIMIT 1`.execute(db);
  return rows[0]?.due_at;
}

/** How many wait for a slot, counted up to `countMax`: an exact count of many would hold up everything else. */
export async function countWaiting({ db }: Engine, countMax: number): Promise<number> {
  const { rows } = await sql<{ count: number | string }>`
    SELECT COUNT(*) AS count
    FROM (SELECT 1 FROM deliveries WHERE state = 'waiting' LIMIT ${countMax}) AS counted`.execute(db);
  return Number(rows[0]?.count ?? 0);
}
