import { Argument, Command, InvalidArgumentError, Option } from 'commander';

import { companyInstant, isTimeZone } from '../../contract/company-time.ts';
import type { CallOptions, Client } from '../index.ts';
import { wholeSchema } from '../sync/columns.ts';
import { inParallel } from '../sync/in-parallel.ts';
import { accessOf } from '../sync/lists.ts';
import { type Resource, resources } from '../sync/sink.ts';
import { contractDocument, type JsonSchema } from '../../contract/document.ts';
import { schemaNames } from '../../contract/records.ts';
import { unknownName, UsageError } from '../../errors.ts';
import { listOf } from '../../command-line/given-values.ts';
import { type Column, columnsOf } from '../../tables/columns.ts';
import { csvHead, csvLine } from '../../tables/csv.ts';
import { checkOut, STDOUT, writeOut } from '../../command-line/out-file.ts';
import { openService } from './service.ts';
import { type ServiceOptions, withService } from './service-access.ts';
import { listenForStop } from '../../command-line/stop.ts';
import type { Terminal } from '../../command-line/terminal.ts';

interface ExportOptions extends ServiceOptions {
  since?: string;
  timeZone?: string;
  format?: 'csv' | 'jsonl' | 'xlsx';
  out: string;
  lines?: boolean;
  columns?: string[];
  separator?: ',' | ';' | 'tab';
  decimal?: '.' | ',';
}

interface Tally {
  rows: number;
  /** How many cells were shortened, by the names of their columns. */
  shortened: Map<string, number>;
}

/** `fieldledger export`: writes the records of a resource into a file for a spreadsheet, over the public API. */
export function exportCommand(terminal: Terminal): Command {
  return withService(new Command('export'))
    .description(
      'write records into a file that a spreadsheet opens, or into one with a line of JSON for each',
    )
    .addArgument(new Argument('<resource>', 'what to write').choices(resources))
    .option(
      '--since <time>',
      'only what has changed since the midnight that begins a day, or since a time with its offset',
      timeOf,
    )
    .option(
      '--time-zone <zone>',
      "where that day begins, such as Europe/Dublin; else in this machine's zone",
      zoneOf,
    )
    .addOption(
      new Option(
        '--format <format>',
        'format of the file; by default xlsx if its name ends in .xlsx, or else csv',
      ).choices(['csv', 'jsonl', 'xlsx']),
    )
    .requiredOption(
      '--out <file>',
      'the file, or - for standard output; a file that exists is replaced once the new one is complete',
    )
    .option(
      '--columns <names>',
      'only these columns, in this order, by their names in the first row',
      (text) => listOf(text),
    )
    .addOption(
      new Option('--separator <mark>', 'what separates the cells of a CSV').choices([',', ';', 'tab']),
    )
    .addOption(
      new Option('--decimal <mark>', 'decimal mark in a CSV; with a comma, cells are separated by ;').choices(
        ['.', ','],
      ),
    )
    .option(
      '--lines',
      'include the lines of quotes and invoices, each in a row of its own; takes a request for each document',
    )
    .action(async (resource: Resource, given: ExportOptions) => {
      const options = { ...given, format: given.format ?? (/\.xlsx$/i.test(given.out) ? 'xlsx' : 'csv') };
      check(resource, options);
      const all = columnsOf(schemaOf(resource, options.lines ?? false));
      const columns = chosen(resource, all, options.columns);
      const selection = { resource, columns, since: momentOf(options) };
      const tally: Tally = { rows: 0, shortened: new Map() };
      using stop = listenForStop();
      using service = openService(options, terminal, stop.signal);
      const { signal } = stop;
      const pieces = piecesOf(service.client, selection, options, tally, { signal });
      const isRead = await service.inSentences(writeOut(options.out, pieces, { terminal, signal }));
      if (isRead) report(resource, options, tally, terminal);
    });
}

