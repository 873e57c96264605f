import { type SheetColumn, fitted } from './columns.ts';

/** The separator and decimal mark of a CSV, which differ between countries. */
export interface CsvStyle {
  separator: string;
  /** The decimal mark, either a point or a comma. */
  decimal: string;
}

/** Character that marks a file as UTF-8; without it some spreadsheets assume another encoding. */
const BYTE_ORDER_MARK = '\ufeff';

export function csvHead(columns: readonly SheetColumn[], { separator }: CsvStyle): string {
  return `${BYTE_ORDER_MARK}${columns.map(({ name }) => quoted(name)).join(separator)}\r\n`;
}

/** Returns a record as a line of CSV; shortened texts are counted as by {@link fitted}. */
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
    // A program that separates cells at commas would split a number with a decimal comma.
    if (isTyped && /^-?\d+\.\d+$/.test(text) && decimal !== '.') return quoted(text.replace('.', decimal));
    if (isTyped && /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(text)) return text;
    return quoted(fitted(defused(text), column, shortened));
  });
  return `${cells.join(separator)}\r\n`;
}

/** Quotes a text (RFC 4180). Every text is quoted, so that it stays whole if a program expects another separator. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/**
 * Puts an apostrophe before each part of a text that looks like a formula, so that no spreadsheet runs it. With another
 * separator, any part of a text may become a cell of its own.
 */
function defused(text: string): string {
  return text
    .split(/([;,|\t\r\n])/)
    .map((part) => (isLikeFormula(part) ? `'${part}` : part))
    .join('');
}

/** Whether a text begins like a formula, ignoring blanks, quotes and invisible characters. Full-width signs count too. */
function isLikeFormula(part: string): boolean {
  const [first = ''] = part.replace(/^[\s\p{C}\p{DI}\p{Z}"]+/u, '');
  // A negative number may end a list or an object in JSON.
  return /[=+\-@\u2212]/.test(first.normalize('NFKC')) && !/^-?\d+(?:\.\d+)?[\]}]*$/.test(part);
}
