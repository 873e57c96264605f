import { type Insertable, sql } from 'kysely';

import type { JsonText } from '../../../contract/json-text.ts';
import type { RenderedRecord } from '../../../contract/render.ts';
import { hasDetail, type Resource } from '../../../contract/records.ts';
import { hasRow } from '../batches.ts';
import type { Connection } from '../dialects/dialect.ts';
import type { StoreTransaction } from '../engines/engine.ts';
import type { Tables } from '../tables/tables.ts';
import { searchColumns } from '../search-columns.ts';

/** The texts of a record as they are stored. `detail` and `unpublished` are present if the table has those columns. */
export interface StoredTexts {
  body: string;
  detail?: string;
  unpublished?: string | undefined;
}

/** Returns a record's texts; undefined when the company has no record with that id. */
export async function findTexts(
  db: Connection,
  resource: Resource,
  company: string,
  id: string,
): Promise<StoredTexts | undefined> {
  return db
    .selectFrom(tableOf(resource))
    .select(columnsOf(resource))
    .where((row) => row.and({ company, id }))
    .executeTakeFirst();
}

/** Whether the company has a record with that id. */
export async function hasRecord(
  transaction: StoreTransaction,
  resource: Resource,
  company: string,
  id: string,
): Promise<boolean> {
  return hasRow(transaction, sql.table(resource), sql`company = ${company} AND id = ${id}`);
}

/** Stores a record, in place of any with the same id. `unpublished` stays unchanged unless given. */
export async function putRecord(
  transaction: StoreTransaction,
  company: string,
  rendered: RenderedRecord,
  unpublished?: string,
): Promise<void> {
  const { resource, body, detail = '{}' as JsonText<object>, digest } = rendered;
  const given: StoredTexts = { body, detail, unpublished };
  const columns = columnsOf(resource).filter((column) => given[column] !== undefined);
  const texts = Object.fromEntries(columns.map((column) => [column, given[column]]));
  const set = { ...texts, digest, ...searchColumns(rendered) };
  await transaction
    .insertInto(tableOf(resource))
    // Every record table has these columns.
    .values({ company, ...set } as Insertable<Tables['invoices']>)
    .onConflict((conflict) => conflict.columns(['company', 'id']).doUpdateSet(set))
    .execute();
}

/** Deletes a record, if the company has it. */
export async function removeRecord(
  transaction: StoreTransaction,
  resource: Resource,
  company: string,
  id: string,
): Promise<void> {
  await transaction
    .deleteFrom(tableOf(resource))
    .where((row) => row.and({ company, id }))
    .execute();
}

/** Returns a resource's table, typed as `invoices`, which has all the columns that any record table shares. */
const tableOf = (resource: Resource) => resource as 'invoices';

function columnsOf(resource: Resource): (keyof StoredTexts)[] {
  if (hasDetail(resource)) return ['body', 'detail', 'unpublished'];
  return resource === 'customers' ? ['body', 'unpublished'] : ['body'];
}
