import { type SheetColumn, fitted } from './columns.ts';

/** The marks of a table that the programs of a country expect. */
export interface CsvStyle {
  separator: string;
  /** The mark of decimals. */
  decimal: string;
}

/** Tells programs that the file is UTF-8; without it some spreadsheets take it for another encoding. */
const BYTE_ORDER_MARK = '\ufeff';

export function csvHead(columns: readonly SheetColumn[], { separator }: CsvStyle): string {
  return `${BYTE_ORDER_MARK}${columns.map(({ name }) => quoted(name)).join(separator)}\r\n`;
}

/** A record as a line of a table; `shortened` counts as {@link fitted} does. */
export function csvLine(
  columns: readonly SheetColumn[],
  record: object,
  { separator, decimal }: CsvStyle,
  shortened: Map<string, number>,
): string {
  const cells = columns.map((column) => {
    const text = column.textOf(record);
    const isTyped = column.kind === 'number' || column.kind === 'amount' || column.kind === 'boolean';
    if (text === '') return '';
    // A decimal comma separates cells for a program that takes it so.
    if (isTyped && /^-?\d+\.\d+$/.test(text) && decimal !== '.') return quoted(text.replace('.', decimal));
    if (isTyped && /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(text)) return text;
    return quoted(fitted(defused(text), column, shortened));
  });
  return `${cells.join(separator)}\r\n`;
}

/** A text in quotes (RFC 4180). Every text is quoted, so that it stays whole where another mark separates. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/**
 * A spreadsheet runs a text that begins like a formula, and with another separator any part of a text may become a cell. An
 * apostrophe before such a part makes it text.
 */
function defused(text: string): string {
  return text
    .split(/([;,|\t\r\n])/)
    .map((part) => (isLikeFormula(part) ? `'${part}` : part))
    .join('');
}

/** Behind blanks, invisible characters and quotes; wide and other forms of the signs count as the signs. */
function isLikeFormula(part: string): boolean {
  const [first = ''] = part.replace(/^[\s\p{C}\p{DI}\p{Z}"]+/u, '');
  // Brackets may end a list in JSON.
  return /[=+\-@\u2212]/.test(first.normalize('NFKC')) && !/^-?\d+(?:\.\d+)?[\]}]*$/.test(part);
}