function timeOf(text: string): string {
  const isTime =
    /^\d{4}-\d{2}-\d{2}(?:[Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/.test(text);
  const day = text.slice(0, 10);
  // Date would take 30 February for 2 March.
  const isDay = isTime && !Number.isNaN(Date.parse(text)) && new Date(day).toISOString().startsWith(day);
  // Time zones are known only for these years.
  if (!isDay || (text.length === 10 && !/^(?:19|2[01])/.test(text)))
    throw new InvalidArgumentError(
      'It must be a day such as 2026-11-01, from 1900 to 2199, or a time such as 2026-11-01T08:00:00Z.',
    );
  return text;
}

function zoneOf(text: string): string {
  if (!isTimeZone(text))
    throw new InvalidArgumentError('It must be an IANA time zone such as Europe/Dublin.');
  return text;
}

/** The moment of `--since` in UTC. The contract doesn't tell the time zone of the company. */
function momentOf({ since, timeZone }: ExportOptions): string | undefined {
  if (since === undefined) return undefined;
  const { timeZone: own } = Intl.DateTimeFormat().resolvedOptions();
  const moment = since.length > 10 ? new Date(since) : companyInstant(timeZone ?? own, `${since}T00:00`);
  // The contract's times have four digits for the year.
  const utc = moment?.toISOString() ?? '';
  if (!/^\d{4}-/.test(utc)) throw new UsageError('In UTC, the year of --since must have four digits.');
  return utc;
}

function check(resource: Resource, options: ExportOptions): void {
  const { lines, since, out } = options;
  if (lines && resource !== 'quotes' && resource !== 'invoices')
    throw new UsageError(`--lines is for quotes and invoices: ${resource} have none.`);
  if (since !== undefined && resource === 'people')
    throw new UsageError('--since is not for people, whose list has no updatedSince.');
  checkForm(options);
  checkOut(out);
}

function checkForm({ format, columns, separator, decimal }: ExportOptions): void {
  if (columns && format === 'jsonl') throw new UsageError('--columns is for tables: JSON Lines have none.');
  if ((separator ?? decimal) !== undefined && format !== 'csv')
    throw new UsageError(`--separator and --decimal are for CSV, not for ${format}.`);
  if (separator === ',' && decimal === ',')
    throw new UsageError('A comma can be the separator or the mark of decimals, not both.');
}

/** @throws UsageError for a name that no column has. */
function chosen(resource: Resource, columns: Column[], names?: string[]): Column[] {
  if (names?.length === 0) throw new UsageError('--columns names none.');
  if (!names) return columns;
  const known = new Map(columns.map((column) => [column.name, column]));
  return names.map((name) => {
    const column = known.get(name);
    if (!column) throw new UsageError(unknownName(name, `a column of ${resource}`, [...known.keys()]));
    return column;
  });
}

/** The file piece by piece, once the service has given its first page. */
async function piecesOf(
  client: Client,
  { resource, columns, since }: { resource: Resource; columns: Column[]; since: string | undefined },
  { format, lines = false, decimal = '.', separator = decimal === ',' ? ';' : ',' }: ExportOptions,
  tally: Tally,
  options: CallOptions,
): Promise<AsyncIterable<string | Uint8Array>> {
  const access = accessOf(client, 'current');
  const pages = await begun(pagesOf(access, resource, since, options));
  const whole = ({ id }: AnyRecord): Promise<AnyRecord> =>
    resource === 'quotes' ? access.quotes.whole(id, options) : access.invoices.whole(id, options);
  async function* rowsByPage() {
    for await (const records of pages) {
      const read = lines ? await inParallel(records, whole) : records;
      const rows = lines && format !== 'jsonl' ? read.flatMap(rowsOf) : read;
      tally.rows += rows.length;
      yield rows;
    }
  }
  async function* texts() {
    const style = { decimal, separator: separator === 'tab' ? '\t' : separator };
    const textOf = (row: object) =>
      format === 'csv' ? csvLine(columns, row, style, tally.shortened) : `${JSON.stringify(row)}\n`;
    if (format === 'csv') yield csvHead(columns, style);
    for await (const rows of rowsByPage()) yield rows.map(textOf).join('');
  }
  if (format !== 'xlsx') return texts();
  // Loaded here, because no other command writes workbooks.
  const { xlsxPieces } = await import('../../tables/xlsx.ts');
  return xlsxPieces(resource, columns, rowsByPage(), tally.shortened);
}

async function begun<T>(pages: AsyncGenerator<T>): Promise<AsyncIterable<T>> {
  const first = await pages.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* pages;
  })();
}

/** The most rows that a spreadsheet shows of a CSV, its head among them. */
const SHEET_ROWS_MAX = 1_048_576;

function report(resource: Resource, { out, format }: ExportOptions, tally: Tally, terminal: Terminal): void {
  const { rows, shortened } = tally;
  for (const [column, count] of shortened)
    terminal.tell(
      `${column}: ${count} ${count === 1 ? 'text' : 'texts'} shortened, because a cell holds 32,767 characters; jsonl has all.\n`,
    );
  if (format === 'csv' && rows >= SHEET_ROWS_MAX)
    terminal.tell('No spreadsheet shows more than 1,048,576 rows of a CSV; xlsx has further sheets.\n');
  const isStdout = out === STDOUT;
  const count = `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'} of ${resource}`;
  const result = { resource, file: isStdout ? null : out, rows, shortened: Object.fromEntries(shortened) };
  if (isStdout) terminal.conclude(result, count);
  else terminal.show(result, `${out}: ${count}`);
}

/** The schema of the rows: of the record as lists have it, or of the whole document with one of its lines. */
function schemaOf(resource: Resource, lines: boolean): JsonSchema {
  const { schemas } = contractDocument().components;
  if (!lines) return schemas[schemaNames[resource].body] ?? {};
  const { lines: list = {}, ...members } = schemas[wholeSchema(resource)]?.properties ?? {};
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

async function* pagesOf(
  access: ReturnType<typeof accessOf>,
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
