import { createHash } from 'node:crypto';

import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { Invoice } from '../../contract/records.ts';
import { balanceAtIssue } from '../../contract/vat.ts';
import { type DocumentHead, findPrintable, keepPdf } from '../store/records/documents.ts';
import { findSupplier } from '../store/records/suppliers.ts';
import type { Connection } from '../store/dialects/dialect.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Renderer } from './render.ts';
import { hasStatement } from './wording.ts';

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
  const { db } = engine;
  return async (company, id, statementOn) => {
    const found = await findPrintable(db, company, id);
    if (!found || (statementOn !== undefined && !hasStatement(found.record))) return { outcome: 'absent' };
    const outcome = statementOn === undefined ? outcomeOf(found.record) : 'statement';
    const { supplier: named, ...others } = found;
    const record = outcome === 'stored' ? asOfIssue(found.record, found.amounts) : found.record;
    const shown = await findSupplier(db, company, outcome === 'stored' ? named : null);
    const look = outcome === 'stored' ? shown : { ...shown, accent };
    const bytes = await renderer.render({ ...others, record, statementOn, ...look });
    if (bytes.length > PDF_BYTES_MAX) {
      throw new Error(`The PDF has ${bytes.length} bytes, and may have ${PDF_BYTES_MAX}.`);
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const number = record.number ?? id;
    if (outcome !== 'stored') return { outcome, number, bytes, sha256 };
    const head = { number, sha256, byteCount: bytes.length };
    const kept = { company, invoice: id, number: head.number, sha256, byte_count: head.byteCount, bytes };
    return { outcome: 'stored', head: (await keepPdf(engine, kept)) ? head : undefined };
  };
}

function outcomeOf({ status }: Invoice): 'draft' | 'stored' {
  return status === 'draft' ? 'draft' : 'stored';
}

/** Everything that a document shows: an issued one as it was at its issue. */
export async function findPrinted(
  db: Connection,
  company: string,
  id: string,
): Promise<PrintedDocument | undefined> {
  const found = await findPrintable(db, company, id);
  if (!found) return undefined;
  const { record: stored, supplier, ...beside } = found;
  const record = stored.status === 'draft' ? stored : asOfIssue(stored, found.amounts);
  return { ...beside, record, ...(await findSupplier(db, company, supplier)) };
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
