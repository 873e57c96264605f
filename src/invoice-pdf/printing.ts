import { createHash } from 'node:crypto';

import type { Invoice } from '../contract/records.ts';
import type { CompanyProfile } from '../store/companies.ts';
import {
  createDocumentStore,
  type DocumentHead,
  type DocumentStore,
  type PrintableDocument,
} from '../store/documents.ts';
import type { Engine } from '../store/engine.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Renderer } from './render.ts';

/** No document comes near it: 1,000 lines and a logo of a megabyte. What is larger is a fault. */
const PDF_BYTES_MAX = 16 * 1024 * 1024;

/** What became of a document that was to be printed. */
export type Printed =
  /** It is issued, and its PDF is stored now: by this call, which then knows what it is like, or by another one. */
  | { outcome: 'stored'; head: DocumentHead | undefined }
  /** It is a draft, whose PDF is for whoever asked alone. */
  | { outcome: 'draft'; bytes: Uint8Array; sha256: string }
  /** The company has no such document. */
  | { outcome: 'absent' };

/**
 * Makes the PDF of a document: of an issued one from what was fixed at its issue, to be stored; of a draft from what it
 * and the company's profile say now.
 */
export type Print = (company: string, id: string) => Promise<Printed>;

export function createPrint(engine: Engine, renderer: Renderer): Print {
  const store = createDocumentStore(engine);
  return async (company, id) => {
    const found = await store.findPrintable(company, id);
    if (!found) return { outcome: 'absent' };
    const isDraft = found.record.status === 'draft';
    const document = await (isDraft ? draftOf(store, company, found) : issuedOf(store, company, found));
    const bytes = await renderer.render(document);
    if (bytes.length > PDF_BYTES_MAX) {
      throw new Error(`The PDF has ${bytes.length} bytes, and may have ${PDF_BYTES_MAX}.`);
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (isDraft) return { outcome: 'draft', bytes, sha256 };
    const number = found.record.number ?? id;
    const head = { number, sha256, byteCount: bytes.length };
    const isOwn = await store.keep({
      company,
      invoice: id,
      number,
      sha256,
      byte_count: head.byteCount,
      bytes,
    });
    return { outcome: 'stored', head: isOwn ? head : undefined };
  };
}

/** A draft names the company as it is now. */
async function draftOf(
  store: DocumentStore,
  company: string,
  { record, reverseChargeRates }: PrintableDocument,
): Promise<PrintedDocument> {
  return { record, reverseChargeRates, ...supplierOf(await store.findProfile(company)) };
}

async function issuedOf(
  store: DocumentStore,
  company: string,
  { record, supplier, reverseChargeRates }: PrintableDocument,
): Promise<PrintedDocument> {
  const issued = { record: asIssued(record), reverseChargeRates };
  // Only what was loaded past the moves has no supplier of its own; its PDF fixes the one of this moment.
  if (!supplier) return { ...issued, ...supplierOf(await store.findProfile(company)) };
  const { logoSha256, ...rest } = supplier;
  const logo = logoSha256 === null ? undefined : await store.findLogo(company, logoSha256);
  if (logoSha256 !== null && logo === undefined) throw new Error(`The logo ${logoSha256} isn't stored.`);
  return { ...issued, supplier: rest, logo };
}

/**
 * An issued document as it was when it was issued. Payments, refunds and credit notes come later and change only the
 * members that are set back here, so a PDF that is first asked for after a payment is the one that was asked for before
 * it (VAT law: a document that was issued doesn't change).
 */
export function asIssued(record: Invoice): Invoice {
  return {
    ...record,
    // Every later change moves it. An issued document has a time of issue.
    updatedAt: record.issuedAt ?? record.createdAt,
    creditNotes: [],
    ...(record.kind === 'invoice'
      ? { payments: [], amountDueMinor: record.totals.grossMinor, refunds: [], creditBalanceMinor: 0 }
      : {}),
  };
}

function supplierOf({ logo, ...supplier }: CompanyProfile): Pick<PrintedDocument, 'supplier' | 'logo'> {
  return { supplier, logo };
}
