import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { BuyerTerms, StoredTerms } from '../../contract/document-terms.ts';
import type { Invoice, RecordOf, Resource } from '../../contract/records.ts';
import type { CreditedInvoice } from './credit-notes.ts';
import type { KeptSupplier } from '../store/records/suppliers.ts';

export type Payment = NonNullable<Invoice['payments']>[number];
type Refund = NonNullable<Invoice['refunds']>[number];

/** Data of a quote that is stored but not shown by the API, in the same members as an invoice's. */
export interface QuoteUnpublished extends Pick<Unpublished, 'reverseChargeRates' | 'amounts'> {
  terms?: Pick<StoredTerms, 'lines'>;
}

/** Data of a customer that is stored but not shown by the API. */
export interface CustomerUnpublished extends BuyerTerms {
  peppol?: boolean;
}

/** Data of a document that is stored beside its record but not shown by the API. */
export interface Unpublished {
  /** VAT rates in basis points for which the customer accounts under reverse charge, by the id of each line with one. */
  reverseChargeRates: Record<string, number>;
  /** Amounts for which the API has no member, if there are any. */
  amounts?: DocumentAmounts;
  /** For an issued document that requested a prepayment: the id of the last issued invoice that used it. */
  prepaidInvoiceId?: string;
  /** For an issued invoice: the total rounding of its credit notes, in minor units. */
  creditedRoundingMinor?: number;
  /** The id of the quote that was converted to the document; null if it wasn't made from a quote. */
  quoteId: string | null;
  /** The terms that the feed gave in addition to the contract's members, if any. */
  terms?: StoredTerms;
  /** The supplier's details as stored at issue; null for a draft. */
  supplier: KeptSupplier | null;
  /** Whether the business system issued the document. */
  isImported?: boolean;
  /** For an issued invoice: the net and VAT credited so far in each VAT category and rate. */
  credited: Invoice['vatBreakdown'];
  /** The amounts credited so far in the accounting currency, if the invoice has one. */
  creditedAccounted?: Invoice['vatBreakdown'];
  /** For an issued invoice: its voided payments and refunds. */
  voidedPayments: Payment[];
  voidedRefunds: Refund[];
}

/** A document without `updatedAt`. */
export type DocumentRecord = Omit<Invoice, 'updatedAt'>;

/** A drafted or imported document, with its unpublished data. */
export interface Drafted {
  record: DocumentRecord;
  unpublished: Unpublished;
  /** The invoice that a credit note corrects; undefined for other documents. */
  credited: CreditedInvoice | undefined;
}

/** The type of each resource's unpublished data. */
interface UnpublishedOf {
  invoices: Unpublished;
  quotes: QuoteUnpublished;
  customers: CustomerUnpublished;
}

export type AnyUnpublished = UnpublishedOf[keyof UnpublishedOf];

/** A stored record with its unpublished data. */
export interface Stored<R extends Resource> {
  record: RecordOf[R];
  unpublished: R extends keyof UnpublishedOf ? UnpublishedOf[R] : object;
}

export type StoredDocument = Stored<'invoices'>;
