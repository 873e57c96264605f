import { hash } from 'node:crypto';

import type { DocumentAmounts } from '../../../contract/document-amounts.ts';
import { joinObjects, type JsonText } from '../../../contract/json-text.ts';
import type { KeptTerms } from '../../../contract/document-terms.ts';
import type { Invoice } from '../../../contract/records.ts';
import { type Connection, dialectOf } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../tables/tables.ts';
import type { KeptSupplier } from './suppliers.ts';

/** A document's PDF without its bytes. */
export interface DocumentHead {
  number: string;
  /** Hex SHA-256 of the bytes. */
  sha256: string;
  byteCount: number;
}

/** A document as it is found: `head` is undefined while it has no stored PDF, which a draft never has. */
export interface LocatedDocument {
  company: string;
  id: string;
  status: Invoice['status'];
  head: DocumentHead | undefined;
}

/** The stored data from which a document is printed. */
export interface PrintableDocument {
  record: Invoice;
  /** Null on a draft, and on a document that was loaded without the company as it was at its issue. */
  supplier: KeptSupplier | null;
  reverseChargeRates: Readonly<Record<string, number>>;
  /** The terms that it shows beside the contract's members. */
  terms?: KeptTerms;
  /** Amounts that the record doesn't show, where there are any. */
  amounts?: DocumentAmounts;
  /** Whether the business system has issued it. */
  isImported: boolean;
}

/** Finds a document; undefined when the company has none with that id. */
export async function locateDocument(
  db: Connection,
  company: string,
  id: string,
): Promise<LocatedDocument | undefined> {
  const row = await db
    .selectFrom('invoices')
    .leftJoin('documents', (join) =>
      join.onRef('documents.company', '=', 'invoices.company').onRef('documents.invoice', '=', 'invoices.id'),
    )
    .select(['invoices.status', 'documents.number', 'documents.sha256', 'documents.byte_count'])
    .where('invoices.company', '=', company)
    .where('invoices.id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const { number, sha256, byte_count: byteCount } = row;
  const isStored = number !== null && sha256 !== null && byteCount !== null;
  return {
    company,
    id,
    // The column is generated from the record, whose statuses these are.
    status: row.status as Invoice['status'],
    head: isStored ? { number, sha256, byteCount } : undefined,
  };
}

/** Differs whenever a draft, or the company as the draft shows it, has changed; undefined when that isn't known. */
export async function findDraftVersion(
  db: Connection,
  company: string,
  id: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('invoices')
    .innerJoin('companies', 'companies.id', 'invoices.company')
    .select(['invoices.digest', 'invoices.unpublished', 'companies.profile'])
    .where('invoices.company', '=', company)
    .where('invoices.id', '=', id)
    .where('invoices.status', '=', 'draft')
    .executeTakeFirst();
  return row && hash('sha256', [row.digest, row.unpublished, row.profile].join('\n'));
}

/** The bytes of a stored PDF; undefined when there is none. */
export async function readPdf(db: Connection, company: string, id: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('documents')
    .select(dialectOf(db).selectBytes('bytes').as('bytes'))
    .where((row) => row.and({ company, invoice: id }))
    .executeTakeFirst();
  return typeof row?.bytes === 'string' ? Buffer.from(row.bytes, 'base64') : row?.bytes;
}

/** Reads the data from which a document is printed. */
export async function findPrintable(
  db: Connection,
  company: string,
  id: string,
): Promise<PrintableDocument | undefined> {
  const row = await db
    .selectFrom('invoices')
    .select(['body', 'detail', 'unpublished'])
    .where((row) => row.and({ company, id }))
    .executeTakeFirst();
  if (!row) return undefined;
  // The two parts were rendered from one Invoice; what is beside them is written by moves, and empty without them.
  const text = joinObjects(row.body as JsonText<object>, row.detail as JsonText<object>);
  const unpublished = JSON.parse(row.unpublished) as Partial<PrintableDocument>;
  const { supplier = null, reverseChargeRates = {}, amounts, terms, isImported = false } = unpublished;
  const record = JSON.parse(text) as Invoice;
  const beside = { ...(amounts ? { amounts } : {}), ...(terms ? { terms } : {}) };
  return { record, supplier, reverseChargeRates, ...beside, isImported };
}

/**
 * Stores a PDF unless there is one: of several processes that come at once, the first one's stays.
 * @returns whether it was this one.
 */
export async function keepPdf(engine: Engine, document: Tables['documents']): Promise<boolean> {
  return engine.transaction((transaction) => insertPdf(transaction, document));
}

/** The same in a transaction that also does something else. */
export async function insertPdf(
  transaction: StoreTransaction,
  document: Tables['documents'],
): Promise<boolean> {
  const kept = await transaction
    .insertInto('documents')
    .values(document)
    .onConflict((conflict) => conflict.columns(['company', 'invoice']).doNothing())
    .returning('invoice')
    .execute();
  return kept.length > 0;
}
