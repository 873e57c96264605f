import { type EInvoiceFormat, eInvoiceText, hasEInvoice } from '../e-invoice/e-invoice.ts';
import { inexpressible } from '../e-invoice/expressible.ts';
import { peppolProblems } from '../e-invoice/peppol.ts';
import { toEInvoice } from '../e-invoice/reading.ts';
import type { Engine } from '../store/engines/engine.ts';
import { findPrinted } from './printing.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';

/** The e-invoice of a stored document, or in `absence` a sentence saying why it has none. */
export interface StoredEInvoice {
  /** The document's number, or `draft-<id>`. */
  name: string;
  absence: string | undefined;
  /** Returns the violations of Peppol BIS Billing 3, in terms of the feed's members. */
  peppolProblems: () => string[];
  /** @throws Error for a document without an e-invoice. */
  text: (format: EInvoiceFormat) => string;
}

/** Finds the e-invoice of a document; undefined when the company has no document with that id. */
export async function findEInvoice(
  { db }: Engine,
  company: string,
  id: string,
): Promise<StoredEInvoice | undefined> {
  const found = await findPrinted(db, company, id);
  return found && eInvoiceOf(found.printed);
}

export function eInvoiceOf(printed: PrintedDocument): StoredEInvoice {
  const { id, number } = printed.record;
  const absence = hasEInvoice(printed) ? undefined : absenceOf(printed);
  return {
    name: number ?? `draft-${id}`,
    absence,
    peppolProblems: () => (absence === undefined ? peppolProblems(toEInvoice(printed)) : []),
    text: (format) => eInvoiceText(printed, format),
  };
}

function absenceOf(printed: PrintedDocument): string {
  const { record, isImported = false } = printed;
  if (record.status === 'draft') return 'A draft has no e-invoice.';
  if (record.kind === 'pro_forma') return 'A pro forma is no invoice, and has no e-invoice.';
  if (isImported) return 'The business system issued this document, and its e-invoice.';
  return `This document can’t be an e-invoice (EN 16931): ${inexpressible(printed)}.`;
}
