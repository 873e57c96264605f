import { writeXlsxStream } from 'hucre/xlsx';

import { type SheetColumn, fitted } from './columns.ts';

const FORMATS: Partial<Record<SheetColumn['kind'], string>> = {
  amount: '0.00##',
  date: 'yyyy-mm-dd',
  time: 'yyyy-mm-dd hh:mm:ss',
};

/** The number of significant digits that a spreadsheet keeps. */
const DIGITS_MAX = 15;

/**
 * Writes records as a workbook (ECMA-376), piece by piece. Texts become text cells, so that leading zeros are kept and no
 * formula runs. Rows beyond the 1,048,576 of a sheet go into further sheets. Times are in UTC.
 * @param shortened counts the shortened texts by column, as in {@link fitted}
 */
export function xlsxPieces(
  title: string,
  columns: readonly SheetColumn[],
  pages: AsyncIterable<object[]> | Iterable<readonly object[]>,
  shortened: Map<string, number>,
): AsyncIterable<Uint8Array> {
  async function* rows() {
    for await (const records of pages)
      for (const record of records)
        yield columns.map((column) => cellOf(fitted(column.textOf(record), column, shortened), column));
  }
  const stream = writeXlsxStream(rows(), {
    name: title,
    columns: columns.map(({ name, kind }) => {
      const numFmt = FORMATS[kind];
      return { header: name, ...(numFmt !== undefined && { numFmt }) };
    }),
    freezePane: { rows: 1 },
  });
  // Node's streams are iterable. The library declares browser streams, which TypeScript 5.9 treats as another type.
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion
  return stream as unknown as AsyncIterable<Uint8Array>;
}

function cellOf(text: string, { kind }: SheetColumn): string | number | boolean | Date | null {
  if (text === '') return null;
  if (kind === 'boolean') return text === 'true';
  if (kind === 'date' || kind === 'time') {
    const time = new Date(text);
    // Spreadsheets count days from 1900, and wrongly include 29 February 1900.
    return time.getTime() >= Date.UTC(1900, 2, 1) ? time : text;
  }
  const isNumber = kind === 'number' || kind === 'amount';
  return isNumber && /^-?\d+(?:\.\d+)?$/.test(text) && text.replace(/\D/g, '').length <= DIGITS_MAX
    ? Number(text)
    : asWritten(text);
}

/**
 * Escapes a text for the file: what looks like an escaped character (ECMA-376 part 1, section 22.9.2.19) is escaped itself,
 * and the two characters that XML forbids (XML 1.0, section 2.2) are replaced.
 */
function asWritten(text: string): string {
  return text.replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_').replaceAll(/[\ufffe\uffff]/g, '\ufffd');
}
