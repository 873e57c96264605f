import { setTimeout as pause } from 'node:timers/promises';

import { sql } from 'kysely';

import type { Logger } from '../../../process/log.ts';
import { dialectOf } from '../../../store/dialects/dialect.ts';
import { chosenInteger, chosenText, type DeliveryKey, isChosen, rowsOf } from './delivery-keys.ts';
import type { Engine, StoreTransaction } from '../../../store/engines/engine.ts';
import type { DeliveryState } from '../../../store/tables/webhooks.ts';
import type { AttemptDetails } from '../../../sending/sender.ts';
import { boundTo, byCompany, isPartAway, type StatementCompany } from '../../../store/machines.ts';
import { type CountedAttempt, countAttempts } from '../webhook-health.ts';
import { noteFailures } from '../webhook-outages.ts';

/** An attempt as stored. */
export interface KeptAttempt extends AttemptDetails {
  number: number;
  attemptedAt: string;
  /** The error class; exactly one of `status` and `error` is set. */
  error: string | null;
  nextAttemptAt: string | null;
}

/** The new state of a leased delivery. */
export interface DeliveryResult extends DeliveryKey {
  lease: string;
  state: Exclude<DeliveryState, 'sending'>;
  dueAt: string;
  failureCount: number;
  interruptionCount: number;
  withheldFor: string | null;
  /** The attempt; undefined when nothing was sent, which doesn't count as an attempt. */
  attempt: KeptAttempt | undefined;
  /** Whether the delivery is a ping or a sample. Its sender sees when it fails, so it doesn't count as a failed delivery. */
  isTest?: boolean;
}

/** Period whose results are committed together: one commit costs as much as a dozen results. */
const GROUP_MS = 3;
const GROUP_MAX = 256;
/** Delay before a failed write is retried. */
const RETRY_MS = 250;

interface Waiting extends DeliveryResult {
  onWritten: (value: undefined) => void;
}

/**
 * A writer of delivery results, in groups and in order of arrival. While the database can't be written, results wait here and
 * are retried. Their number is bounded by the deliveries under way: each keeps its slot until its result is written.
 */
export class ResultGroup {
  readonly #engine: Engine;
  readonly #log: Logger;
  readonly #onStale: (count: number) => void;
  readonly #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #isStuck = false;
  #isAbandoned = false;

  /** @param onStale receives the number of results dropped because another worker has the lease. */
  constructor(engine: Engine, log: Logger, onStale: (count: number) => void) {
    this.#engine = engine;
    this.#log = log;
    this.#onStale = onStale;
  }

  /** Whether the last write failed. No delivery should begin then, because its result couldn't be written either. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Queues a result. Resolves when it is committed, or given up because the database refuses it. */
  async add(result: DeliveryResult): Promise<void> {
    const { promise, resolve: onWritten } = Promise.withResolvers<undefined>();
    this.#waiting.push({ ...result, onWritten });
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await promise;
  }

