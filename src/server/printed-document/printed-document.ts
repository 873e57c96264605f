import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { KeptTerms } from '../../contract/document-terms.ts';
import type { Invoice } from '../../contract/records.ts';
import type { ShownSupplier } from '../store/records/suppliers.ts';

/**
 * Everything that a document and its e-invoice show: an issued document as it was at issue, a draft as it is now.
 */
export interface PrintedDocument extends ShownSupplier {
  record: Invoice;
  /**
   * The rate in basis points that the customer accounts for, of each line under reverse charge that states one, by the
   * line's id.
   */
  reverseChargeRates: Readonly<Record<string, number>>;
  /** The terms that it shows beside the contract's members. */
  terms?: KeptTerms | undefined;
  /** Amounts that the record doesn't show, where there are any. */
  amounts?: DocumentAmounts | undefined;
  /** Whether the business system has issued it: this is made from its data then, and isn't the original. */
  isImported?: boolean;
  /** The calendar day of a statement of account about the invoice; undefined for the document itself. */
  statementOn?: string | undefined;
}
