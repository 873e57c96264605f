import type { Invoice } from '../contract/records.ts';
import type { CompanyProfile } from '../store/companies.ts';

/**
 * Everything that a document shows and its e-invoice says: of an issued document as it was when it was issued, of a
 * draft as it is now. Plain data, so that it can be handed to another thread.
 */
export interface PrintedDocument {
  record: Invoice;
  supplier: Omit<CompanyProfile, 'logo'>;
  /** A `data:` URL of a PNG or JPEG picture. */
  logo: string | undefined;
  /** The rate in basis points that the customer accounts for, of each line under reverse charge that states one, by the line's id. */
  reverseChargeRates: Readonly<Record<string, number>>;
}
