import { sql } from 'kysely';

import {
  chosenIn,
  chosenInteger,
  chosenText,
  type DeliveryKey,
  isChosen,
  rowsOf,
  written,
} from './delivery-keys.ts';
import type { Engine } from './engine.ts';
import type { DeliveryState } from './schema.ts';

/** How an attempt went, as it is kept. */
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

/** What becomes of a delivery that was leased. */
export interface DeliveryResult extends DeliveryKey {
  lease: string;
  state: Exclude<DeliveryState, 'sending'>;
  dueAt: string;
  failureCount: number;
  interruptionCount: number;
  /** Why it is withheld, when it is. */
  withheldFor: string | null;
  /** Undefined when nothing was sent: then the attempt doesn't count. */
  attempt: KeptAttempt | undefined;
}

/**
 * Writes how a group of deliveries went, all or none.
 * @returns how many were dropped because their lease had passed to somebody else, who tells how it went.
 */
export type RecordResults = (results: readonly DeliveryResult[]) => Promise<number>;

export function createResultWriter(engine: Engine): RecordResults {
  const settle = engine.command((db, value: { results: string }) =>
    written(db, settleQuery(engine, value.results)),
  );
  const keep = engine.command((db, value: { attempts: string }) =>
    written(db, attemptsQuery(engine, value.attempts)),
  );
  return async (results) =>
    engine.transaction(async (transaction) => {
      const settled = await settle(transaction, { results: rowsOf(results.map(settledRow)) });
      const owned = new Set(settled.map(textOf));
      const attempts = results.filter((result) => owned.has(textOf(result))).flatMap(attemptRows);
      if (attempts.length > 0) await keep(transaction, { attempts: rowsOf(attempts) });
      return results.length - settled.length;
    });
}

const textOf = ({ company, webhook, id }: DeliveryKey) => `${company} ${webhook} ${id}`;

function settledRow(result: DeliveryResult): (string | number | null)[] {
  const { company, webhook, id, lease, state, dueAt, failureCount, interruptionCount, withheldFor } = result;
  const uncounted = result.attempt === undefined ? 1 : 0;
  return [company, webhook, id, lease, state, dueAt, failureCount, interruptionCount, withheldFor, uncounted];
}

function settleQuery(engine: Engine, results: string) {
  return sql<DeliveryKey>`
    UPDATE deliveries
    SET state = ${chosenText(4)}, due_at = ${chosenText(5)}, failure_count = ${chosenInteger(6)},
      interruption_count = ${chosenInteger(7)}, withheld_for = ${chosenText(8)},
      attempt_count = attempt_count - ${chosenInteger(9)}, lease = NULL
    FROM ${chosenIn(engine, results)}
    WHERE ${isChosen('deliveries')} AND deliveries.state = 'sending' AND deliveries.lease = ${chosenText(3)}
    RETURNING deliveries.company, deliveries.webhook, deliveries.id`;
}

function attemptRows({ company, webhook, id, attempt }: DeliveryResult): (string | number | null)[][] {
  if (!attempt) return [];
  const { number, attemptedAt, status, error, phases, totalMs, nextAttemptAt } = attempt;
  const { dns, connect, tls, firstByte } = phases;
  return [
    [
      company,
      webhook,
      id,
      number,
      attemptedAt,
      status,
      error,
      dns,
      connect,
      tls,
      firstByte,
      totalMs,
      nextAttemptAt,
    ],
  ];
}

function attemptsQuery(engine: Engine, attempts: string) {
  const integers = (...places: number[]) => sql.join(places.map(chosenInteger));
  return sql<never>`
    INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, error,
      dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, next_attempt_at)
    SELECT ${chosenText(0)}, ${chosenText(1)}, ${chosenText(2)}, ${chosenInteger(3)}, ${chosenText(4)},
      ${chosenInteger(5)}, ${chosenText(6)}, ${integers(7, 8, 9, 10, 11)}, ${chosenText(12)}
    FROM ${chosenIn(engine, attempts)}
    WHERE TRUE
    ON CONFLICT DO NOTHING`;
}
