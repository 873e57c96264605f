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

/** The progress of a document's delivery to the access point. */
export type HandOver = Omit<RowOf<typeof handOvers>, 'createdAt' | 'lease'>;

export function toHandOver({
  created_at: _at,
  lease: _lease,
  ...row
}: Selectable<Tables['hand_overs']>): HandOver {
  return readRow(handOvers, row);
}

/** Queues an issued document for delivery to the access point, in the transaction that issues it. */
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

/** Returns a company's documents whose delivery to the access point has failed since a given time, latest first. */
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
  // The body is the text of a rendered summary.
  return rows.map((row) => ({ ...toHandOver(row), document: JSON.parse(row.body) as InvoiceSummary }));
}

/** Returns the condition for failed hand-overs. It must begin with that of the partial index `hand_overs_failed`. */
const isFailed = (since: Date) =>
  sql<boolean>`hand_overs.state = 'failed' AND hand_overs.due_at > ${since.toISOString()}`;

/** Maximum attempts per document, so that one that crashes its process each time isn't tried for ever. No user reaches it. */
export const HAND_OVER_ATTEMPTS_MAX = 100;

/** Maximum number of attempts kept per document: enough for three retry schedules. */
const KEPT_ATTEMPTS = 21;

/** Stores an attempt to send a document, in the transaction that records its outcome. */
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
 * Queues documents for delivery again, restarting their retry schedule: either one document that isn't being sent, or those
 * that failed since a given time, oldest first. The latter skips documents that no e-invoice can express.
 * @returns how many were queued.
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

/** Maximum number of rows changed per transaction, during which SQLite blocks all requests. */
const OLD_AT_ONCE = 250;

/**
 * Gives up a batch of documents that have waited 30 days to be sent, and deletes the attempts at those settled 30 days ago.
 * @returns whether there may be more.
 */
export async function settleOldHandOvers(engine: Engine, now: Date): Promise<boolean> {
  const isOld = sql<boolean>`due_at <= ${new Date(now.getTime() - QUEUE_DAYS.hand_overs * DAY_MS).toISOString()}`;
  const givenUp = sql`state = 'failed', problem = 'waited', due_at = ${now.toISOString()}`;
  // The first conditions must equal those of the partial indexes.
  const counts = [
    await changeSome(engine, sql`state IN ('waiting', 'sending') AND ${isOld}`, givenUp),
    await changeSome(engine, sql`attempts <> '[]' AND ${isOld}`, sql`attempts = '[]'`),
  ];
  return counts.some((count) => count > 0);
}

/** Updates a batch of rows that meet a condition, company by company, and returns their number. */
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
