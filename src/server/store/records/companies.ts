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

/** Adds a company; false when its id is taken. */
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

/** Changes a company under its lock; undefined when there is none. An error of `change` leaves it as it was. */
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

/** The id stays: Citus refuses a statement that sets the column by which rows are spread. */
function columnsToChange({ id: _id, createdAt: _at, ...members }: Company) {
  return writeRow(companies, members);
}

/** The times by which the changes of a company that is locked are stamped. */
export interface CompanyClock {
  /** Unix ms of the last change. */
  lastStampMs: number;
  /** The latest time that the API told its readers, or some seconds less; see served-clock.ts. */
  servedMs: number;
}

/**
 * Makes this transaction the only one that changes the company until it ends: changes of a company are serial. SQLite's
 * transactions are serial anyway. On PostgreSQL the lock is the row of the company's clock, because foreign keys lock the
 * company's own row. That row is read anew after waiting for it, as a joined one would not be.
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
  // Citus joins no table of its coordinator with one of a company.
  const [apart] = isDistributed ? await transaction.selectNoFrom(served).execute() : [];
  return row && { lastStampMs: Number(row.last_stamp_ms), servedMs: Number((apart ?? row).served_ms) };
}

export async function findCompanyRow({ db }: { db: Connection }, id: string): Promise<Company | undefined> {
  const row = await db.selectFrom('companies').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toCompany(row);
}

/** @throws UsageError when there is no such company. */
export async function getCompany(engine: { db: Connection }, id: string): Promise<Company> {
  const company = await findCompanyRow(engine, id);
  if (!company) throw new UsageError(`There is no company ${quote(id)}.`);
  return company;
}

/** The companies that are reached, in the order of their ids. */
export async function listCompanies(engine: Engine): Promise<Company[]> {
  const rows = await ofAllCompanies(
    engine,
    (isReached) => sql<Selectable<Tables['companies']>>`SELECT * FROM companies WHERE ${isReached('id')}`,
  );
  return rows.sort((one, other) => (one.id < other.id ? -1 : 1)).map(toCompany);
}

/** The columns of a company's switches. */
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
