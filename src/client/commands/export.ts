import { Argument, Command, InvalidArgumentError, Option } from 'commander';

import { isDay, isTimeZone } from '../../contract/company-time.ts';
import { type Resource, resources } from '../sync/sink.ts';
import { unknownName, UsageError } from '../../errors.ts';
import { listOf } from '../../command-line/given-values.ts';
import { type SheetColumn, columnsOf } from '../../tables/columns.ts';
import { csvHead, csvLine } from '../../tables/csv.ts';
import { checkOut, STDOUT, writeOut } from '../../command-line/out-file.ts';
import { recordPages, type ExportedRecordsOptions, recordsSchema } from './exported-records.ts';
import {
  isReport,
  type Report,
  reportNames,
  type ReportOptions,
  reportRows,
  reportSchema,
} from './reports.ts';
import { openService } from './service.ts';
import { type ServiceOptions, withService } from './service-access.ts';
import { listenForStopSignals } from '../../command-line/stop.ts';
import type { Terminal } from '../../command-line/terminal.ts';

type Exported = Resource | Report;

interface ExportOptions extends ServiceOptions, ExportedRecordsOptions, ReportOptions {
  out: string;
  columns?: string[];
  separator?: ',' | ';' | 'tab';
  decimal?: '.' | ',';
}

interface Tally {
  rows: number;
  /** The number of cells that were cut off, by column name. */
  shortened: Map<string, number>;
  /** The time up to which the copy has all changes; absent when the records come from a service. */
  asOf?: string;
}

/** Matches file extensions of well-known formats that `export` can't write. */
const OTHER_FORMAT = /\.(?:xls|xlsm|xlsb|ods|numbers|json|xml|html?|pdf|parquet)$/i;

/** Returns the file format for a file name's extension. @throws UsageError for an unsupported format. */
function formatOf(out: string): 'csv' | 'jsonl' | 'xlsx' {
  const [other] = OTHER_FORMAT.exec(out) ?? [];
  if (other !== undefined)
    throw new UsageError(
      `No file is written as ${other}; end its name in .xlsx, .csv or .jsonl, or say --format.`,
    );
  const [, known] = /\.(xlsx|jsonl)$/i.exec(out) ?? [];
  return (known?.toLowerCase() as 'jsonl' | 'xlsx' | undefined) ?? 'csv';
}

/**
 * `fieldledger export`: writes a resource's records from the public API, or a report from a copy, into a file for a
 * spreadsheet.
 */
export function exportCommand(terminal: Terminal): Command {
  return withOptions(new Command('export')).action(async (resource: Exported, given: ExportOptions) => {
    const options = { ...given, format: given.format ?? formatOf(given.out) };
    check(resource, options);
    const schema = isReport(resource) ? reportSchema(resource) : recordsSchema(resource, options);
    const columns = chosen(resource, columnsOf(schema), options.columns);
    const tally: Tally = { rows: 0, shortened: new Map() };
    using stop = listenForStopSignals();
    const { signal } = stop;
    const write = async (pages: Pages) => {
      const pieces = piecesOf(resource, columns, pages, options, tally);
      const isRead = await writeOut(options.out, pieces, { terminal, signal });
      if (isRead) report(resource, options, tally, terminal);
    };
    if (isReport(resource)) {
      const { rows, asOf } = reportRows(resource, options, terminal);
      tally.asOf = asOf;
      await write([rows]);
    } else {
      using service = openService(options, terminal, signal);
      await service.inSentences(write(recordPages(service.client, resource, options, { signal })));
    }
  });
}

function withOptions(command: Command): Command {
  return withService(command, false)
    .description(
      'write records into a file that a spreadsheet opens, or into one with a line of JSON for each',
    )
    .addArgument(
      new Argument(
        '<resource>',
        'what to write; receivables (a row for each open invoice) and vat (for each VAT rate of a document) are read from a copy',
      ).choices([...resources, ...reportNames]),
    )
    .option('--from <copy>', 'the SQLite file that pull keeps, for receivables and vat; no service is asked')
    .option(
      '--month <month>',
      'for vat: the month, such as 2026-10, in which documents were issued; their issueDate decides, not the supply or the payment',
      monthOf,
    )
    .option(
      '--overdue-on <day>',
      'for receivables: the day to which daysOverdue is counted; by default today. Amounts are those of the copy',
      dayOf,
    )
    .option(
      '--since <time>',
      'only what has changed since the midnight that begins a day, or since a time with its offset',
      timeOf,
    )
    .option(
      '--time-zone <zone>',
      "where that day or today begins, such as Europe/Dublin; else in this machine's zone",
      zoneOf,
    )
    .addOption(
      new Option('--format <format>', 'format of the file; by default that of its name, or else csv').choices(
        ['csv', 'jsonl', 'xlsx'],
      ),
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
      'include the lines of quotes and invoices, each in a row of its own; amounts of the document are only in its first row, so that each column can be summed; takes a request for each document',
    );
}

