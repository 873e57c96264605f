import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { BuyerTerms, KeptTerms } from '../../contract/document-terms.ts';
import type { Invoice, RecordOf, Resource } from '../../contract/records.ts';
import type { Credited } from './credit-notes.ts';
import type { KeptSupplier } from '../store/records/suppliers.ts';

export type Payment = NonNullable<Invoice['payments']>[number];
type Refund = NonNullable<Invoice['refunds']>[number];

/** Data of a quote that the API doesn't show: what it and its lines share with those of a document. */
export interface QuoteUnpublished extends Pick<Unpublished, 'reverseChargeRates' | 'amounts'> {
  terms?: Pick<KeptTerms, 'lines'>;
}

/** Data of a customer that the API doesn't show. It is stored beside the customer's record. */
export interface CustomerUnpublished extends BuyerTerms {
  peppol?: boolean;
}

/** Data of a document that the API doesn't show. It is stored beside the document's record. */
export interface Unpublished {
  /** The rate that the customer accounts for, of each line under reverse charge that states one, by the line's id. */
  reverseChargeRates: Record<string, number>;
  /** Amounts that the API has no place for, where there are any. */
  amounts?: DocumentAmounts;
  /** For an issued document that asked for money: the last issued invoice that had this as paid before. */
  prepaidInvoiceId?: string;
  /** For an issued invoice: the rounding of its credit notes. */
  creditedRoundingMinor?: number;
  /** The quote that was converted to it, which can be converted again when the draft is discarded. */
  quoteId: string | null;
  /** The terms that the feed gave beside the contract's members, where it gave any. */
  terms?: KeptTerms;
  /** Set when the document is issued. */
  supplier: KeptSupplier | null;
  /** Whether the business system has issued it. */
  isImported?: boolean;
  /** For an issued invoice: the amounts that its credit notes took from each VAT category and rate. */
  credited: Invoice['vatBreakdown'];
  /** Amounts taken, in the accounting currency, where the invoice has one; a credit note keeps them up to date. */
  creditedAccounted?: Invoice['vatBreakdown'];
  /** For an issued invoice: its voided payments and refunds. */
  voidedPayments: Payment[];
  voidedRefunds: Refund[];
}

/** A document before it is stamped. */
export type DocumentRecord = Omit<Invoice, 'updatedAt'>;

/** A document that is drafted, or comes in, with the data that the API doesn't show. */
export interface Drafted {
  record: DocumentRecord;
  unpublished: Unpublished;
  /** The invoice that a credit note corrects. */
  credited: Credited | undefined;
}

/** Data that the API doesn't show, of the kinds of records that have such. */
interface UnpublishedOf {
  invoices: Unpublished;
  quotes: QuoteUnpublished;
  customers: CustomerUnpublished;
}

export type AnyUnpublished = UnpublishedOf[keyof UnpublishedOf];

/** A stored record with that data. */
export interface Stored<R extends Resource> {
  record: RecordOf[R];
  unpublished: R extends keyof UnpublishedOf ? UnpublishedOf[R] : object;
}

export type StoredDocument = Stored<'invoices'>;
