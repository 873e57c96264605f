import { createHash } from 'node:crypto';

import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { Invoice } from '../../contract/records.ts';
import { balanceAtIssue } from '../../contract/vat.ts';
import { type DocumentHead, findPrintable, keepPdf } from '../store/records/documents.ts';
import { findSupplier, supplierOn } from '../store/records/suppliers.ts';
import type { Connection } from '../store/dialects/dialect.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { CustomerAccount } from '../printed-document/account.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { Renderer } from './render.ts';
import { hasStatement, isDraft } from '../printed-document/wording.ts';

/** The largest PDF; even one with 1,000 lines and a large logo is far smaller, so exceeding it is a bug. */
const PDF_BYTES_MAX = 16 * 1024 * 1024;

export type Printed =
  /** An issued document whose PDF is stored; `head` is set if this call stored it. */
  | { outcome: 'stored'; head: DocumentHead | undefined }
  /** A draft or a statement of account, whose PDF isn't stored. `number` is a draft's id. */
  | { outcome: 'draft' | 'statement'; number: string; bytes: Uint8Array; sha256: string }
  | { outcome: 'absent' };

/**
 * Prints the PDF of a document. An issued document is printed with its contents as of issue, and its PDF is stored. A
 * draft is printed with the company's current profile. With the calendar day `statementOn` a statement of account of an
 * issued invoice is printed instead, with current data, or with `account` of its customer; other documents have none.
 */
export type Print = (
  company: string,
  id: string,
  statementOn?: string,
  account?: CustomerAccount,
) => Promise<Printed>;

/** @param accent the operator's accent colour, for drafts and statements; an issued document keeps that of its issue. */
export function createPrint(engine: Engine, renderer: Renderer, accent?: string): Print {
  return async (company, id, statementOn, account) => {
    const isStatement = statementOn !== undefined;
    const found = await findPrinted(engine.db, company, id, isStatement ? 'now' : 'issue');
    if (!found || (isStatement && !hasStatement(found.current))) return { outcome: 'absent' };
    const { current, printed } = found;
    const outcome = isStatement ? 'statement' : isDraft(current) ? 'draft' : 'stored';
    const look = outcome === 'stored' ? {} : { accent };
    const bytes = await renderer.render({ ...printed, ...look, statementOn, account });
    if (bytes.length > PDF_BYTES_MAX) {
      throw new Error(`The PDF has ${bytes.length} bytes, and may have ${PDF_BYTES_MAX}.`);
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const number = current.number ?? id;
    if (outcome !== 'stored') return { outcome, number, bytes, sha256 };
    const head = { number, sha256, byteCount: bytes.length };
    const kept = { company, invoice: id, number: head.number, sha256, byte_count: head.byteCount, bytes };
    return { outcome: 'stored', head: (await keepPdf(engine, kept)) ? head : undefined };
  };
}

/** A stored document, read once. */
export interface KeptDocument {
  /** The current record, with its payments, refunds and credit notes. */
  current: Invoice;
  /** Everything that the document shows. */
  printed: PrintedDocument;
}

/**
 * Reads a document with everything that it shows, as of its issue unless it is a draft or `asOf` is `now`. Undefined
 * when the company has none with that id.
 */
export async function findPrinted(
  db: Connection,
  company: string,
  id: string,
  asOf: 'issue' | 'now' = 'issue',
): Promise<KeptDocument | undefined> {
  const found = await findPrintable(db, company, id);
  if (!found) return undefined;
  const { record: current, supplier, ...beside } = found;
  const isOfIssue = asOf === 'issue' && !isDraft(current);
  const record = isOfIssue ? asOfIssue(current, found.amounts) : current;
  const kept = isOfIssue ? supplier : null;
  const shown = await findSupplier(db, company, kept);
  const named = kept ? shown.supplier : supplierOn(shown.supplier, record);
  return { current, printed: { ...beside, record, ...shown, supplier: named } };
}

/**
 * Returns an issued document as it was at issue. Later payments, refunds and credit notes change only the members reset
 * here, so that a payment doesn't change the PDF (VAT law: an issued document doesn't change).
 */
export function asOfIssue(record: Invoice, amounts: DocumentAmounts | undefined): Invoice {
  return {
    ...record,
    // Every later change updates it. An issued document has a time of issue.
    updatedAt: record.issuedAt ?? record.createdAt,
    creditNotes: [],
    ...balanceAtIssue(record, amounts),
  };
}
