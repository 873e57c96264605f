import { hash } from 'node:crypto';

import type { DocumentAmounts } from '../../../contract/document-amounts.ts';
import { joinObjects, type JsonText } from '../../../contract/json-text.ts';
import type { StoredTerms } from '../../../contract/document-terms.ts';
import type { Invoice } from '../../../contract/records.ts';
import { type Connection, dialectOf } from '../dialects/dialect.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../tables/tables.ts';
import type { KeptSupplier } from './suppliers.ts';

/** The details of a document's stored PDF, but not its bytes. */
export interface DocumentHead {
  number: string;
  /** SHA-256 of the PDF's bytes, in hexadecimal. */
  sha256: string;
  byteCount: number;
}

/** A document's status and PDF details. `head` is undefined while no PDF is stored, as it always is for a draft. */
export interface LocatedDocument {
  company: string;
  id: string;
  status: Invoice['status'];
  head: DocumentHead | undefined;
}

/** The stored data from which a document is printed. */
export interface PrintableDocument {
  record: Invoice;
  /** The supplier as at the time of issue; null for a draft, and for a document loaded without supplier details. */
  supplier: KeptSupplier | null;
  reverseChargeRates: Readonly<Record<string, number>>;
  /** Terms printed on the document that the contract has no members for; absent if there are none. */
  terms?: StoredTerms;
  /** Amounts that the record doesn't show; absent if there are none. */
  amounts?: DocumentAmounts;
  /** Whether the business system issued the document. */
  isImported: boolean;
}

/** Returns a document's status and PDF details; undefined when the company has none with that id. */
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
    // The column is computed from the record, so it has one of a record's statuses.
    status: row.status as Invoice['status'],
    head: isStored ? { number, sha256, byteCount } : undefined,
  };
}

/** Returns a digest that changes whenever a draft or its company's profile does; undefined if there is no such draft. */
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

/** Returns the bytes of a stored PDF; undefined when there is none. */
export async function readPdf(db: Connection, company: string, id: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('documents')
    .select(dialectOf(db).selectBytes('bytes').as('bytes'))
    .where((row) => row.and({ company, invoice: id }))
    .executeTakeFirst();
  return typeof row?.bytes === 'string' ? Buffer.from(row.bytes, 'base64') : row?.bytes;
}

/** Returns the data needed to print a document; undefined when the company has none with that id. */
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
  // Both parts were rendered from one Invoice. `unpublished` is written by moves, and is empty for loaded documents.
  const text = joinObjects(row.body as JsonText<object>, row.detail as JsonText<object>);
  const unpublished = JSON.parse(row.unpublished) as Partial<PrintableDocument>;
  const { supplier = null, reverseChargeRates = {}, amounts, terms, isImported = false } = unpublished;
  const record = JSON.parse(text) as Invoice;
  const beside = { ...(amounts ? { amounts } : {}), ...(terms ? { terms } : {}) };
  return { record, supplier, reverseChargeRates, ...beside, isImported };
}

/**
 * Stores a PDF unless there is one already: if several processes store it at once, the first one's is kept.
 * @returns whether this call's PDF was stored.
 */
export async function keepPdf(engine: Engine, document: Tables['documents']): Promise<boolean> {
  return engine.transaction((transaction) => insertPdf(transaction, document));
}

/** Stores a PDF like `keepPdf`, but within the caller's transaction. */
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
