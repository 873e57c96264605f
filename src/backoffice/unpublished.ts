import type { Invoice } from '../contract/records.ts';
import type { Supplier } from '../store/suppliers.ts';

type Payment = NonNullable<Invoice['payments']>[number];
type Refund = NonNullable<Invoice['refunds']>[number];

/** What a quote needs and the API doesn't show: that of a document which it shares with it. */
export type QuoteUnpublished = Pick<Unpublished, 'reverseChargeRates'>;

/** What a document needs and the API doesn't show. It is stored beside the document's record. */
export interface Unpublished {
  /** The rate that the customer accounts for, of each line under reverse charge that states one, by the line's id. */
  reverseChargeRates: Record<string, number>;
  /** The quote that was converted to it, which can be converted again when the draft is discarded. */
  quoteId: string | null;
  /** Set when the document is issued. */
  supplier: Supplier | null;
  /** Of an issued invoice: what its credit notes took away of each VAT category and rate. */
  credited: Invoice['vatBreakdown'];
  /** Of an issued invoice: what was recorded and turned out not to be so. */
  voidedPayments: Payment[];
  voidedRefunds: Refund[];
}
