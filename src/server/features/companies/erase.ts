import { hash, randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

import { sql } from 'kysely';

import { quote, UsageError } from '../../../errors.ts';
import { countRows } from '../../store/batches.ts';
import type { Engine, StoreTransaction } from '../../store/engines/engine.ts';
import { lockCompany } from '../../store/records/companies.ts';
import { deleteSome, isOfCompanies, ownRows, STORED_TABLES } from '../../store/stored-tables.ts';
import type { Table } from '../../store/tables/table.ts';

interface Erasing {
  now: Date;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  /** Whether to leave rewriting SQLite's file to a later erasure, or to a repetition of this one. */
  isVacuumLater?: boolean;
}

interface Erased {
  id: string;
  /** Number of removed rows, including those removed by earlier, interrupted calls. */
  rowCount: number;
  /** Whether unused parts of the file still hold erased data. */
  isTraced: boolean;
}

/** Rows removed in one transaction, during which SQLite can do nothing else. */
const ROWS_AT_ONCE = 500;

/** The tables with companies' data, each before the tables that its foreign keys reference. */
const tables = STORED_TABLES.filter(isOfCompanies).reverse();

/**
 * Removes all data of a company (GDPR articles 17 and 28(3)(g)), in small transactions. The first removes the row that every
 * change of the company locks, and switches the API off, so that nothing more is added. An interrupted erasure continues when
 * this is called again. Only a row in `erasures` remains.
 * @throws UsageError when there is no such company, or after a stop signal.
 */
export async function eraseCompany(
  engine: Engine,
  company: string,
  { now, signal, onProgress, isVacuumLater = false }: Erasing,
): Promise<Erased> {
  const { administration } = engine.dialect;
  await administration.prepareErasure(engine.run);
  const id = await beginErasure(engine, company, now);
  let total = 0;
  for (const table of tables)
    total += await countRows(engine.db, sql.table(table.name), ownRows(table, company));
  let done = 0;
  for (const table of tables.filter(({ name }) => name !== 'companies')) {
    let removed = ROWS_AT_ONCE;
    while (removed === ROWS_AT_ONCE) {
      removed = await engine.transaction((transaction) => removeSome(transaction, table, { company, id }));
      done += removed;
      onProgress(done, total);
      // SQLite runs synchronously, so signals are noticed only here.
      await turn();
      if (signal.aborted)
        throw new UsageError(`Stopped by ${String(signal.reason)}. Run the same command again to continue.`);
    }
  }
  await removeRest(engine, company, id);
  onProgress(total, total);
  const isTraced = administration.leavesTraces && isVacuumLater;
  if (!isTraced) await administration.removeTraces(engine.run);
  return { id, rowCount: await endErasures(engine, { id, now, isWaiting: isTraced }), isTraced };
}

/** Begins an erasure, or continues an interrupted one. @returns its id. */
async function beginErasure(engine: Engine, company: string, now: Date): Promise<string> {
  const digest = hash('sha256', company);
  return engine.transaction(async (transaction) => {
    // The lock waits for a change in progress; later changes find no company.
    await lockCompany(transaction, company);
    const found = await transaction
      .updateTable('companies')
      .set({ api_enabled: 0 })
      .where('id', '=', company)
      .executeTakeFirst();
    const earlier = await transaction
      .selectFrom('erasures')
      .select(['id', 'ended_at'])
      .where('company_sha256', '=', digest)
      .orderBy('started_at', 'desc')
      .executeTakeFirst();
    if (earlier?.ended_at === null) return earlier.id;
    if (found.numUpdatedRows === 0n) {
      const erased = earlier ? `: it was erased on ${earlier.ended_at.slice(0, 10)}` : '';
      throw new UsageError(`There is no company ${quote(company)}${erased}.`);
    }
    await transaction.deleteFrom('company_clocks').where('company', '=', company).execute();
    const id = randomUUID();
    await transaction
      .insertInto('erasures')
      .values({ id, company_sha256: digest, started_at: now.toISOString(), ended_at: null, row_count: 1 })
      .execute();
    return id;
  });
}

async function removeSome(
  transaction: StoreTransaction,
  table: Table,
  { company, id }: { company: string; id: string },
): Promise<number> {
  const removed = await deleteSome(transaction, table, company, { countMax: ROWS_AT_ONCE });
  await transaction
    .updateTable('erasures')
    .set({ row_count: sql`row_count + ${sql.lit(removed)}` })
    .where('id', '=', id)
    .execute();
  return removed;
}

/** Removes the company's own row, and rows added by transactions that began before the erasure. */
async function removeRest(engine: Engine, company: string, id: string): Promise<void> {
  await engine.transaction(async (transaction) => {
    await engine.dialect.administration.endCompany(transaction, company);
    for (const table of tables) {
      let removed = ROWS_AT_ONCE;
      while (removed === ROWS_AT_ONCE) removed = await removeSome(transaction, table, { company, id });
    }
  });
}

/** Marks erasures as ended once rows and traces are gone. @returns the number of rows that this one removed. */
async function endErasures(
  engine: Engine,
  { id, now, isWaiting }: { id: string; now: Date; isWaiting: boolean },
): Promise<number> {
  return engine.transaction(async (transaction) => {
    const at = now.toISOString();
    await transaction.updateTable('erasures').set({ rows_gone_at: at }).where('id', '=', id).execute();
    if (!isWaiting)
      await transaction
        .updateTable('erasures')
        .set({ ended_at: at })
        .where('rows_gone_at', 'is not', null)
        .where('ended_at', 'is', null)
        .execute();
    const erasures = transaction.selectFrom('erasures').select('row_count').where('id', '=', id);
    return (await erasures.executeTakeFirstOrThrow()).row_count;
  });
}
