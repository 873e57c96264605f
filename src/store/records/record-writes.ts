import type { RenderedRecord } from '../../contract/render.ts';
import type { Resource } from '../../contract/records.ts';
import type { Engine, StoreTransaction } from '../engines/engine.ts';

/** A record's texts as a move finds them. `detail` and `unpublished` are there where the table has them. */
export interface StoredTexts {
  body: string;
  detail?: string;
  unpublished?: string;
}

/** One company's records, read and written inside a transaction. */
export interface RecordWrites {
  find: (transaction: StoreTransaction, company: string, id: string) => Promise<StoredTexts | undefined>;
  has: (transaction: StoreTransaction, company: string, id: string) => Promise<boolean>;
  /** Adds a record, or replaces the one with its id. `unpublished` stays as it was unless it is given. */
  put: (
    transaction: StoreTransaction,
    company: string,
    record: RenderedRecord,
    unpublished: string | undefined,
  ) => Promise<void>;
  remove: (transaction: StoreTransaction, company: string, id: string) => Promise<void>;
}

type Key = { company: string; id: string };

/** The statements of one table, each compiled once. */
export function createRecordWrites(engine: Engine, resource: Resource): RecordWrites {
  // The tables of records share these columns; invoices and quotes have all that any of them has.
  const table = resource as 'invoices';
  const columns = columnsOf[resource];
  const find = engine.command((db, value: Key) =>
    db.selectFrom(table).select(columns).where('company', '=', value.company).where('id', '=', value.id),
  );
  const has = engine.command((db, value: Key) =>
    db.selectFrom(table).select('company').where('company', '=', value.company).where('id', '=', value.id),
  );
  const remove = engine.command((db, value: Key) =>
    db.deleteFrom(table).where('company', '=', value.company).where('id', '=', value.id),
  );
  const putColumns = (written: readonly (keyof StoredTexts)[]) =>
    engine.command((db, value: { company: string; digest: string } & Required<StoredTexts>) => {
      const texts = Object.fromEntries(
        [...written, 'digest' as const].map((column) => [column, value[column]]),
      );
      return db
        .insertInto(table)
        .values({ company: value.company, ...(texts as Required<StoredTexts>) })
        .onConflict((conflict) => conflict.columns(['company', 'id']).doUpdateSet(texts));
    });
  const putAll = putColumns(columns);
  const putPublished = putColumns(columns.filter((column) => column !== 'unpublished'));
  return {
    find: async (transaction, company, id) => (await find(transaction, { company, id }))[0],
    has: async (transaction, company, id) => (await has(transaction, { company, id })).length > 0,
    async put(transaction, company, { body, detail = '{}', digest }, unpublished) {
      const put = unpublished === undefined ? putPublished : putAll;
      await put(transaction, { company, body, detail, digest, unpublished: unpublished ?? '{}' });
    },
    async remove(transaction, company, id) {
      await remove(transaction, { company, id });
    },
  };
}

const columnsOf: Record<Resource, (keyof StoredTexts)[]> = {
  people: ['body'],
  customers: ['body'],
  forms: ['body'],
  jobs: ['body'],
  submissions: ['body'],
  invoices: ['body', 'detail', 'unpublished'],
  quotes: ['body', 'detail', 'unpublished'],
};
