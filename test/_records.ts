import { hasDetail, type Resource, type ResourceRecord, resources } from '../src/contract/records.ts';
import type { RenderedRecord } from '../src/contract/render.ts';
import { examplesOf } from '../src/demo/example-company.ts';
import type { Engine, StoreTransaction } from '../src/server/store/engines/engine.ts';
import { searchColumns } from '../src/server/store/search-columns.ts';

/** Every record of the example company, each once, as it is stored. */
export function exampleRecords(): ResourceRecord[] {
  return resources.flatMap((resource) =>
    // A resource and a record of it belong together.
    examplesOf(resource).map((record) => asStored({ resource, record } as ResourceRecord)),
  );
}

/** An expired quote is stored as it was sent: it reads as expired because its last valid day is over. */
function asStored(record: ResourceRecord): ResourceRecord {
  if (record.resource !== 'quotes' || record.record.status !== 'expired') return record;
  return { ...record, record: { ...record.record, status: 'sent' } };
}

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
  transaction: StoreTransaction,
  resource: Resource,
  company: string,
  records: readonly RenderedRecord[],
): Promise<void> {
  const rows = records.map((record) => ({
    company,
    body: record.body,
    digest: record.digest,
    ...(record.detail === undefined ? {} : { detail: record.detail }),
    ...searchColumns(record),
  }));
  await transaction
    // The tables of records take the same columns; those with details one more.
    .insertInto(resource as 'invoices')
    .values(rows as unknown as { company: string; body: string; digest: string; detail: string }[])
    .onConflict((conflict) =>
      conflict.columns(['company', 'id']).doUpdateSet((row) => ({
        body: row.ref('excluded.body'),
        digest: row.ref('excluded.digest'),
        ...(hasDetail(resource) ? { detail: row.ref('excluded.detail') } : {}),
        ...(resource === 'invoices' && {
          paid_minor: row.ref('excluded.paid_minor'),
          search_words: row.ref('excluded.search_words'),
        }),
      })),
    )
    .execute();
}
