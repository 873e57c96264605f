import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { ciiText } from './cii.ts';
import { inexpressible } from './expressible.ts';
import { readDocument, typeCodes } from './reading.ts';
import { ublText } from './ubl.ts';

/** The syntaxes of EN 16931: Cross Industry Invoice D22B, and UBL 2.1. */
export type EInvoiceFormat = 'cii' | 'ubl';

const writers = { cii: ciiText, ubl: ublText };

/** Whether a document has an e-invoice: an invoice or credit note that was issued here, unless EN 16931 can't express it. */
export function hasEInvoice(document: PrintedDocument): boolean {
  const { record, isImported = false } = document;
  const isOwn = record.status === 'issued' && !isImported && typeCodes[record.kind] !== undefined;
  return isOwn && inexpressible(document) === undefined;
}

/**
 * The e-invoice of a document as XML: `cii` for the file `factur-x.xml` within its PDF, `ubl` for networks. It states the
 * amounts at issue. Later payments and credit notes aren't in it, so it is the same text whenever it is made.
 * @throws Error for a document that has none; see `hasEInvoice`.
 */
export function eInvoiceText(document: PrintedDocument, format: EInvoiceFormat): string {
  if (!hasEInvoice(document)) throw new Error(`The document ${document.record.id} has no e-invoice.`);
  return writers[format](readDocument(document));
}
