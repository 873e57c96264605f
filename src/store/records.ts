import type { Transaction } from 'kysely';

import type { JsonText } from '../contract/json-text.ts';
import type { RenderedRecord } from '../contract/render.ts';
import type { Engine, PreparedQuery } from './engine.ts';
import type { ReadList } from './lists.ts';
import { type Page, type PageRequest, readPage } from './pages.ts';
import type { RecordTableName, Tables } from './schema.ts';

/** Rows of one INSERT: few enough for SQLite's limit on parameters, many enough to make a round trip worth while. */
const ROWS_MAX = 200;

/**
 * Writes records of a company, all or none: new ones are added, those with a known id are replaced.
 * @throws the driver's error when the database refuses one, for example a second latest version of a quote.
 */
export async function putRecords(
  engine: Engine,
  company: string,
  records: readonly RenderedRecord[],
): Promise<void> {
  await engine.transaction(async (transaction) => {
    for (const [resource, ofResource] of Map.groupBy(records, (record) => record.resource)) {
      for (let start = 0; start < ofResource.length; start += ROWS_MAX) {
        await upsert(transaction, resource, company, ofResource.slice(start, start + ROWS_MAX));
      }
    }
  });
}

async function upsert(
  transaction: Transaction<Tables>,
  resource: RecordTableName,
  company: string,
  records: readonly RenderedRecord[],
): Promise<void> {
  const hasDetail = resource === 'invoices' || resource === 'quotes';
  const rows = records.map(({ body, detail }) => ({
    company,
    body,
    ...(detail === undefined ? {} : { detail }),
  }));
  await transaction
    // The tables of records take the same columns; those with details one more.
    .insertInto(resource as 'invoices')
    .values(rows as { company: string; body: string; detail: string }[])
    .onConflict((conflict) =>
      conflict.columns(['company', 'id']).doUpdateSet((row) => ({
        body: row.ref('excluded.body'),
        ...(hasDetail ? { detail: row.ref('excluded.detail') } : {}),
      })),
    )
    .execute();
}

/** Reads one record's text by its id; undefined when the company has none with that id. */
export type FindRecord<T> = (company: string, id: string) => Promise<JsonText<T> | undefined>;

/** Builds the reader of single records of a table that has no separate details. */
export function createRecordFinder<T>(engine: Engine, table: RecordTableName): FindRecord<T> {
  const find: PreparedQuery<{ company: string; id: string }, { body: string }> = engine.prepare((db, value) =>
    db
      .selectFrom(table as 'jobs')
      .select('body')
      .where('company', '=', value.company)
      .where('id', '=', value.id),
  );
  return async (company, id) => {
    const [row] = await find({ company, id });
    // What is stored was rendered from a record of this type.
    return row?.body as JsonText<T> | undefined;
  };
}

/** A record's text in its two parts: what lists serve, and what only the single record has. */
export interface DetailedText {
  body: JsonText<object>;
  detail: JsonText<object>;
}

/** Builds the reader of single records of a table with separate details. */
export function createDetailFinder(
  engine: Engine,
  table: 'invoices' | 'quotes',
): (company: string, id: string) => Promise<DetailedText | undefined> {
  const find = engine.prepare((db, value: { company: string; id: string }) =>
    db
      .selectFrom(table as 'invoices')
      .select(['body', 'detail'])
      .where('company', '=', value.company)
      .where('id', '=', value.id),
  );
  return async (company, id) => {
    const [row] = await find({ company, id });
    // Both texts were rendered from one record.
    return row as DetailedText | undefined;
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
  return readPage(read, page, { table, company, streams: [{}], ranges });
}

/** Lists the submissions of one form in id order, or those of them that were created at or after a time. */
export async function listFormSubmissions<T>(
  read: ReadList,
  company: string,
  formId: string,
  createdSince: string | undefined,
  page: PageRequest,
): Promise<Page<T>> {
  const ranges =
    createdSince === undefined ? [] : [{ column: 'created_at', from: createdSince, within: ['form_id'] }];
  return readPage(read, page, { table: 'submissions', company, streams: [{ form_id: formId }], ranges });
}
