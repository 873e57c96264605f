import type { DocumentAmounts } from '../../contract/document-amounts.ts';
import type { StoredTerms } from '../../contract/document-terms.ts';
import type { Invoice } from '../../contract/records.ts';
import type { ShownSupplier } from '../store/records/suppliers.ts';
import type { CustomerAccount } from './account.ts';

/**
 * Everything that a document and its e-invoice show: an issued document as it was at issue, a draft as it is now.
 */
export interface PrintedDocument extends ShownSupplier {
  record: Invoice;
  /**
   * VAT rates in basis points that the customer accounts for under reverse charge, by the id of each line that states
   * one.
   */
  reverseChargeRates: Readonly<Record<string, number>>;
  /** Terms that the document shows in addition to the contract's members. */
  terms?: StoredTerms | undefined;
  /** Amounts that the record doesn't show, where there are any. */
  amounts?: DocumentAmounts | undefined;
  /** Whether the business system issued the document; this is then a copy made from its data. */
  isImported?: boolean;
  /** The calendar day of a statement of account about the invoice; undefined for the document itself. */
  statementOn?: string | undefined;
  /** The account of the invoice's customer, for a statement of all that they owe. */
  account?: CustomerAccount | undefined;
}
