import type { Invoice } from '../../contract/records.ts';
import type { CompanyProfile } from '../store/records/companies.ts';

/**
 * Everything that a document and its e-invoice show: an issued document as it was at issue, a draft as it is now.
 */
export interface PrintedDocument {
  record: Invoice;
  supplier: Omit<CompanyProfile, 'logo'>;
  /** A `data:` URL of a PNG or JPEG picture. */
  logo: string | undefined;
  /**
   * The rate in basis points that the customer accounts for, of each line under reverse charge that states one, by the
   * line's id.
   */
  reverseChargeRates: Readonly<Record<string, number>>;
}
