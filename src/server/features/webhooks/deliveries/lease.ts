import { type RawBuilder, sql } from 'kysely';

import type { EventKind } from '../../../../contract/events.ts';
import type { JsonText } from '../../../../contract/json-text.ts';
import type { Switches } from '../../../../contract/withholding.ts';
import { type DeliveryKey, isChosen, keyRows } from './delivery-keys.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { withoutIndex } from '../../../store/dialects/dialect.ts';
import { boundTo, byCompany, ofAllCompanies, resultsOf } from '../../../store/machines.ts';
import { type SwitchColumns, switchesOf } from '../../../store/records/companies.ts';

/** A delivery that this worker may send, with everything its request is built from. */
export interface LeasedDelivery extends DeliveryKey {
  /** A token that proves after the attempt that no other worker has taken the delivery. */
  lease: string;
  attempt: number;
  failureCount: number;
  kind: EventKind;
  createdAt: string;
  data: JsonText<unknown>;
  isTest: boolean;
  url: string;
  /** The sealed secret as stored; see secret-box.ts. */
  secret: string;
  isWebhookDeleted: boolean;
  isWebhookPaused: boolean;
  /** The company's switches at the time of the lease. */
  switches: Switches;
}

/** A delivery that is due: a retry, or one whose worker let its lease run out. */
export interface TimedDelivery extends DeliveryKey {
  state: 'sending' | 'retrying';
  dueAt: string;
  lease: string | null;
  attempt: number;
  failureCount: number;
  interruptionCount: number;
}

/**
 * Leases the given deliveries that are still waiting, and increments their counts of attempts. The lease is committed before
 * anything is sent. A delivery that another worker takes or has locked at the same moment is left out.
 */
export async function leaseDeliveries(
  engine: Engine,
  keys: readonly DeliveryKey[],
  lease: string,
  until: Date,
): Promise<LeasedDelivery[]> {
  const { chosenIn, forUpdateSkipLocked } = engine.dialect;
  // `withoutIndex` hides the state from the planner, which would otherwise read the whole index of waiting deliveries.
  const lists = await byCompany(engine, keys, (some, company) =>
    engine.write(sql<LeasedRow>`
    WITH free AS MATERIALIZED (
      SELECT d.company, d.webhook, d.id FROM ${chosenIn(keyRows(some))} CROSS JOIN deliveries AS d
      WHERE ${isChosen('d')} AND ${boundTo(company, 'd.company')} AND ${withoutIndex('d.state')} = 'waiting' ${forUpdateSkipLocked}
    )
    UPDATE deliveries
    SET state = 'sending', lease = ${lease}, due_at = ${until.toISOString()}, attempt_count = attempt_count + 1
    FROM free
    WHERE deliveries.company = free.company AND deliveries.webhook = free.webhook AND deliveries.id = free.id
      AND ${boundTo(company, 'deliveries.company')}
    RETURNING deliveries.company, deliveries.webhook, deliveries.id, attempt_count AS attempt,
      failure_count AS "failureCount",
      ${selected(['kind', 'created_at', 'data', 'is_test'], sql`events AS e WHERE e.company = deliveries.company AND e.id = deliveries.event AND ${boundTo(company, 'e.company')}`)},
      ${selected(
        ['url', 'secret', 'deleted_at', 'paused_at'],
        sql`webhooks AS w WHERE w.company = deliveries.company AND w.id = deliveries.webhook AND ${boundTo(company, 'w.company')}`,
      )},
      ${selected(
        ['api_enabled', 'subscription_active', 'invoicing_enabled', 'modules'],
        sql`companies AS c WHERE c.id = deliveries.company AND ${boundTo(company, 'c.id')}`,
      )}`),
  );
  return resultsOf(lists)
    .flat()
    .map((row) => toLeased(row, lease));
}

/** Selects columns of one row of another table by subqueries, because RETURNING has no joins. */
function selected(columns: readonly string[], from: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql.join(columns.map((name) => sql`(SELECT ${sql.ref(name)} FROM ${from}) AS ${sql.ref(name)}`));
}

type LeasedColumn =
  'company' | 'webhook' | 'id' | 'attempt' | 'failureCount' | 'kind' | 'data' | 'url' | 'secret';

interface LeasedRow extends Pick<LeasedDelivery, LeasedColumn>, SwitchColumns {
  created_at: string;
  is_test: number;
  deleted_at: string | null;
  paused_at: string | null;
}

function toLeased(row: LeasedRow, lease: string): LeasedDelivery {
  return {
    ...row,
    lease,
    createdAt: row.created_at,
    isTest: row.kind === 'ping' || row.is_test === 1,
    isWebhookDeleted: row.deleted_at !== null,
    isWebhookPaused: row.paused_at !== null,
    switches: switchesOf(row),
  };
}

/** SQL condition for deliveries with a due time; must equal that of the partial index `deliveries_timed`. */
const isTimed = sql<boolean>`state IN ('sending', 'retrying')`;

/** Lists the deliveries that are due, earliest first. */
export async function listTimed(engine: Engine, now: Date, countMax: number): Promise<TimedDelivery[]> {
  return ofAllCompanies(
    engine,
    (isReached) => sql<TimedDelivery>`
      SELECT company, webhook, id, state, due_at AS "dueAt", lease, attempt_count AS attempt,
        failure_count AS "failureCount", interruption_count AS "interruptionCount"
      FROM deliveries WHERE ${isTimed} AND due_at <= ${now.toISOString()} AND ${isReached('company')} ORDER BY due_at LIMIT ${countMax}`,
  );
}

/** Moves due retries to `waiting`. */
export async function bringForward(engine: Engine, keys: readonly DeliveryKey[], now: Date): Promise<void> {
  // Retries are found by key, because the index of timed deliveries holds every retry.
  const done = await byCompany(engine, keys, (some, company) =>
    engine.write(sql`
      UPDATE deliveries SET state = 'waiting' FROM ${engine.dialect.chosenIn(keyRows(some))}
      WHERE ${isChosen('deliveries')} AND ${boundTo(company)}
        AND ${withoutIndex('state')} = 'retrying' AND due_at <= ${now.toISOString()}`),
  );
  resultsOf(done);
}

/** Returns the time when the next retry is due or the next lease ends; undefined when there is neither. */
export async function nextDeliveryTime(engine: Engine): Promise<string | undefined> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ due_at: string }>`
      SELECT due_at FROM deliveries WHERE ${isTimed} AND ${isReached('company')} ORDER BY due_at LIMIT 1`,
  );
  return rows.map(({ due_at }) => due_at).toSorted()[0];
}

/** Counts waiting deliveries, up to `countMax`: an exact count of many would take too long. */
export async function countWaiting(engine: Engine, countMax: number): Promise<number> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ count: number | string }>`
      SELECT COUNT(*) AS count
      FROM (SELECT 1 FROM deliveries WHERE state = 'waiting' AND ${isReached('company')} LIMIT ${countMax}) AS counted`,
  );
  return Math.min(
    countMax,
    rows.reduce((sum, { count }) => sum + Number(count), 0),
  );
}
