import { createHash } from 'node:crypto';

import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { Invoice } from '../../contract/records.ts';
import { balanceAtIssue } from '../../contract/vat.ts';
import { type DocumentHead, findPrintable, keepPdf } from '../store/records/documents.ts';
import { findSupplier, supplierOn } from '../store/records/suppliers.ts';
import type { Connection } from '../store/dialects/dialect.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { Renderer } from './render.ts';
import { hasStatement, isDraft } from '../printed-document/wording.ts';

/** Even 1,000 lines and a large logo stay far below it, so a larger PDF is a fault. */
const PDF_BYTES_MAX = 16 * 1024 * 1024;

export type Printed =
  /** It is issued and its PDF is stored: by this call, which then has its head, or by another one. */
  | { outcome: 'stored'; head: DocumentHead | undefined }
  /** It is a draft, or a statement of account. Its PDF is only for this request. A draft has its id as its number. */
  | { outcome: 'draft' | 'statement'; number: string; bytes: Uint8Array; sha256: string }
  | { outcome: 'absent' };

/**
 * Makes the PDF of a document. For an issued one it takes the contents fixed at issue, and stores the PDF. For a draft
 * it takes the draft and the company's profile as they are now. With the calendar day `statementOn` it makes a statement
 * of account of an issued invoice instead, from invoice and profile as they are now; of another document there is none.
 */
export type Print = (company: string, id: string, statementOn?: string) => Promise<Printed>;

/** @param accent the operator's accent colour, for drafts and statements; an issued document keeps that of its issue. */
export function createPrint(engine: Engine, renderer: Renderer, accent?: string): Print {
  return async (company, id, statementOn) => {
    const isStatement = statementOn !== undefined;
    const found = await findPrinted(engine.db, company, id, isStatement ? 'now' : 'issue');
    if (!found || (isStatement && !hasStatement(found.current))) return { outcome: 'absent' };
    const { current, printed } = found;
    const outcome = isStatement ? 'statement' : isDraft(current) ? 'draft' : 'stored';
    const look = outcome === 'stored' ? {} : { accent };
    const bytes = await renderer.render({ ...printed, ...look, statementOn });
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
  /** As it is now, with its payments, refunds and credit notes. */
  current: Invoice;
  /** Everything that it shows. */
  printed: PrintedDocument;
}

/**
 * Reads a document with everything that it shows: as of its issue, unless it is a draft or `asOf` is `now`. Undefined when
 * the company has none with that id.
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
 * An issued document as it was when it was issued. Payments, refunds and credit notes come later and change only the
 * members that are set back here: the PDF is the same before and after a payment (VAT law: an issued document doesn't
 * change).
 */
export function asOfIssue(record: Invoice, amounts: DocumentAmounts | undefined): Invoice {
  return {
    ...record,
    // Every later change moves it. An issued document has a time of issue.
    updatedAt: record.issuedAt ?? record.createdAt,
    creditNotes: [],
    ...balanceAtIssue(record, amounts),
  };
}
