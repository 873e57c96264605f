import type { JsonText } from '../../contract/json-text.ts';
import type { Engine } from '../engines/engine.ts';
import type { ReadList } from '../lists/lists.ts';
import { type Page, type PageRequest, readPage } from '../lists/pages.ts';
import type { RecordTableName } from '../schema.ts';

/** A record as it is served, and its digest, if that is known. */
export interface Found<T> {
  text: JsonText<T>;
  digest: string | null;
}

/** Reads one record by its id; undefined when the company has none with that id. */
export type FindRecord<T> = (company: string, id: string) => Promise<Found<T> | undefined>;

/** Builds the reader of single records of a table that has no separate details. */
export function createRecordFinder<T>(engine: Engine, table: RecordTableName): FindRecord<T> {
  const find = engine.prepare((db, value: { company: string; id: string }) =>
    db
      .selectFrom(table as 'jobs')
      .select(['body', 'digest'])
      .where('company', '=', value.company)
      .where('id', '=', value.id),
  );
  return async (company, id) => {
    const [row] = await find({ company, id });
    // The stored text was rendered from a record of this type.
    return row && { text: row.body as JsonText<T>, digest: row.digest };
  };
}

/** A record in its two parts: what lists serve, and what only the single record has. */
export interface DetailedRow {
  body: JsonText<object>;
  detail: JsonText<object>;
  digest: string | null;
}

/** Builds the reader of single records of a table with separate details. */
export function createDetailFinder(
  engine: Engine,
  table: 'invoices' | 'quotes',
): (company: string, id: string) => Promise<DetailedRow | undefined> {
  const find = engine.prepare((db, value: { company: string; id: string }) =>
    db
      .selectFrom(table as 'invoices')
      .select(['body', 'detail', 'digest'])
      .where('company', '=', value.company)
      .where('id', '=', value.id),
  );
  return async (company, id) => {
    const [row] = await find({ company, id });
    // Both texts were rendered from one record.
    return row as DetailedRow | undefined;
  };
}

/** Lists a company's records of a table in id order, or those of them that changed at or after a time. */
export async function listRecords<T>(
  read: ReadList,
  table: RecordTableName,
  company: string,
  updatedSince: string | undefined,
  page: PageRequest,
): Promise<Page<T>> {
  const ranges = updatedSince === undefined ? [] : [{ column: 'updated_at', from: updatedSince }];
  return readPage(read, page, { table, company, among: {}, ranges });
}

/** Lists the submissions of one form in id order, or those of them that were created at or after a time. */
export async function listFormSubmissions<T>(
  read: ReadList,
  company: string,
  formId: string,
  createdSince: string | undefined,
  page: PageRequest,
): Promise<Page<T>> {
  const ranges = createdSince === undefined ? [] : [{ column: 'created_at', from: createdSince }];
  return readPage(read, page, { table: 'submissions', company, among: { form_id: [formId] }, ranges });
}
