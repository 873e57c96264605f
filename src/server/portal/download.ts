import type { Column } from '../../tables/columns.ts';
import { csvHead, csvLine } from '../../tables/csv.ts';
import { countText } from './views/formats.ts';
import { html, type Html } from './views/html.ts';
import type { FileReply } from './visit.ts';

/** They take a server some seconds. */
const ROWS_MAX = 50_000;

const TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

type Format = keyof typeof TYPES;

/** The format that a page's address asks for in place of the page; undefined if it has none, or has more rows than are given. */
export function downloadIn(query: URLSearchParams, rowCount: number): Format | undefined {
  const format = query.get('format');
  return (format === 'csv' || format === 'xlsx') && rowCount <= ROWS_MAX ? format : undefined;
}

/** Links to the downloads of a page, or why there are none. */
export function downloadLinks(rowCount: number, addressOf: (format: Format) => string): Html {
  if (rowCount > ROWS_MAX)
    return html`<p>
      A download has at most ${countText(ROWS_MAX)} documents. Choose fewer to download them.
    </p>`;
  return html`<p>
    Download all of them as <a href="${addressOf('csv')}">CSV</a> or
    <a href="${addressOf('xlsx')}">a workbook (XLSX)</a>.
  </p>`;
}

/** A table as a file, which is written while its rows are read. */
export async function tableFile(
  { name, format, columns }: { name: string; format: Format; columns: readonly Column[] },
  pages: AsyncIterable<object[]>,
): Promise<FileReply> {
  // The contract's texts fit into a cell, so that none is.
  const shortened = new Map<string, number>();
  async function* csvPieces() {
    const style = { separator: ',', decimal: '.' };
    yield csvHead(columns, style);
    for await (const rows of pages) yield rows.map((row) => csvLine(columns, row, style, shortened)).join('');
  }
  // Loaded here, because few pages write workbooks.
  const { xlsxPieces } = await import('../../tables/xlsx.ts');
  return {
    kind: 'file',
    headers: {
      'Content-Type': TYPES[format],
      'Content-Disposition': `attachment; filename="${name}.${format}"`,
    },
    body: format === 'csv' ? csvPieces() : xlsxPieces(name, columns, pages, shortened),
  };
}
