import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { ciiText } from './cii.ts';
import { inexpressible } from './expressible.ts';
import { toEInvoice, typeCodes } from './reading.ts';
import { ublText } from './ubl.ts';

/** The name of a syntax of EN 16931: Cross Industry Invoice D22B, or UBL 2.1. */
export type EInvoiceFormat = 'cii' | 'ubl';

const writers = { cii: ciiText, ubl: ublText };

/** Whether a document has an e-invoice: it must be an invoice or credit note, issued here, that EN 16931 can express. */
export function hasEInvoice(document: PrintedDocument): boolean {
  const { record, isImported = false } = document;
  const isOwn = record.status === 'issued' && !isImported && typeCodes[record.kind] !== undefined;
  return isOwn && inexpressible(document) === undefined;
}

/**
 * Returns a document's e-invoice as XML: `cii` for the file `factur-x.xml` within its PDF, `ubl` for networks. It states
 * the amounts at issue, without later payments and credit notes, so its text never changes.
 * @throws Error for a document without an e-invoice; see `hasEInvoice`.
 */
export function eInvoiceText(document: PrintedDocument, format: EInvoiceFormat): string {
  if (!hasEInvoice(document)) throw new Error(`The document ${document.record.id} has no e-invoice.`);
  return writers[format](toEInvoice(document));
}
