import { sql } from 'kysely';

import { dialectOf } from '../dialects/dialect.ts';
import { chosenInteger, chosenText, type DeliveryKey, isChosen, rowsOf } from './delivery-keys.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { DeliveryState } from '../schema.ts';
import { type CountedAttempt, countAttempts } from './webhook-health.ts';

/** An attempt and its result, as they are kept. */
export interface KeptAttempt {
  number: number;
  attemptedAt: string;
  /** One of `status` and `error`, which is a class of errors, is set. */
  status: number | null;
  error: string | null;
  /** Whole milliseconds in each phase; null for one that wasn't entered. */
  phases: { dns: number | null; connect: number | null; tls: number | null; firstByte: number | null };
  totalMs: number;
  nextAttemptAt: string | null;
}

/** The new state of a delivery that was leased. */
export interface DeliveryResult extends DeliveryKey {
  lease: string;
  state: Exclude<DeliveryState, 'sending'>;
  dueAt: string;
  failureCount: number;
  interruptionCount: number;
  /** The reason why it is withheld; null when it isn't. */
  withheldFor: string | null;
  /** Undefined when nothing was sent: then the attempt doesn't count. */
  attempt: KeptAttempt | undefined;
}

/**
 * Whether the database can never take the given values: one is out of range, or breaks a rule of its table (SQLSTATE
 * classes 22 and 23). Other errors may pass.
 */
export function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(?:SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)|2[23]\w{3}$)/.test(code);
}

/**
 * Writes the results of a group of deliveries, and counts their attempts, all or none.
 * @returns the number of results that were dropped because another worker has the lease now, which will write its own.
 */
export async function recordResults(engine: Engine, results: readonly DeliveryResult[]): Promise<number> {
  return engine.transaction(async (transaction) => {
    const settled = new Set((await settle(transaction, results)).map(textOf));
    const attempted = results.filter((result) => result.attempt && settled.has(textOf(result)));
    if (attempted.length > 0) await countAttempts(transaction, await keepAttempts(transaction, attempted));
    return results.length - settled.size;
  });
}

/** A delivery's key as one text. */
const textOf = ({ company, webhook, id }: DeliveryKey) => `${company} ${webhook} ${id}`;

/** Settles results. Only a delivery that is being sent has a lease. @returns the deliveries that were this worker's. */
async function settle(
  transaction: StoreTransaction,
  results: readonly DeliveryResult[],
): Promise<DeliveryKey[]> {
  const rows = results.map((result) => [
    ...[result.company, result.webhook, result.id, result.lease, result.state, result.dueAt],
    ...[result.failureCount, result.interruptionCount, result.withheldFor, result.attempt ? 0 : 1],
  ]);
  const settled = await sql<DeliveryKey>`
    UPDATE deliveries
    SET state = ${chosenText(4)}, due_at = ${chosenText(5)}, failure_count = ${chosenInteger(6)},
      interruption_count = ${chosenInteger(7)}, withheld_for = ${chosenText(8)},
      attempt_count = attempt_count - ${chosenInteger(9)}, lease = NULL
    FROM ${dialectOf(transaction).chosenIn(rowsOf(rows))}
    WHERE ${isChosen('deliveries')} AND deliveries.lease = ${chosenText(3)}
    RETURNING company, webhook, id`.execute(transaction);
  return settled.rows;
}

/** Keeps the attempts of results. @returns those that weren't kept already. */
async function keepAttempts(
  transaction: StoreTransaction,
  results: readonly DeliveryResult[],
): Promise<CountedAttempt[]> {
  const rows = results.flatMap(({ company, webhook, id, attempt }) => {
    if (!attempt) return [];
    const { number, attemptedAt, status, error, phases, totalMs, nextAttemptAt } = attempt;
    const { dns, connect, tls, firstByte } = phases;
    const times = [dns, connect, tls, firstByte, totalMs, nextAttemptAt];
    return [[company, webhook, id, number, attemptedAt, status, error, ...times]];
  });
  const integers = (...places: number[]) => sql.join(places.map(chosenInteger));
  const kept = await sql<CountedAttempt>`
    INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, error,
      dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, next_attempt_at)
    SELECT ${chosenText(0)}, ${chosenText(1)}, ${chosenText(2)}, ${chosenInteger(3)}, ${chosenText(4)},
      ${chosenInteger(5)}, ${chosenText(6)}, ${integers(7, 8, 9, 10, 11)}, ${chosenText(12)}
    FROM ${dialectOf(transaction).chosenIn(rowsOf(rows))}
    WHERE TRUE
    ON CONFLICT DO NOTHING
    RETURNING company, webhook, delivery, attempted_at AS at, status, error`.execute(transaction);
  return kept.rows;
}
