import { randomUUID } from 'node:crypto';

import { type RawBuilder, type Selectable, sql } from 'kysely';

import { DAY_MS } from '../../contract/durations.ts';
import type { Logger } from '../process/log.ts';
import { forEachConcurrently } from '../process/repeating.ts';
import { dialectOf } from './dialects/dialect.ts';
import type { Engine, StoreTransaction } from './engines/engine.ts';
import { ofAllCompanies } from './machines.ts';
import type { Tables } from './tables/tables.ts';

/*
 * The queues of mails and documents, each sent once by any process. Rows are committed with the change that they are about.
 */

/** Days after which each queue gives up an unsent row; the period for mail is that of RFC 5321 section 4.5.4.1. */
export const QUEUE_DAYS = { notices: 5, hand_overs: 30 } as const;

type QueueName = keyof typeof QUEUE_DAYS;

export interface DueKey {
  queue: QueueName;
  company: string;
  id: string;
}

/** Returns the SQL condition for rows that are waiting or being sent, and aren't too old. */
function isOpen(queue: QueueName, now: Date): RawBuilder<boolean> {
  const oldest = new Date(now.getTime() - QUEUE_DAYS[queue] * DAY_MS).toISOString();
  // The first condition must equal that of each queue's partial index, `…_due`.
  return sql<boolean>`state IN ('waiting', 'sending') AND due_at > ${oldest}`;
}

/** Returns the SQL condition for rows that are due for an attempt, or whose worker's lease has expired. */
function isDue(queue: QueueName, now: Date): RawBuilder<boolean> {
  return sql<boolean>`${isOpen(queue, now)} AND due_at <= ${now.toISOString()}`;
}

/** Maximum number of the oldest rows that each pass sorts, which takes SQLite about 20 ms. */
const SORTED_MAX = 10_000;

/** Returns rows that are due now: companies take turns, each with the longest-waiting row first. */
export async function listDue(
  engine: Engine,
  queue: QueueName,
  now: Date,
  countMax: number,
): Promise<DueKey[]> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<Omit<DueKey, 'queue'>>`
      SELECT company, id FROM (
        SELECT company, id, due_at FROM ${sql.table(queue)} WHERE ${isDue(queue, now)} AND ${isReached('company')}
        ORDER BY due_at LIMIT ${SORTED_MAX}
      ) AS oldest
      ORDER BY ROW_NUMBER() OVER (PARTITION BY company ORDER BY due_at), due_at LIMIT ${countMax}`,
  );
  return rows.map((row) => ({ ...row, queue }));
}

/** Returns the age in seconds of the oldest unsent row; 0 if there is none. */
export async function secondsOfOldest(engine: Engine, queue: QueueName, now: Date): Promise<number> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ at: string | null }>`
      SELECT MIN(created_at) AS at FROM ${sql.table(queue)} ${engine.dialect.indexedBy(`${queue}_due`)}
      WHERE ${isOpen(queue, now)} AND ${isReached('company')}`,
  );
  return Math.max(0, ...rows.map(({ at }) => (at === null ? 0 : (now.getTime() - Date.parse(at)) / 1000)));
}

/** A row's next state, with the item to send if the state is `sending`. */
export interface Prepared<Item> {
  state: string;
  problem?: string;
  item?: Item;
}

/**
 * Takes a lease on a due row and returns the item to send, in one transaction that commits before anything is sent.
 * @returns undefined when there is nothing to send, or another worker has taken the row.
 */
export async function leaseDue<Queue extends QueueName, Item>(
  engine: Engine,
  { queue, company, id }: DueKey & { queue: Queue },
  { lease, now, until }: { lease: string; now: Date; until: Date },
  prepare: Outbox<Queue, Item, never>['prepare'],
): Promise<Item | undefined> {
  return engine.transaction(async (transaction) => {
    const { forUpdateSkipLocked } = dialectOf(transaction);
    const { rows } = await sql<Selectable<Tables[Queue]>>`
      SELECT * FROM ${sql.table(queue)}
      WHERE company = ${company} AND id = ${id} AND ${isDue(queue, now)} ${forUpdateSkipLocked}`.execute(
      transaction,
    );
    const [row] = rows;
    if (!row) return undefined;
    const prepared = await prepare(transaction, row, now);
    const problem = prepared.problem === undefined ? sql`` : sql`, problem = ${prepared.problem}`;
    await sql`
      UPDATE ${sql.table(queue)}
      SET state = ${prepared.state}, lease = ${lease}, due_at = ${until.toISOString()}, attempt_count = attempt_count + 1
        ${problem}
      WHERE company = ${company} AND id = ${id}`.execute(transaction);
    return prepared.item;
  });
}

