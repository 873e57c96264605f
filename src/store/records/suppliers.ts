import type { CompanyProfile } from './companies.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../schema.ts';

/** The supplier on an issued document: the company's profile at the time of issue. */
export type Supplier = Omit<CompanyProfile, 'logo'> & {
  /** The logo is kept once for all documents that show it, under this hash of its data URL. */
  logoSha256: string | null;
};

/** The supplier's profile and logo. */
export interface SupplierStore {
  findProfile: (transaction: StoreTransaction, company: string) => Promise<CompanyProfile>;
  /** Keeps a logo once for all documents that show it. */
  keepLogo: (transaction: StoreTransaction, logo: Tables['logos']) => Promise<void>;
}

export function createSupplierStore(engine: Engine): SupplierStore {
  const profile = engine.command((db, value: { company: string }) =>
    db.selectFrom('companies').select('profile').where('id', '=', value.company),
  );
  const hasLogo = engine.command((db, value: Tables['logos']) =>
    db
      .selectFrom('logos')
      .select('sha256')
      .where('company', '=', value.company)
      .where('sha256', '=', value.sha256),
  );
  const insertLogo = engine.command((db, value: Tables['logos']) =>
    db.insertInto('logos').values({ company: value.company, sha256: value.sha256, data_url: value.data_url }),
  );
  return {
    async findProfile(transaction, company) {
      const [row] = await profile(transaction, { company });
      // Written from checked settings.
      return JSON.parse(row?.profile ?? '{}') as CompanyProfile;
    },
    async keepLogo(transaction, logo) {
      // Asked first, because a logo has up to a megabyte and is almost always kept already.
      if ((await hasLogo(transaction, logo)).length === 0) await insertLogo(transaction, logo);
    },
  };
}
