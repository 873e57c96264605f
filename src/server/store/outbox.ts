import { randomUUID } from 'node:crypto';

import { type RawBuilder, type Selectable, sql } from 'kysely';

import { DAY_MS } from '../../contract/durations.ts';
import type { Logger } from '../process/log.ts';
import { inLanes } from '../process/repeating.ts';
import { dialectOf } from './dialects/dialect.ts';
import type { Engine, StoreTransaction } from './engines/engine.ts';
import { ofAllCompanies } from './machines.ts';
import type { Tables } from './tables/tables.ts';

/*
 * The queues of what is sent once, by any process: mails and documents. Their rows are committed with what they are about.
 */

/** The queues, with the days after which a row that was never sent is sent no more. A mail's are those of RFC 5321 section 4.5.4.1. */
export const QUEUE_DAYS = { notices: 5, hand_overs: 30 } as const;

type QueueName = keyof typeof QUEUE_DAYS;

export interface DueKey {
  queue: QueueName;
  company: string;
  id: string;
}

/** A row that is to be sent, or is being sent. Older ones were committed while there was no way to send them. */
function isOpen(queue: QueueName, now: Date): RawBuilder<boolean> {
  const oldest = new Date(now.getTime() - QUEUE_DAYS[queue] * DAY_MS).toISOString();
  // The first condition must equal that of the partial index of each queue, `…_due`.
  return sql<boolean>`state IN ('waiting', 'sending') AND due_at > ${oldest}`;
}

/** Rows whose time has come: to be tried, or to be taken over from a worker whose lease has run out. */
function isDue(queue: QueueName, now: Date): RawBuilder<boolean> {
  return sql<boolean>`${isOpen(queue, now)} AND due_at <= ${now.toISOString()}`;
}

/** So many of the oldest rows are sorted for each pass, which takes SQLite some 20 ms. */
const SORTED_MAX = 10_000;

/** Rows that are to be sent now: companies take turns, and of each those that have waited longest come first. */
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

/** For how many seconds the oldest of the rows that are to be sent has waited; 0 if there is none. */
export async function secondsOfOldest(engine: Engine, queue: QueueName, now: Date): Promise<number> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ at: string | null }>`
      SELECT MIN(created_at) AS at FROM ${sql.table(queue)} ${engine.dialect.indexedBy(`${queue}_due`)}
      WHERE ${isOpen(queue, now)} AND ${isReached('company')}`,
  );
  return Math.max(0, ...rows.map(({ at }) => (at === null ? 0 : (now.getTime() - Date.parse(at)) / 1000)));
}

/** The state that a row gets: `sending` comes with the item that is to be sent. */
export interface Prepared<Item> {
  state: string;
  problem?: string;
  item?: Item;
}

/**
 * Takes a lease on a row that is due, and finds out what to send, in one transaction; it is committed before anything is sent.
 * @returns undefined when nothing is to be sent, and when another worker has taken it.
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

/** The outcome of an attempt as it is kept. */
export interface Settlement {
  state: string;
  problem: string | null;
  /** When it is tried again, or when it was settled. */
  dueAt: Date;
}

/** Keeps the outcome of an attempt. @returns false when another worker has taken the lease, whose outcome counts then. */
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

/** A queue and how its rows are sent. */
export interface Outbox<Queue extends QueueName, Item, Outcome> {
  queue: Queue;
  /** The state of a row that was sent. */
  sent: string;
  /** Rows that are sent at once. */
  atOnce: number;
  /** Longer than an attempt can take: another worker takes over only what was abandoned. */
  leaseMs: number;
  /** Finds out what to send, in the transaction of the lease. */
  prepare: (
    transaction: StoreTransaction,
    row: Selectable<Tables[Queue]>,
    now: Date,
  ) => Promise<Prepared<Item>>;
  attempt: (item: Item) => Promise<Outcome>;
  /** When a row whose attempt failed is tried again; undefined when it has failed for good. */
  nextTry: (item: Item, outcome: Outcome, now: Date) => Date | undefined;
  /** Keeps more of an outcome, in its transaction. */
  settle: (
    transaction: StoreTransaction,
    item: Item,
    settled: Settlement & { outcome: Outcome; at: Date; ms: number; next: Date | undefined },
  ) => Promise<void>;
  /** The names of its lines in the log, and the members by which they tell an item. */
  lines: { attempted: string; failed: string };
  describe: (item: Item) => Record<string, unknown>;
}

/** Rows of one pass. */
const ROWS_MAX = 20;

/**
 * Sends what is due in a queue, a few rows at a time. Any number of processes share the work. A row is sent twice only where the
 * outcome isn't kept: the process ends before, or the database or the receiver is away.
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
  await inLanes(due, { atOnce, signal, onError }, async (key) => {
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
