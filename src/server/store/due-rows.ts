import { type RawBuilder, sql } from 'kysely';

import { DAY_MS } from '../../contract/durations.ts';
import { dialectOf } from './dialects/dialect.ts';
import type { Engine, StoreTransaction } from './engines/engine.ts';
import { ofAllCompanies } from './machines.ts';

/*
 * The queues of what is sent once, by any process: mails and documents. Their rows are committed with what they are about.
 */

/** The queues, with the days after which a row that was never sent is sent no more. A mail's are those of RFC 5321 section 4.5.4.1. */
export const QUEUE_DAYS = { notices: 5, hand_overs: 30 } as const;

export interface DueKey {
  queue: keyof typeof QUEUE_DAYS;
  company: string;
  id: string;
}

/** The columns that all queues have. */
export interface DueRow {
  company: string;
  id: string;
  state: string;
  /** Attempts that were begun. */
  attempt_count: number;
  /** When it is to be sent; while it is being sent, when the lease on it ends. */
  due_at: string;
}

/** A row that is to be sent, or is being sent. Older ones were committed while there was no way to send them. */
function isOpen(queue: DueKey['queue'], now: Date): RawBuilder<boolean> {
  const oldest = new Date(now.getTime() - QUEUE_DAYS[queue] * DAY_MS).toISOString();
  // The first condition must equal that of the partial index of each queue, `…_due`.
  return sql<boolean>`state IN ('waiting', 'sending') AND due_at > ${oldest}`;
}

/** Rows whose time has come: to be tried, or to be taken over from a worker whose lease has run out. */
function isDue(queue: DueKey['queue'], now: Date): RawBuilder<boolean> {
  return sql<boolean>`${isOpen(queue, now)} AND due_at <= ${now.toISOString()}`;
}

/** So many of the oldest rows are sorted for each pass, which takes SQLite some 20 ms. */
const SORTED_MAX = 10_000;

/** Rows that are to be sent now: companies take turns, and of each those that have waited longest come first. */
export async function listDue(
  engine: Engine,
  queue: DueKey['queue'],
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
export async function secondsOfOldest(engine: Engine, queue: DueKey['queue'], now: Date): Promise<number> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<{ at: string | null }>`
      SELECT MIN(created_at) AS at FROM ${sql.table(queue)} ${engine.dialect.indexedBy(`${queue}_due`)}
      WHERE ${isOpen(queue, now)} AND ${isReached('company')}`,
  );
  return Math.max(0, ...rows.map(({ at }) => (at === null ? 0 : (now.getTime() - Date.parse(at)) / 1000)));
}

/** The state that a row gets: `sending` comes with what is to be sent. */
export interface Prepared<T> {
  state: string;
  problem?: string;
  found?: T;
}

/**
 * Takes a lease on a row that is due, and finds out what to send, in one transaction; it is committed before anything is sent.
 * @returns undefined when nothing is to be sent, and when another worker has taken it.
 */
export async function leaseDue<Row extends DueRow, T>(
  engine: Engine,
  { queue, company, id }: DueKey,
  { lease, now, until }: { lease: string; now: Date; until: Date },
  prepare: (transaction: StoreTransaction, row: Row) => Promise<Prepared<T>>,
): Promise<T | undefined> {
  return engine.transaction(async (transaction) => {
    const { forUpdateSkipLocked } = dialectOf(transaction);
    const { rows } = await sql<Row>`
      SELECT * FROM ${sql.table(queue)}
      WHERE company = ${company} AND id = ${id} AND ${isDue(queue, now)} ${forUpdateSkipLocked}`.execute(
      transaction,
    );
    const [row] = rows;
    if (!row) return undefined;
    const prepared = await prepare(transaction, row);
    const problem = prepared.problem === undefined ? sql`` : sql`, problem = ${prepared.problem}`;
    await sql`
      UPDATE ${sql.table(queue)}
      SET state = ${prepared.state}, lease = ${lease}, due_at = ${until.toISOString()}, attempt_count = ${row.attempt_count + 1}
        ${problem}
      WHERE company = ${company} AND id = ${id}`.execute(transaction);
    return prepared.found;
  });
}

/** Keeps the outcome of an attempt. @returns false when another worker has taken the lease, whose outcome counts then. */
export async function settleDue(
  transaction: StoreTransaction,
  { queue, company, id }: DueKey,
  lease: string,
  {
    state,
    problem = null,
    dueAt,
  }: { state: string; problem?: string | null | undefined; dueAt?: Date | undefined },
): Promise<boolean> {
  const due = dueAt ? sql`, due_at = ${dueAt.toISOString()}` : sql``;
  const { numAffectedRows } = await sql`
    UPDATE ${sql.table(queue)} SET state = ${state}, problem = ${problem} ${due}
    WHERE company = ${company} AND id = ${id} AND lease = ${lease}`.execute(transaction);
  return Number(numAffectedRows) === 1;
}
