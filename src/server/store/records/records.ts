import { sql } from 'kysely';

import type { JsonText } from '../../../contract/json-text.ts';
import type { ListedRecordOf, RecordOf, Resource, Submission } from '../../../contract/records.ts';
import type { Connection } from '../dialects/dialect.ts';
import { type Found, type ListPage, type PageRequest, readPage } from '../lists/lists.ts';

/** Returns one record from a table without separate details; undefined when the company has none with that id. */
export async function findRecord<R extends Resource>(
  db: Connection,
  table: R,
  company: string,
  id: string,
): Promise<Found<RecordOf[R]> | undefined> {
  // The stored text was rendered from a record of this type.
  const { rows } = await sql<Found<RecordOf[R]>>`
    SELECT body, digest FROM ${sql.table(table)} WHERE company = ${company} AND id = ${id}`.execute(db);
  return rows[0];
}

/** A record in two parts: the body that lists serve, and the further members that only the single record shows. */
export interface DetailedRow extends Found<object> {
  detail: JsonText<object>;
}

/** Returns one record from a table with separate details; undefined when the company has none with that id. */
export async function findDetailed(
  db: Connection,
  table: 'invoices' | 'quotes',
  company: string,
  id: string,
): Promise<DetailedRow | undefined> {
  // Both texts were rendered from one record.
  const { rows } = await sql<DetailedRow>`
    SELECT body, detail, digest FROM ${sql.table(table)} WHERE company = ${company} AND id = ${id}`.execute(
    db,
  );
  return rows[0];
}

/** Returns a page of a company's records in id order, optionally only those that changed at or after a time. */
export async function listRecords<R extends Resource>(
  db: Connection,
  table: R,
  company: string,
  updatedSince: string | undefined,
  page: PageRequest,
): Promise<ListPage<ListedRecordOf[R]>> {
  const ranges = updatedSince === undefined ? [] : [{ column: 'updated_at', from: updatedSince }];
  return readPage(db, page, { table, company, among: {}, ranges });
}

/** Returns a page of a form's submissions in id order, optionally only those created at or after a time. */
export async function submissionsPage(
  db: Connection,
  company: string,
  formId: string,
  createdSince: string | undefined,
  page: PageRequest,
): Promise<ListPage<Submission>> {
  const ranges = createdSince === undefined ? [] : [{ column: 'created_at', from: createdSince }];
  return readPage(db, page, { table: 'submissions', company, among: { form_id: [formId] }, ranges });
}
