import { closeSync, lstatSync, openSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { Argument, Command, InvalidArgumentError, Option } from 'commander';

import type { CallOptions, Client } from '../client/index.ts';
import { inParallel } from '../client/sync/in-parallel.ts';
import { type Resource, resources } from '../client/sync/sink.ts';
import { contractDocument, type JsonSchema } from '../contract/document.ts';
import { schemaNames } from '../contract/rendering.ts';
import { quote, UsageError } from '../errors.ts';
import { beginFile, namesFile, type UnfinishedFile } from '../store/backup/unfinished-file.ts';
import { csvColumns, csvHead, csvLine } from './csv.ts';
import { openService, type Service } from './service.ts';
import { type ServiceOptions, withService } from './service-access.ts';
import { listenForStop } from './stop.ts';
import type { Terminal } from './terminal.ts';

interface ExportOptions extends ServiceOptions {
  since?: string;
  format: 'csv' | 'jsonl';
  out: string;
  lines?: boolean;
}

/** `fieldledger export`: writes the records of a resource into a file for a spreadsheet, over the public API. */
export function exportCommand(terminal: Terminal): Command {
  return withService(new Command('export'))
    .description(
      'write records into a file that a spreadsheet opens, or into one with a line of JSON for each',
    )
    .addArgument(new Argument('<resource>', 'what to write').choices(resources))
    .option('--since <time>', 'only what has changed since a day, or a time with its offset', timeOf)
    .addOption(
      new Option('--format <format>', 'the form of the file').choices(['csv', 'jsonl']).default('csv'),
    )
    .requiredOption('--out <file>', 'the file; one that is there is replaced when the new one is whole')
    .option(
      '--lines',
      'with the lines of quotes and invoices: in CSV a row for each; takes a request for each document',
    )
    .action(async (resource: Resource, options: ExportOptions) => {
      check(resource, options);
      using stop = listenForStop();
      using service = openService(options, terminal, stop.signal);
      const writing = write(service, resource, options, { signal: stop.signal });
      const count = await service.inSentences(
        writing.catch((error: unknown) => {
          throw stop.signal.aborted
            ? new UsageError(`Stopped by ${String(stop.signal.reason)}. No file was written.`)
            : error;
        }),
      );
      const rows = `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}`;
      terminal.show({ resource, file: options.out, rows: count }, `${options.out}: ${rows} of ${resource}`);
    });
}

/** A day begins at midnight in UTC here. */
function timeOf(text: string): string {
  const isTime = /^\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/.test(text);
  const time = Date.parse(text);
  const day = text.slice(0, 10);
  // The 30th of February would pass for the 2nd of March.
  const isDay = isTime && !Number.isNaN(time) && new Date(day).toISOString().startsWith(day);
  if (!isDay)
    throw new InvalidArgumentError(
      'It must be a day such as 2026-11-01, or a time such as 2026-11-01T08:00:00Z.',
    );
  const utc = new Date(time).toISOString();
  // The contract's times have four digits for the year.
  if (utc.length > 24) throw new InvalidArgumentError('In UTC, its year must have four digits.');
  return utc;
}

function check(resource: Resource, { lines, since, out }: ExportOptions): void {
  if (lines && resource !== 'quotes' && resource !== 'invoices')
    throw new UsageError(`--lines is for quotes and invoices: ${resource} have none.`);
  if (since !== undefined && resource === 'people')
    throw new UsageError('--since is not for people: nobody knows when they changed.');
  inPlace(out, () => checkPlace(out));
}

function checkPlace(out: string): void {
  if (!statSync(dirname(out), { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`There is no folder ${quote(dirname(out))}.`);
  const there = statSync(out, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw new UsageError(`${quote(out)} is a folder.`);
  // To rename a file into the place of a device or a pipe would take that away.
  if (!namesFile(out) || (there && !there.isFile())) throw new UsageError(`${quote(out)} is no file.`);
  if (!there && lstatSync(out, { throwIfNoEntry: false }))
    throw new UsageError(`${quote(out)} is a link that leads nowhere.`);
}

/** Writes the file. @returns how many rows it has. */
async function write(
  { client }: Service,
  resource: Resource,
  { since, format, out, lines = false }: ExportOptions,
  options: CallOptions,
): Promise<number> {
  const columns = csvColumns(schemaOf(resource, lines));
  using file = inPlace(out, () => begin(out));
  const handle = openSync(file.path, 'a');
  let count = 0;
  try {
    if (format === 'csv') writeFileSync(handle, csvHead(columns));
    for await (const records of pagesOf(client, resource, since, options)) {
      const whole = lines ? await withLines(client, resource, records, options) : records;
      const rows = lines && format === 'csv' ? whole.flatMap(rowsOf) : whole;
      const texts = rows.map((row) =>
        format === 'csv' ? csvLine(columns, row) : `${JSON.stringify(row)}\n`,
      );
      writeFileSync(handle, texts.join(''));
      count += rows.length;
    }
  } catch (error) {
    throw unwritable(error, out) ?? error;
  } finally {
    closeSync(handle);
  }
  inPlace(out, () => file.replace());
  return count;
}

/** A file that is replaced keeps its mode, and a link to it stays one. */
function begin(out: string): UnfinishedFile {
  const there = statSync(out, { throwIfNoEntry: false });
  return there ? beginFile(realpathSync(out), there.mode & 0o777) : beginFile(out);
}

/** @throws UsageError that says why nothing can be written to a place. */
function inPlace<T>(out: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unwritable(error, out) ?? error;
  }
}

function unwritable(error: unknown, out: string): UsageError | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG')
    return new UsageError(`There is no room for ${quote(out)} (${code}). No file was written.`);
  return syscall === undefined
    ? undefined
    : new UsageError(`${quote(out)} can't be written (${code}). No file was written.`);
}

/** The schema of the rows: of the record as lists have it, or of the whole document with one of its lines. */
function schemaOf(resource: Resource, lines: boolean): JsonSchema {
  const names: { body: string; whole?: string } = schemaNames[resource];
  const { schemas } = contractDocument().components;
  if (!lines) return schemas[names.body] ?? {};
  const { lines: list = {}, ...members } = schemas[names.whole ?? names.body]?.properties ?? {};
  return { properties: { ...members, line: list.items ?? {} } };
}

interface AnyRecord {
  id: string;
  lines?: object[];
}

/** One row for each line; a draft without lines still has a row. */
function rowsOf({ lines = [], ...document }: AnyRecord): object[] {
  return lines.length === 0 ? [document] : lines.map((line) => ({ ...document, line }));
}

async function withLines(
  client: Client,
  resource: Resource,
  records: AnyRecord[],
  options: CallOptions,
): Promise<AnyRecord[]> {
  return inParallel(records, async ({ id }): Promise<AnyRecord> =>
    resource === 'quotes' ? client.getQuote(id, options) : client.getInvoice(id, options),
  );
}

/** The records page by page: issued documents, and the latest version of each quote. */
async function* pagesOf(
  client: Client,
  resource: Resource,
  updatedSince: string | undefined,
  options: CallOptions,
): AsyncGenerator<AnyRecord[]> {
  const query = updatedSince === undefined ? {} : { updatedSince };
  if (resource === 'submissions') {
    for await (const { id } of client.listForms({}, options))
      for await (const { data } of client.listFormSubmissions(id, query, options).pages()) yield data;
    return;
  }
  const listing = {
    people: () => client.listPeople({}, options),
    customers: () => client.listCustomers(query, options),
    forms: () => client.listForms(query, options),
    jobs: () => client.listJobs(query, options),
    quotes: () => client.listQuotes(query, options),
    invoices: () => client.listInvoices(query, options),
  }[resource]();
  for await (const { data } of listing.pages()) yield data;
}
