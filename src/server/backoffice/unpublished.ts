import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { BuyerTerms, KeptTerms } from '../../contract/document-terms.ts';
import type { Invoice, RecordOf, Resource } from '../../contract/records.ts';
import type { Credited } from './credit-notes.ts';
import type { KeptSupplier } from '../store/records/suppliers.ts';

export type Payment = NonNullable<Invoice['payments']>[number];
type Refund = NonNullable<Invoice['refunds']>[number];

/** Data of a quote that the API doesn't show, in the same members as an invoice's. */
export interface QuoteUnpublished extends Pick<Unpublished, 'reverseChargeRates' | 'amounts'> {
  terms?: Pick<KeptTerms, 'lines'>;
}

/** Data of a customer that the API doesn't show, stored beside the customer's record. */
export interface CustomerUnpublished extends BuyerTerms {
  peppol?: boolean;
}

/** Data of a document that the API doesn't show, stored beside the document's record. */
export interface Unpublished {
  /** VAT rates in basis points that the customer accounts for under reverse charge, by the id of each line stating one. */
  reverseChargeRates: Record<string, number>;
  /** Amounts that the API has no member for, where there are any. */
  amounts?: DocumentAmounts;
  /** For an issued document that requested a prepayment: the id of the last issued invoice that used it. */
  prepaidInvoiceId?: string;
  /** For an issued invoice: the total rounding of its credit notes, in minor units. */
  creditedRoundingMinor?: number;
  /** The id of the quote that was converted to the document; discarding the draft allows another conversion. */
  quoteId: string | null;
  /** The terms that the feed gave in addition to the contract's members, if any. */
  terms?: KeptTerms;
  /** The supplier as stored at issue; null for a draft. */
  supplier: KeptSupplier | null;
  /** Whether the business system issued the document. */
  isImported?: boolean;
  /** For an issued invoice: the amounts credited so far in each VAT category and rate. */
  credited: Invoice['vatBreakdown'];
  /** The amounts credited so far in the accounting currency, where the invoice has one. */
  creditedAccounted?: Invoice['vatBreakdown'];
  /** For an issued invoice: its voided payments and refunds. */
  voidedPayments: Payment[];
  voidedRefunds: Refund[];
}

/** A document without `updatedAt`. */
export type DocumentRecord = Omit<Invoice, 'updatedAt'>;

/** A drafted or imported document, with the data that the API doesn't show. */
export interface Drafted {
  record: DocumentRecord;
  unpublished: Unpublished;
  /** The invoice that a credit note corrects. */
  credited: Credited | undefined;
}

/** The type of data that the API doesn't show, by resource. */
interface UnpublishedOf {
  invoices: Unpublished;
  quotes: QuoteUnpublished;
  customers: CustomerUnpublished;
}

export type AnyUnpublished = UnpublishedOf[keyof UnpublishedOf];

/** A stored record with the data that the API doesn't show. */
export interface Stored<R extends Resource> {
  record: RecordOf[R];
  unpublished: R extends keyof UnpublishedOf ? UnpublishedOf[R] : object;
}

export type StoredDocument = Stored<'invoices'>;