/** The outcome of an attempt, in the form in which it is stored. */
export interface Settlement {
  state: string;
  problem: string | null;
  /** The time of the next attempt, or else the time at which the row was settled. */
  dueAt: Date;
}

/** Stores an attempt's outcome. @returns false when another worker has taken over the lease: its outcome counts. */
export async function settleDue(
  transaction: StoreTransaction,
  { queue, company, id }: DueKey,
  lease: string,
  { state, problem, dueAt }: Settlement,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE ${sql.table(queue)} SET state = ${state}, problem = ${problem}, due_at = ${dueAt.toISOString()}
    WHERE company = ${company} AND id = ${id} AND lease = ${lease}`.execute(transaction);
  return Number(numAffectedRows) === 1;
}

/** A queue of rows to send, and the way in which they are sent. */
export interface Outbox<Queue extends QueueName, Item, Outcome> {
  queue: Queue;
  /** The state of a row that has been sent. */
  sent: string;
  /** Maximum number of rows that are sent at the same time. */
  atOnce: number;
  /** Milliseconds of a lease, longer than any attempt, so that other workers take over only abandoned rows. */
  leaseMs: number;
  /** Returns a row's next state, with the item to send, in the transaction that takes the lease. */
  prepare: (
    transaction: StoreTransaction,
    row: Selectable<Tables[Queue]>,
    now: Date,
  ) => Promise<Prepared<Item>>;
  attempt: (item: Item) => Promise<Outcome>;
  /** Returns the time of the next attempt after a failed one; undefined when there is none. */
  nextTry: (item: Item, outcome: Outcome, now: Date) => Date | undefined;
  /** Stores further data about an outcome, in the transaction that stores the outcome. */
  settle: (
    transaction: StoreTransaction,
    item: Item,
    settled: Settlement & { outcome: Outcome; at: Date; ms: number; next: Date | undefined },
  ) => Promise<void>;
  /** The names of the queue's log lines; `describe` returns the members that identify an item in them. */
  lines: { attempted: string; failed: string };
  describe: (item: Item) => Record<string, unknown>;
}

/** Maximum number of rows that one pass sends. */
const ROWS_MAX = 20;

/**
 * Sends the due rows of a queue, a few at a time. Any number of processes share the work. A row is sent twice only if its
 * outcome couldn't be stored: because the process ended first, or the database or the receiver was unreachable.
 */
export async function sendDue<
  Queue extends QueueName,
  Item,
  Outcome extends { problem?: string | undefined },
>(
  outbox: Outbox<Queue, Item, Outcome>,
  { engine, log, now }: { engine: Engine; log: Logger; now: () => Date },
  signal?: AbortSignal,
): Promise<void> {
  const { queue, atOnce, leaseMs, lines } = outbox;
  const due = await listDue(engine, queue, now(), ROWS_MAX);
  const onError = (err: unknown, { company, id }: DueKey) => log.warn({ company, id, err }, lines.failed);
  await forEachConcurrently(due, { atOnce, signal, onError }, async (key) => {
    const [lease, at, startedAt] = [randomUUID(), now(), performance.now()];
    const until = new Date(at.getTime() + leaseMs);
    const item = await leaseDue(engine, { ...key, queue }, { lease, now: at, until }, outbox.prepare);
    if (item === undefined) return;
    const outcome = await outbox.attempt(item);
    const [endedAt, ms] = [now(), Math.round(performance.now() - startedAt)];
    const { problem = null } = outcome;
    const next = problem === null ? undefined : outbox.nextTry(item, outcome, endedAt);
    const state = problem === null ? outbox.sent : next ? 'waiting' : 'failed';
    const settled = { state, problem, dueAt: next ?? endedAt };
    await engine.transaction(async (transaction) => {
      if (await settleDue(transaction, key, lease, settled))
        await outbox.settle(transaction, item, { ...settled, outcome, at, ms, next });
    });
    const line = { company: key.company, ...outbox.describe(item), state, problem, next, ms };
    log[state === 'failed' ? 'warn' : 'info'](line, lines.attempted);
  });
}
