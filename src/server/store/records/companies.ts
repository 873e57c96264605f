import type { Selectable } from 'kysely';

import type { ElectronicAddress, Identifier } from '../../../contract/feed.ts';
import type { Module } from '../../../contract/scopes.ts';
import type { Switches } from '../../../contract/withholding.ts';
import { quote, UsageError } from '../../../errors.ts';
import { type Connection, dialectOf } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../schema.ts';

/** The supplier's part of a document, with the details for payment (research: legal content of VAT documents). */
export interface CompanyProfile {
  legalName?: string;
  tradingName?: string;
  addressLines?: string[];
  town?: string;
  region?: string;
  postcode?: string;
  /** ISO 3166-1 alpha-2; documents are supported for IE and GB. */
  countryCode?: string;
  vatId?: string;
  companyNumber?: string;
  companyNumberScheme?: string;
  taxNumber?: string;
  legalText?: string;
  identifiers?: Identifier[];
  electronicAddress?: ElectronicAddress;
  contactName?: string;
  email?: string;
  phone?: string;
  website?: string;
  bankAccountName?: string;
  iban?: string;
  bic?: string;
  /** Where a customer can pay online: an https address with the places `{number}` and `{amount}`. */
  paymentLink?: string;
  /** Terms for late payment, in the company's own words. */
  latePaymentTerms?: string;
  pageSize?: 'A4' | 'Letter';
  /** A `data:` URL of a PNG or JPEG picture. */
  logo?: string;
}

/** A kind of document that is issued here, or by the business system. */
export type IssuedKind = 'invoice' | 'credit_note' | 'quote';

export interface Company extends Switches {
  id: string;
  name: string;
  /** IANA time zone: the company's calendar day decides when a quote expires. */
  timeZone: string;
  /** The company's own currency, in which its VAT is accounted for. */
  currency: string;
  profile: CompanyProfile;
  /** The kinds of document that the business system issues: these are imported, and not issued here. */
  issuedElsewhere: IssuedKind[];
  /** Whether the invoices and credit notes that it issues go to the operator's access point. */
  handOver: boolean;
  /** Whether its administrators can't use the portal without a second factor. */
  secondFactorRequired: boolean;
  createdAt: string;
}

/** Adds a company; false when its id is taken. */
export async function insertCompany(transaction: StoreTransaction, company: Company): Promise<boolean> {
  const result = await transaction
    .insertInto('companies')
    .values({ ...toRow(company), id: company.id, created_at: company.createdAt })
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
  await transaction.updateTable('companies').set(toRow(changed)).where('id', '=', id).execute();
  return changed;
}

/** The times by which the changes of a company that is locked are stamped. */
export interface CompanyClock {
  /** Of the last change. */
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

export async function listCompanies(engine: Engine): Promise<Company[]> {
  const rows = await engine.db.selectFrom('companies').selectAll().orderBy('id').execute();
  return rows.map(toCompany);
}

function toRow(company: Omit<Company, 'id' | 'createdAt'>) {
  return {
    name: company.name,
    api_enabled: Number(company.apiEnabled),
    subscription_active: Number(company.subscriptionActive),
    invoicing_enabled: Number(company.invoicingEnabled),
    modules: JSON.stringify(company.modules),
    time_zone: company.timeZone,
    currency: company.currency,
    profile: JSON.stringify(company.profile),
    issued_elsewhere: JSON.stringify(company.issuedElsewhere),
    hand_over: Number(company.handOver),
    second_factor_required: Number(company.secondFactorRequired),
  };
}

/** The columns of a company's switches. */
export type SwitchColumns = Pick<
  Selectable<Tables['companies']>,
  'api_enabled' | 'subscription_active' | 'invoicing_enabled' | 'modules'
>;

export function switchesOf(row: SwitchColumns): Switches {
  return {
    apiEnabled: row.api_enabled === 1,
    subscriptionActive: row.subscription_active === 1,
    invoicingEnabled: row.invoicing_enabled === 1,
    // Written by `toRow`.
    modules: JSON.parse(row.modules) as Module[],
  };
}

function toCompany(row: Selectable<Tables['companies']>): Company {
  return {
    id: row.id,
    name: row.name,
    ...switchesOf(row),
    timeZone: row.time_zone,
    currency: row.currency,
    // Written by `toRow`.
    profile: JSON.parse(row.profile) as Company['profile'],
    issuedElsewhere: JSON.parse(row.issued_elsewhere) as Company['issuedElsewhere'],
    handOver: row.hand_over === 1,
    secondFactorRequired: row.second_factor_required === 1,
    createdAt: row.created_at,
  };
}
