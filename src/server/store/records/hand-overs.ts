import { type RawBuilder, type Selectable, sql } from 'kysely';

import type { InvoiceSummary } from '../../../contract/records.ts';
import { DAY_MS } from '../../../contract/durations.ts';
import type { Connection } from '../dialects/dialect.ts';
import { QUEUE_DAYS } from '../outbox.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { ofAllCompanies } from '../machines.ts';
import { type HandOverAttempt, handOvers } from '../tables/documents.ts';
import { readRow, type RowOf } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';

export type HandOverState = HandOver['state'];

/** The way of a document to the access point. */
export type HandOver = Omit<RowOf<typeof handOvers>, 'createdAt' | 'lease'>;

export function toHandOver({
  created_at: _at,
  lease: _lease,
  ...row
}: Selectable<Tables['hand_overs']>): HandOver {
  return readRow(handOvers, row);
}

/** Has a document handed over, in the transaction of its issue. */
export async function addHandOver(
  transaction: StoreTransaction,
  { company, id, now }: { company: string; id: string; now: Date },
): Promise<void> {
  const at = now.toISOString();
  await transaction.insertInto('hand_overs').values({ company, id, created_at: at, due_at: at }).execute();
}

export async function findHandOver(
  db: Connection,
  company: string,
  id: string,
): Promise<HandOver | undefined> {
  const row = await db
    .selectFrom('hand_overs')
    .selectAll()
    .where((row) => row.and({ company, id }))
    .executeTakeFirst();
  return row && toHandOver(row);
}

/** The documents of a company whose hand-over has failed since a time, the latest first. */
export async function listFailedHandOvers(
  db: Connection,
  company: string,
  { since, countMax }: { since: Date; countMax: number },
): Promise<(HandOver & { document: InvoiceSummary })[]> {
  const rows = await db
    .selectFrom('hand_overs')
    .innerJoin('invoices', (join) =>
      join
        .onRef('invoices.company', '=', 'hand_overs.company')
        .onRef('invoices.id', '=', 'hand_overs.id')
        .on('invoices.company', '=', company),
    )
    .selectAll('hand_overs')
    .select('invoices.body')
    .where('hand_overs.company', '=', company)
    .where(isFailed(since))
    .orderBy('hand_overs.due_at', 'desc')
    .limit(countMax)
    .execute();
  // A summary was rendered into the body.
  return rows.map((row) => ({ ...toHandOver(row), document: JSON.parse(row.body) as InvoiceSummary }));
}

/** The first condition must equal that of the partial index `hand_overs_failed`. */
const isFailed = (since: Date) =>
  sql<boolean>`hand_overs.state = 'failed' AND hand_overs.due_at > ${since.toISOString()}`;

/** Nobody presses the button as often. Without a bound, a document that ends its process at each attempt would be tried for ever. */
export const HAND_OVER_ATTEMPTS_MAX = 100;

/** Attempts that are kept of a document: those of three schedules. */
const KEPT_ATTEMPTS = 21;

/** Keeps an attempt, in the transaction of its outcome. */
export async function keepAttempt(
  transaction: StoreTransaction,
  { company, id, attempts, failureCount }: HandOver,
  attempt: HandOverAttempt,
): Promise<void> {
  const kept = [...attempts, attempt].slice(-KEPT_ATTEMPTS);
  await transaction
    .updateTable('hand_overs')
    .set({ attempts: JSON.stringify(kept), failure_count: failureCount + Number(attempt.problem !== null) })
    .where((row) => row.and({ company, id }))
    .execute();
}

/**
 * Has documents handed over again, with the schedule from its beginning: one in any state but that of being sent, or those
 * that have failed since a time, the oldest of them first. One that no e-invoice can express never gets any.
 * @returns how many.
 */
export async function queueAgain(
  transaction: StoreTransaction,
  company: string,
  which: { id: string } | { since: Date; countMax: number },
  now: Date,
): Promise<number> {
  const chosen =
    'id' in which
      ? sql`id = ${which.id} AND state <> 'sending'`
      : sql`id IN (
          SELECT id FROM hand_overs WHERE company = ${company} AND ${isFailed(which.since)}
          ORDER BY due_at LIMIT ${sql.lit(which.countMax)}
        ) AND state = 'failed' AND problem <> 'no_e_invoice'`;
  const { numAffectedRows } = await sql`
    UPDATE hand_overs SET state = 'waiting', failure_count = 0, due_at = ${now.toISOString()}
    WHERE company = ${company} AND ${chosen} AND attempt_count < ${HAND_OVER_ATTEMPTS_MAX}`.execute(
    transaction,
  );
  return Number(numAffectedRows);
}

/** Rows of one transaction. SQLite answers no request meanwhile. */
const OLD_AT_ONCE = 250;

/**
 * Gives up some of the documents that have waited for 30 days without being sent, and forgets the attempts of some that were settled
 * as long ago.
 * @returns whether there may be more.
 */
export async function settleOldHandOvers(engine: Engine, now: Date): Promise<boolean> {
  const isOld = sql<boolean>`due_at <= ${new Date(now.getTime() - QUEUE_DAYS.hand_overs * DAY_MS).toISOString()}`;
  const givenUp = sql`state = 'failed', problem = 'waited', due_at = ${now.toISOString()}`;
  // Their first conditions must equal those of the partial indexes.
  const counts = [
    await changeSome(engine, sql`state IN ('waiting', 'sending') AND ${isOld}`, givenUp),
    await changeSome(engine, sql`attempts <> '[]' AND ${isOld}`, sql`attempts = '[]'`),
  ];
  return counts.some((count) => count > 0);
}

/** Changes some of the rows of a condition, company by company. @returns how many. */
async function changeSome(
  engine: Engine,
  which: RawBuilder<boolean>,
  change: RawBuilder<unknown>,
): Promise<number> {
  const found = await ofAllCompanies(
    engine,
    (isReached) => sql<Pick<HandOver, 'company' | 'id'>>`
      SELECT company, id FROM hand_overs WHERE ${which} AND ${isReached('company')} LIMIT ${sql.lit(OLD_AT_ONCE)}`,
  );
  let changed = 0;
  for (const [company, rows] of Map.groupBy(found, (row) => row.company)) {
    const ids = sql.join(rows.map(({ id }) => id));
    const { numAffectedRows = 0n } = await engine.transaction((transaction) =>
      sql`UPDATE hand_overs SET ${change} WHERE company = ${company} AND id IN (${ids}) AND ${which}`.execute(
        transaction,
      ),
    );
    changed += Number(numAffectedRows);
  }
  return changed;
}
