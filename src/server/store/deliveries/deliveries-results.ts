import { type RawBuilder, sql } from 'kysely';

import { chosenInteger, chosenText, type DeliveryKey, isChosen, rowsOf } from './delivery-keys.ts';
import type { Engine } from '../engines/engine.ts';
import type { DeliveryState } from '../schema.ts';

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
 * Writes the results of a group of deliveries, all or none.
 * @returns the number of results that were dropped because another worker has the lease now, which will write its own.
 */
export async function recordResults(engine: Engine, results: readonly DeliveryResult[]): Promise<number> {
  const write = engine.dialect.readsChanges ? writeAtOnce : writeInTwoSteps;
  return results.length - (await write(engine, results));
}

/** For databases that can't insert what a statement returns. */
async function writeInTwoSteps(engine: Engine, results: readonly DeliveryResult[]): Promise<number> {
  const { chosenIn } = engine.dialect;
  return engine.transaction(async (transaction) => {
    const { rows: settled } = await settleQuery(
      chosenIn(resultRows(results)),
      sql<DeliveryKey>`company, webhook, id`,
    ).execute(transaction);
    const owned = new Set(settled.map(textOf));
    const attempted = results.filter((result) => result.attempt && owned.has(textOf(result)));
    if (attempted.length > 0) await attemptsQuery(chosenIn(resultRows(attempted))).execute(transaction);
    return settled.length;
  });
}

/** One statement: one round trip, and a transaction by itself. */
async function writeAtOnce({ db, dialect }: Engine, results: readonly DeliveryResult[]): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    WITH settled AS (${settleQuery(dialect.chosenIn(resultRows(results)), sql`chosen.value`)}),
    kept AS (${attemptsQuery(sql`settled AS chosen (value)`)})
    SELECT COUNT(*) AS count FROM settled`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

/** A delivery's key as one text. */
const textOf = ({ company, webhook, id }: DeliveryKey) => `${company} ${webhook} ${id}`;

/** Results as rows of values, whose places the statements below use. */
function resultRows(results: readonly DeliveryResult[]): string {
  return rowsOf(results.map(toRow));
}

function toRow(result: DeliveryResult): (string | number | null)[] {
  const { company, webhook, id, lease, state, dueAt, failureCount, interruptionCount, withheldFor } = result;
  const { attempt } = result;
  const settled = [state, dueAt, failureCount, interruptionCount, withheldFor, attempt ? 0 : 1];
  const row = [company, webhook, id, lease, ...settled];
  if (!attempt) return row;
  const { number, attemptedAt, status, error, phases, totalMs, nextAttemptAt } = attempt;
  const { dns, connect, tls, firstByte } = phases;
  return [
    ...row,
    ...[number, attemptedAt, status, error],
    ...[dns, connect, tls, firstByte],
    ...[totalMs, nextAttemptAt],
  ];
}

/** Settles the chosen results. Only a delivery that is being sent has a lease. */
function settleQuery<Row>(results: RawBuilder<unknown>, returning: RawBuilder<Row>): RawBuilder<Row> {
  return sql<Row>`
    UPDATE deliveries
    SET state = ${chosenText(4)}, due_at = ${chosenText(5)}, failure_count = ${chosenInteger(6)},
      interruption_count = ${chosenInteger(7)}, withheld_for = ${chosenText(8)},
      attempt_count = attempt_count - ${chosenInteger(9)}, lease = NULL
    FROM ${results}
    WHERE ${isChosen('deliveries')} AND deliveries.lease = ${chosenText(3)}
    RETURNING ${returning}`;
}

/** Keeps the attempts of the chosen results. */
function attemptsQuery(results: RawBuilder<unknown>): RawBuilder<never> {
  const integers = (...places: number[]) => sql.join(places.map(chosenInteger));
  return sql<never>`
    INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, error,
      dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, next_attempt_at)
    SELECT ${chosenText(0)}, ${chosenText(1)}, ${chosenText(2)}, ${chosenInteger(10)}, ${chosenText(11)},
      ${chosenInteger(12)}, ${chosenText(13)}, ${integers(14, 15, 16, 17, 18)}, ${chosenText(19)}
    FROM ${results}
    WHERE ${chosenText(10)} IS NOT NULL
    ON CONFLICT DO NOTHING`;
}
