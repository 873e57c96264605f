import { companyInstant, machineZone } from '../../contract/company-time.ts';
import { contractDocument, type JsonSchema } from '../../contract/document.ts';
import { schemaNames } from '../../contract/records.ts';
import { UsageError } from '../../errors.ts';
import type { CallOptions, Client } from '../index.ts';
import { inParallel } from '../sync/in-parallel.ts';
import { listAccesses, type AnyRecord } from '../sync/lists.ts';
import type { Resource } from '../sync/sink.ts';

/** The options that select records and their format. */
export interface ExportedRecordsOptions {
  since?: string;
  timeZone?: string;
  format?: 'csv' | 'jsonl' | 'xlsx';
  lines?: boolean;
}

/** Returns the schema of a row: a record as in its list or, with `lines`, the whole document with one of its lines. */
export function recordsSchema(resource: Resource, { lines }: ExportedRecordsOptions): JsonSchema {
  const { schemas } = contractDocument().components;
  if (!lines) return schemas[schemaNames[resource].body] ?? {};
  const { lines: list = {}, ...members } = schemas[schemaNames[resource].whole]?.properties ?? {};
  return { properties: { ...members, line: list.items ?? {} } };
}

/** Returns a resource's rows page by page. The promise resolves once the first page has arrived. */
export function recordPages(
  client: Client,
  resource: Resource,
  { lines, format, ...options }: ExportedRecordsOptions,
  call: CallOptions,
): Promise<AsyncIterable<object[]>> {
  const access = listAccesses(client, 'current');
  const whole = ({ id }: AnyRecord): Promise<AnyRecord> =>
    resource === 'quotes' ? access.quotes.whole(id, call) : access.invoices.whole(id, call);
  async function* rows() {
    for await (const records of pagesOf(access, resource, momentOf(options), call)) {
      const read = lines ? await inParallel(records, whole) : records;
      yield lines && format !== 'jsonl' ? read.flatMap(rowsOf) : read;
    }
  }
  return begun(rows());
}

/** Returns `--since`, if given, as a UTC time. A day begins in the user's zone: the contract doesn't reveal the company's. */
function momentOf({ since, timeZone }: ExportedRecordsOptions): string | undefined {
  if (since === undefined) return undefined;
  const zone = timeZone ?? machineZone();
  const moment = since.length > 10 ? new Date(since) : companyInstant(zone, `${since}T00:00`);
  // The contract's times have four-digit years.
  const utc = moment?.toISOString() ?? '';
  if (!/^\d{4}-/.test(utc)) throw new UsageError('In UTC, the year of --since must have four digits.');
  return utc;
}

async function* pagesOf(
  access: ReturnType<typeof listAccesses>,
  resource: Resource,
  updatedSince: string | undefined,
  options: CallOptions,
): AsyncGenerator<AnyRecord[]> {
  const query = updatedSince === undefined ? {} : { updatedSince };
  if (resource !== 'submissions') {
    for await (const { data } of access[resource].pages(query, options)) yield data;
    return;
  }
  for await (const { data: forms } of access.forms.pages({}, options))
    for (const { id } of forms)
      for await (const { data } of access.submissionsOf(id).pages(query, options)) yield data;
}

async function begun<T>(pages: AsyncGenerator<T>): Promise<AsyncIterable<T>> {
  const first = await pages.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* pages;
  })();
}

/** Returns a row for each of a document's lines, or one if it has none. Only the first has the document's amounts. */
function rowsOf({ lines = [], ...document }: AnyRecord & { lines?: object[] }): object[] {
  if (lines.length === 0) return [document];
  const later = withoutAmounts(document);
  return lines.map((line, index) => ({ ...(index === 0 ? document : later), line }));
}

/** Returns a document without amounts and without lists that contain amounts: VAT, payments, refunds and credit notes. */
function withoutAmounts(document: object): object {
  const isSummed = (name: string, value: unknown) =>
    name.endsWith('Minor') || (Array.isArray(value) && value.some((item) => typeof item === 'object'));
  const text = JSON.stringify(document, (name, value: unknown) =>
    isSummed(name, value) ? undefined : value,
  );
  return JSON.parse(text) as object;
}
