import { createHash } from 'node:crypto';

import { vatIdOn } from '../../../contract/vat-numbers.ts';
import type { CompanyProfile } from '../tables/companies.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { StoreTransaction } from '../engines/engine.ts';

export type Supplier = Omit<CompanyProfile, 'logo'>;

/** The appearance of an issued document, apart from the supplier's own profile. */
interface Look {
  /** The operator's accent colour at the time of issue, as `#rrggbb`; undefined for Fieldledger's own. */
  accent?: string | undefined;
}

export type KeptSupplier = Supplier &
  Look & {
    /** Hash of the logo's data URL, under which the logo is stored once for all documents; null for no logo. */
    logoSha256: string | null;
  };

/** A supplier as a document shows it, with its logo as a data URL if it has one. */
export interface ShownSupplier extends Look {
  supplier: Supplier;
  logo: string | undefined;
}

/**
 * Returns a document's supplier: the details stored with it at issue, otherwise the company's current profile. The only
 * issued documents without stored details are those not made by a move, such as loaded ones.
 */
export async function findSupplier(
  db: Connection,
  company: string,
  kept: KeptSupplier | null,
): Promise<ShownSupplier> {
  if (!kept) {
    const row = await db
      .selectFrom('companies')
      .select('profile')
      .where('id', '=', company)
      .executeTakeFirst();
    // The profile was written from validated settings.
    const { logo, ...supplier } = JSON.parse(row?.profile ?? '{}') as CompanyProfile;
    return { supplier, logo };
  }
  const { logoSha256, accent, ...supplier } = kept;
  const shown = { supplier, accent };
  if (logoSha256 === null) return { ...shown, logo: undefined };
  const row = await logoQuery(db, company, logoSha256).select('data_url').executeTakeFirst();
  if (!row) throw new Error(`The logo ${logoSha256} isn't stored.`);
  return { ...shown, logo: row.data_url };
}

/** Returns a supplier with the VAT number that a document must state for it. */
export function supplierOn(
  supplier: Supplier,
  { vatBreakdown }: { vatBreakdown: readonly { category: string }[] },
): Supplier {
  if (supplier.vatId === undefined) return supplier;
  const categories = vatBreakdown.map(({ category }) => category);
  return { ...supplier, vatId: vatIdOn(supplier.vatId, categories) };
}

/** Stores a supplier's logo, and returns the supplier and its appearance in the form stored with a document. */
export async function keepSupplier(
  transaction: StoreTransaction,
  company: string,
  { supplier, logo, ...look }: ShownSupplier,
): Promise<KeptSupplier> {
  if (logo === undefined) return { ...supplier, ...look, logoSha256: null };
  const sha256 = createHash('sha256').update(logo).digest('hex');
  // Checked first, because a logo may have a megabyte and is almost always stored already.
  const kept = await logoQuery(transaction, company, sha256).select('sha256').executeTakeFirst();
  if (!kept) await transaction.insertInto('logos').values({ company, sha256, data_url: logo }).execute();
  return { ...supplier, ...look, logoSha256: sha256 };
}

function logoQuery(db: Connection, company: string, sha256: string) {
  return db.selectFrom('logos').where('company', '=', company).where('sha256', '=', sha256);
}
