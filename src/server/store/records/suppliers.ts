import { createHash } from 'node:crypto';

import { vatIdOn } from '../../../contract/vat-numbers.ts';
import type { CompanyProfile } from '../tables/companies.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { StoreTransaction } from '../engines/engine.ts';

export type Supplier = Omit<CompanyProfile, 'logo'>;

/** How an issued document looks, apart from the supplier's own profile. */
interface Look {
  /** The operator's accent colour at the issue, as `#rrggbb`; ours where it has none. */
  accent?: string | undefined;
}

export type KeptSupplier = Supplier &
  Look & {
    /** The logo is kept once for all documents that show it, under this hash of its data URL. */
    logoSha256: string | null;
  };

/** A supplier with its logo as a data URL, if it has one. */
export interface ShownSupplier extends Look {
  supplier: Supplier;
  logo: string | undefined;
}

/**
 * Finds the supplier of a document: the one that is kept with it, which is the company as it was at the issue; otherwise
 * the company as it is now, which is empty when there is none. Of issued documents only those that no move made, such as
 * loaded ones, have no kept supplier.
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
    // Written from checked settings.
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

/** A supplier with the VAT number that a document states. */
export function supplierOn(
  supplier: Supplier,
  { vatBreakdown }: { vatBreakdown: readonly { category: string }[] },
): Supplier {
  if (supplier.vatId === undefined) return supplier;
  const categories = vatBreakdown.map(({ category }) => category);
  return { ...supplier, vatId: vatIdOn(supplier.vatId, categories) };
}

/** Keeps a supplier, and how its pages look, for a document that is issued. */
export async function keepSupplier(
  transaction: StoreTransaction,
  company: string,
  { supplier, logo, ...look }: ShownSupplier,
): Promise<KeptSupplier> {
  if (logo === undefined) return { ...supplier, ...look, logoSha256: null };
  const sha256 = createHash('sha256').update(logo).digest('hex');
  // Asked first, because a logo has up to a megabyte and is almost always kept already.
  const kept = await logoQuery(transaction, company, sha256).select('sha256').executeTakeFirst();
  if (!kept) await transaction.insertInto('logos').values({ company, sha256, data_url: logo }).execute();
  return { ...supplier, ...look, logoSha256: sha256 };
}

function logoQuery(db: Connection, company: string, sha256: string) {
  return db.selectFrom('logos').where('company', '=', company).where('sha256', '=', sha256);
}
