import type { CompanyProfile } from './companies.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../schema.ts';

/** The supplier on an issued document: the company's profile at the time of issue. */
export type Supplier = Omit<CompanyProfile, 'logo'> & {
  /** The logo is kept once for all documents that show it, under this hash of its data URL. */
  logoSha256: string | null;
};

/** A company's profile as it is now; empty when there is no such company. */
export async function findProfile(db: Connection, company: string): Promise<CompanyProfile> {
  const row = await db.selectFrom('companies').select('profile').where('id', '=', company).executeTakeFirst();
  // Written from checked settings.
  return JSON.parse(row?.profile ?? '{}') as CompanyProfile;
}

/** A logo that was kept for documents, as a data URL; undefined when there is none. */
export async function findLogo(db: Connection, company: string, sha256: string): Promise<string | undefined> {
  const row = await logoQuery(db, company, sha256).select('data_url').executeTakeFirst();
  return row?.data_url;
}

/** Keeps a logo once for all documents that show it. */
export async function keepLogo(transaction: StoreTransaction, logo: Tables['logos']): Promise<void> {
  // Asked first, because a logo has up to a megabyte and is almost always kept already.
  const kept = await logoQuery(transaction, logo.company, logo.sha256).select('sha256').executeTakeFirst();
  if (!kept) await transaction.insertInto('logos').values(logo).execute();
}

function logoQuery(db: Connection, company: string, sha256: string) {
  return db.selectFrom('logos').where('company', '=', company).where('sha256', '=', sha256);
}
