import type { JsonText } from '../../../contract/json-text.ts';
import type { Resource } from '../../../contract/records.ts';
import type { Connection } from '../dialects/dialect.ts';
import { type Found, type Page, type PageRequest, readPage } from '../lists/lists.ts';

/** Reads one record of a table that has no separate details; undefined when the company has none with that id. */
export async function findRecord<T>(
  db: Connection,
  table: Resource,
  company: string,
  id: string,
): Promise<Found<T> | undefined> {
  const row = await db
    .selectFrom(table as 'jobs')
    .select(['body', 'digest'])
    .where('company', '=', company)
    .where('id', '=', id)
    .executeTakeFirst();
  // The stored text was rendered from a record of this type.
  return row as Found<T> | undefined;
}

/** A record in its two parts: what lists serve, and what only the single record has. */
export interface DetailedRow extends Found<object> {
  detail: JsonText<object>;
}

/** Reads one record of a table with separate details. */
export async function findDetailed(
  db: Connection,
  table: 'invoices' | 'quotes',
  company: string,
  id: string,
): Promise<DetailedRow | undefined> {
  const row = await db
    .selectFrom(table as 'invoices')
    .select(['body', 'detail', 'digest'])
    .where('company', '=', company)
    .where('id', '=', id)
    .executeTakeFirst();
  // Both texts were rendered from one record.
  return row as DetailedRow | undefined;
}

/** Lists a company's records of a table in id order, or those of them that changed at or after a time. */
export async function listRecords<T>(
  db: Connection,
  table: Resource,
  company: string,
  updatedSince: string | undefined,
  page: PageRequest,
): Promise<Page<T>> {
  const ranges = updatedSince === undefined ? [] : [{ column: 'updated_at', from: updatedSince }];
  return readPage(db, page, { table, company, among: {}, ranges });
}

/** Lists the submissions of one form in id order, or those of them that were created at or after a time. */
export async function listFormSubmissions<T>(
  db: Connection,
  company: string,
  formId: string,
  createdSince: string | undefined,
  page: PageRequest,
): Promise<Page<T>> {
  const ranges = createdSince === undefined ? [] : [{ column: 'created_at', from: createdSince }];
  return readPage(db, page, { table: 'submissions', company, among: { form_id: [formId] }, ranges });
}
