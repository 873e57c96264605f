import { sql } from 'kysely';

import type { JsonText } from '../../../contract/json-text.ts';
import type { ListedRecordOf, RecordOf, Resource, Submission } from '../../../contract/records.ts';
import type { Connection } from '../dialects/dialect.ts';
import { type Found, type ListPage, type PageRequest, readPage } from '../lists/lists.ts';

/** Reads one record of a table that has no separate details; undefined when the company has none with that id. */
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
  // Both texts were rendered from one record.
  const { rows } = await sql<DetailedRow>`
    SELECT body, detail, digest FROM ${sql.table(table)} WHERE company = ${company} AND id = ${id}`.execute(
    db,
  );
  return rows[0];
}

/** Lists a company's records of a table in id order, or those of them that changed at or after a time. */
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

/** Lists the submissions of one form in id order, or those of them that were created at or after a time. */
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