/** Creates an option parser that accepts only text that `isRight` accepts; its error says what is right in `words`. */
function checked(isRight: (text: string) => boolean, words: string) {
  return (text: string): string => {
    if (isRight(text)) return text;
    throw new InvalidArgumentError(`It must be ${words}.`);
  };
}

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
const monthOf = checked((text) => MONTH.test(text), 'a month such as 2026-10');
const dayOf = checked(isDay, 'a day such as 2026-11-30');
const zoneOf = checked(isTimeZone, 'an IANA time zone such as Europe/Dublin');

const DAY_OR_TIME =
  /^(\d{4}-\d{2}-\d{2})([Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/;

const timeOf = checked((text) => {
  const [, day = '', time] = DAY_OR_TIME.exec(text) ?? [];
  // Time zones are supported only for these years.
  const isKnown = time !== undefined || /^(?:19|2[01])/.test(day);
  return isKnown && isDay(day) && !Number.isNaN(Date.parse(text));
}, 'a day such as 2026-11-01, from 1900 to 2199, or a time such as 2026-11-01T08:00:00Z');

/** The resources and reports that each option applies to, by option name. */
const takers: Record<string, readonly Exported[]> = {
  url: resources,
  keyFile: resources,
  // The list of people has no updatedSince.
  since: resources.filter((resource) => resource !== 'people'),
  lines: ['quotes', 'invoices'],
  timeZone: [...resources, 'receivables'],
  from: ['receivables', 'vat'],
  overdueOn: ['receivables'],
  month: ['vat'],
};

function check(resource: Exported, options: ExportOptions): void {
  for (const [name, taking] of Object.entries(takers)) {
    if (!(name in options) || taking.includes(resource)) continue;
    const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${flag} is for ${taking.join(', ')}, not for ${resource}.`);
  }
  if (isReport(resource) && options.from === undefined)
    throw new UsageError(`A copy is missing: name one with --from; "fieldledger pull" makes it.`);
  if (resource === 'vat' && options.month === undefined)
    throw new UsageError('A month is missing: name it with --month, such as 2026-10.');
  checkForm(options);
  checkOut(options.out);
}

function checkForm({ format, columns, separator, decimal }: ExportOptions): void {
  if (columns && format === 'jsonl') throw new UsageError('--columns is for tables: JSON Lines have none.');
  if ((separator ?? decimal) !== undefined && format !== 'csv')
    throw new UsageError(`--separator and --decimal are for CSV, not for ${format}.`);
  if (separator === ',' && decimal === ',')
    throw new UsageError('A comma can be the separator or the mark of decimals, not both.');
}

/** Returns the named columns in that order, or all without names. @throws UsageError for an unknown name. */
function chosen(resource: Exported, columns: SheetColumn[], names?: string[]): SheetColumn[] {
  if (names?.length === 0) throw new UsageError('--columns names no column.');
  if (!names) return columns;
  const known = new Map(columns.map((column) => [column.name, column]));
  return names.map((name) => {
    const column = known.get(name);
    if (!column) throw new UsageError(unknownName(name, `a column of ${resource}`, [...known.keys()]));
    return column;
  });
}

type Pages = object[][] | Promise<AsyncIterable<object[]>>;

/** Returns the exported file's content as a series of pieces, once the first page has arrived. */
async function piecesOf(
  title: string,
  columns: SheetColumn[],
  pages: Pages,
  { format, decimal = '.', separator = decimal === ',' ? ';' : ',' }: ExportOptions,
  tally: Tally,
): Promise<AsyncIterable<string | Uint8Array>> {
  const begun = await pages;
  async function* counted() {
    for await (const rows of begun) {
      tally.rows += rows.length;
      yield rows;
    }
  }
  async function* texts() {
    const style = { decimal, separator: separator === 'tab' ? '\t' : separator };
    const textOf = (row: object) =>
      format === 'csv' ? csvLine(columns, row, style, tally.shortened) : `${JSON.stringify(row)}\n`;
    if (format === 'csv') yield csvHead(columns, style);
    for await (const rows of counted()) yield rows.map(textOf).join('');
  }
  if (format !== 'xlsx') return texts();
  // Loaded here, because no other command writes workbooks.
  const { xlsxPieces } = await import('../../tables/xlsx.ts');
  return xlsxPieces(title, columns, counted(), tally.shortened);
}

/** The maximum number of rows, including the header, that spreadsheet programs open from a CSV file. */
const SHEET_ROWS_MAX = 1_048_576;

function report(resource: Exported, options: ExportOptions, tally: Tally, terminal: Terminal): void {
  const { rows, shortened, asOf } = tally;
  const { out, format } = options;
  for (const [column, count] of shortened)
    terminal.tell(
      `${column}: ${count} ${count === 1 ? 'text' : 'texts'} shortened, because a cell holds 32,767 characters; jsonl has all.\n`,
    );
  if (format === 'csv' && rows >= SHEET_ROWS_MAX)
    terminal.tell('No spreadsheet shows more than 1,048,576 rows of a CSV; xlsx has further sheets.\n');
  const file = out === STDOUT ? null : out;
  const count = `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'} of ${resource}`;
  const prose = asOf === undefined ? count : `${count}, as of ${asOf}`;
  const result = { resource, file, rows, shortened: Object.fromEntries(shortened), asOf };
  if (file === null) terminal.conclude(result, prose);
  else terminal.show(result, `${file}: ${prose}`);
}
