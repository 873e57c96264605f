import { type Selectable, sql } from 'kysely';

import type { Switches } from '../../../contract/withholding.ts';
import { quote, UsageError } from '../../../errors.ts';
import { type Connection, dialectOf } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import { ofAllCompanies } from '../machines.ts';
import { companies } from '../tables/companies.ts';
import { readRow, type RowOf, writeRow } from '../tables/table.ts';
import type { Tables } from '../tables/tables.ts';

export type Company = Omit<RowOf<typeof companies>, 'numberFormats'>;

/** Adds a company unless its id is taken; returns whether it was added. */
export async function insertCompany(transaction: StoreTransaction, company: Company): Promise<boolean> {
  const result = await transaction
    .insertInto('companies')
    .values(writeRow(companies, company))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  const isNew = Number(result.numInsertedOrUpdatedRows ?? 0) === 1;
  if (isNew)
    await transaction
      .insertInto('company_clocks')
      .values({ company: company.id, last_stamp_ms: 0 })
      .execute();
  return isNew;
}

/** Changes a company under its lock and returns it; undefined if it doesn't exist. An error in `change` changes nothing. */
export async function updateCompanyRow(
  transaction: StoreTransaction,
  id: string,
  change: (company: Company) => Company,
): Promise<Company | undefined> {
  if (!(await lockCompany(transaction, id))) return undefined;
  const changed = change(await getCompany({ db: transaction }, id));
  await transaction.updateTable('companies').set(columnsToChange(changed)).where('id', '=', id).execute();
  return changed;
}

/** Returns a company's columns without its id, because Citus refuses statements that set the distribution column. */
function columnsToChange({ id: _id, createdAt: _at, ...members }: Company) {
  return writeRow(companies, members);
}

/** The times after which a locked company's next change must be stamped. */
export interface CompanyClock {
  /** Unix milliseconds of the company's last change. */
  lastStampMs: number;
  /** The latest Unix milliseconds that the API has given its clients; they may lag by some seconds (served-clock.ts). */
  servedMs: number;
}

/**
 * Locks a company until the transaction ends, so that its changes are serial, and returns its clock. SQLite's transactions
 * are serial anyway. PostgreSQL locks the company's clock row, because foreign keys lock the company's own row. After a wait
 * for the lock PostgreSQL reads that row again, which it wouldn't do for a joined row.
 * @returns undefined when there is no such company.
 */
export async function lockCompany(
  transaction: StoreTransaction,
  id: string,
): Promise<CompanyClock | undefined> {
  const { isDistributed, forUpdate } = dialectOf(transaction);
  const served = transaction.selectFrom('served_clock').select('latest_ms').as('served_ms');
  const row = await transaction
    .selectFrom('company_clocks')
    .select('last_stamp_ms')
    .$if(!isDistributed, (query) => query.select(served))
    .where('company', '=', id)
    .modifyEnd(forUpdate)
    .executeTakeFirst();
  // Citus can't join a table on its coordinator with a distributed one.
  const [apart] = isDistributed ? await transaction.selectNoFrom(served).execute() : [];
  return row && { lastStampMs: Number(row.last_stamp_ms), servedMs: Number((apart ?? row).served_ms) };
}

export async function findCompanyRow({ db }: { db: Connection }, id: string): Promise<Company | undefined> {
  const row = await db.selectFrom('companies').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toCompany(row);
}

/** Returns a company. @throws UsageError when there is none with that id. */
export async function getCompany(engine: { db: Connection }, id: string): Promise<Company> {
  const company = await findCompanyRow(engine, id);
  if (!company) throw new UsageError(`There is no company ${quote(id)}.`);
  return company;
}

/** Returns all companies whose machines can be reached, in id order. */
export async function listCompanies(engine: Engine): Promise<Company[]> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<Selectable<Tables['companies']>>`SELECT * FROM companies WHERE ${isReached('id')}`,
  );
  return rows.sort((one, other) => (one.id < other.id ? -1 : 1)).map(toCompany);
}

/** The columns of the companies table that hold a company's switches. */
export type SwitchColumns = Pick<
  Selectable<Tables['companies']>,
  'api_enabled' | 'subscription_active' | 'invoicing_enabled' | 'modules'
>;

export function switchesOf(row: SwitchColumns): Switches {
  return readRow(companies, row);
}

function toCompany({ number_formats: _formats, ...row }: Selectable<Tables['companies']>): Company {
  return readRow(companies, row);
}