  /** Resolves when all queued results are written. */
  async written(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Gives up all results that aren't written yet. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isAbandoned) {
      await pause(this.#isStuck ? RETRY_MS : GROUP_MS);
      if (!(await this.#write(this.#waiting.slice(0, GROUP_MAX)))) continue;
      if (this.#isStuck) this.#log.info('deliveries.written-again');
      this.#isStuck = false;
    }
  }

  /** Writes a group of results. @returns false when the database can't take results now. */
  async #write(group: readonly Waiting[]): Promise<boolean> {
    const done = await byCompany(this.#engine, group, (some, company) =>
      recordResults(this.#engine, some, company),
    );
    // Written results are finished first, so that none is written twice when others have to wait.
    for (const { rows, outcome } of done)
      if (outcome.status === 'fulfilled') this.#finish(rows, outcome.value);
    for (const { rows, outcome } of done)
      if (outcome.status === 'rejected' && !(await this.#giveUp(rows, outcome.reason))) return false;
    return true;
  }

  #finish(group: readonly Waiting[], staleCount = 0): void {
    if (staleCount > 0) this.#onStale(staleCount);
    for (const one of group) {
      this.#waiting.splice(this.#waiting.indexOf(one), 1);
      one.onWritten(undefined);
    }
  }

  /**
   * Gives up results that the database refuses, or whose company's machine is unreachable while others answer. Their leases
   * run out, and the attempts count as interrupted. Other results don't wait for them. @returns false when all have to wait.
   */
  async #giveUp(group: readonly Waiting[], error: unknown): Promise<boolean> {
    if (isRefusal(error) && group.length > 1) {
      for (const one of group) if (!(await this.#write([one]))) return false;
      return true;
    }
    if (!isRefusal(error) && !(await isPartAway(this.#engine))) return this.#getStuck(error);
    for (const { company, webhook, id } of group)
      this.#log.error({ company, webhook, delivery: id, err: error }, 'delivery.result-refused');
    this.#finish(group);
    return true;
  }

  #getStuck(error: unknown): false {
    if (!this.#isStuck)
      this.#log.error({ err: error, results: this.#waiting.length }, 'deliveries.not-written');
    this.#isStuck = true;
    return false;
  }
}

/**
 * Whether the database can never take the given values: one is out of range, or breaks a rule of its table (SQLSTATE classes
 * 22 and 23). Other errors may be temporary.
 */
function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(?:SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)|2[23]\w{3}$)/.test(code);
}

/**
 * Writes the results of a group of deliveries, counts their attempts and notes failures, in one transaction.
 * @returns the number of results dropped because another worker now has the lease, and will write its own result.
 */
export async function recordResults(
  engine: Engine,
  results: readonly DeliveryResult[],
  company?: StatementCompany,
): Promise<number> {
  return engine.transaction(async (transaction) => {
    const settled = new Set((await settle(transaction, results, company)).map(textOf));
    const attempted = results.filter((result) => result.attempt && settled.has(textOf(result)));
    if (attempted.length > 0) await countAttempts(transaction, await keepAttempts(transaction, attempted));
    await noteFailures(
      transaction,
      attempted.filter(({ isTest }) => !isTest),
    );
    return results.length - settled.size;
  });
}

const textOf = ({ company, webhook, id }: DeliveryKey) => `${company} ${webhook} ${id}`;

/** Writes the results of deliveries that this worker still leases. @returns the keys of these deliveries. */
async function settle(
  transaction: StoreTransaction,
  results: readonly DeliveryResult[],
  company: StatementCompany,
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
    WHERE ${isChosen('deliveries')} AND ${boundTo(company)} AND deliveries.lease = ${chosenText(3)}
    RETURNING company, webhook, id`.execute(transaction);
  return settled.rows;
}

/** Stores the attempts of results. @returns the attempts that weren't stored already. */
async function keepAttempts(
  transaction: StoreTransaction,
  results: readonly DeliveryResult[],
): Promise<CountedAttempt[]> {
  const rows = results.flatMap(({ company, webhook, id, attempt }) => {
    if (!attempt) return [];
    const { number, attemptedAt, status, error, phases, totalMs, nextAttemptAt, answerText = null } = attempt;
    const { dns, connect, tls, firstByte } = phases;
    const times = [dns, connect, tls, firstByte, totalMs, nextAttemptAt, answerText];
    return [[company, webhook, id, number, attemptedAt, status, error, ...times]];
  });
  const integers = (...places: number[]) => sql.join(places.map(chosenInteger));
  const kept = await sql<CountedAttempt>`
    INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, error,
      dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, next_attempt_at, answer_text)
    SELECT ${chosenText(0)}, ${chosenText(1)}, ${chosenText(2)}, ${chosenInteger(3)}, ${chosenText(4)},
      ${chosenInteger(5)}, ${chosenText(6)}, ${integers(7, 8, 9, 10, 11)}, ${chosenText(12)}, ${chosenText(13)}
    FROM ${dialectOf(transaction).chosenIn(rowsOf(rows))}
    WHERE TRUE
    ON CONFLICT DO NOTHING
    RETURNING company, webhook, delivery, attempted_at AS at, status, error`.execute(transaction);
  const known = new Map(results.map((result) => [textOf(result), result]));
  return kept.rows.map((row) => {
    const { attempt, isTest } = known.get(textOf({ ...row, id: row.delivery })) ?? {};
    return { ...row, answerText: attempt?.answerText, isTest };
  });
}
