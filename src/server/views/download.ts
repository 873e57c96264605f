import type { Writable } from 'node:stream';

import { MINUTE_MS } from '../../contract/durations.ts';
import type { SheetColumn } from '../../tables/columns.ts';
import { csvHead, csvLine } from '../../tables/csv.ts';
import { contentDisposition } from '../invoice-pdf/file-name.ts';
import { PageError } from './page-error.ts';
import { countText } from './formats.ts';
import { html, type Html } from './html.ts';
import { type DownloadReply, file } from './visit.ts';

/** Maximum number of rows in a download, which takes a server a few seconds. */
export const ROWS_MAX = 50_000;

const TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

type Format = keyof typeof TYPES;

/** Returns the download format in a page's URL; undefined if there is none, or there are too many rows. */
export function downloadIn(query: URLSearchParams, rowCount: number): Format | undefined {
  const format = query.get('format');
  return (format === 'csv' || format === 'xlsx') && rowCount <= ROWS_MAX ? format : undefined;
}

/** Renders the download links of a page, or the reason why there are none. @param what the name of many rows. */
export function downloadLinks(
  rowCount: number,
  addressOf: (format: Format) => string,
  what = 'documents',
): Html {
  if (rowCount > ROWS_MAX)
    return html`<p>
      A download can have up to ${countText(ROWS_MAX)} ${what}. Choose fewer to download them.
    </p>`;
  return html`<p>
    Download these as <a href="${addressOf('csv')}">CSV</a> or
    <a href="${addressOf('xlsx')}">a workbook (XLSX)</a>.
  </p>`;
}

/** Builds the download of a table, which is written while its rows are being read. */
export async function tableFile(
  { name, format, columns }: { name: string; format: Format; columns: readonly SheetColumn[] },
  pages: AsyncIterable<object[]> | Iterable<readonly object[]>,
): Promise<DownloadReply> {
  // Stays empty, because the contract's texts all fit into a cell.
  const shortened = new Map<string, number>();
  async function* csvPieces() {
    const style = { separator: ',', decimal: '.' };
    yield csvHead(columns, style);
    for await (const rows of pages) yield rows.map((row) => csvLine(columns, row, style, shortened)).join('');
  }
  // Loaded here, because few pages write workbooks.
  const { xlsxPieces } = await import('../../tables/xlsx.ts');
  const body = format === 'csv' ? csvPieces() : xlsxPieces(name, columns, pages, shortened);
  return file(TYPES[format], contentDisposition(name, format), body);
}

/** The kind of a download. A table takes seconds and a database connection; a file is held in memory whole. */
export type DownloadKind = 'table' | 'file';

/** Maximum concurrent downloads in this process, by company and in total. A browser makes six requests at once. */
const AT_ONCE = { table: { ofCompany: 2, ofAll: 4 }, file: { ofCompany: 6, ofAll: 24 } };
/** Time limit of a download, so that slow clients don't keep others from theirs. */
const DOWNLOAD_MS_MAX = 5 * MINUTE_MS;

/**
 * Creates the limit on concurrent downloads and on the time of each.
 * @returns a function that counts a request's download until its response is closed; a page of documents counts only if its
 *   URL names a format. It throws PageError: 429 if the company has too many downloads, 503 if all companies together have.
 */
export function createDownloadLimit() {
  const underWay = new Set<{ kind: DownloadKind; company: string }>();
  const refusal = (status: 429 | 503, text: string) =>
    new PageError(status, 'Too many downloads at once', text, { headers: { 'Retry-After': '5' } });
  return (
    kind: DownloadKind,
    { company: { id: company }, query }: { company: { id: string }; query: URLSearchParams },
    answer: Pick<Writable, 'closed' | 'destroy' | 'once'>,
  ): void => {
    if ((kind === 'table' && !query.has('format')) || answer.closed) return;
    const { ofCompany, ofAll } = AT_ONCE[kind];
    const others = [...underWay].filter((one) => one.kind === kind);
    if (others.filter((one) => one.company === company).length >= ofCompany)
      throw refusal(429, `Your company has ${ofCompany} downloads running. Try again when one finishes.`);
    if (others.length >= ofAll)
      throw refusal(503, 'Too many downloads are running. Try again in a few seconds.');
    const download = { kind, company };
    underWay.add(download);
    const cutOff = setTimeout(() => answer.destroy(), DOWNLOAD_MS_MAX).unref();
    answer.once('close', () => {
      clearTimeout(cutOff);
      underWay.delete(download);
    });
  };
}
