import { decimalAmount } from '../contract/currencies.ts';
import type { JsonSchema } from '../contract/document.ts';

/** A column of a table for a spreadsheet. */
export interface SheetColumn {
  /** The column's name: the member's path in the record, such as `totals.grossMinor`. */
  name: string;
  kind: 'text' | 'number' | 'amount' | 'boolean' | 'date' | 'time';
  /** Returns the text of a record's cell, with a decimal point; empty if there is no value. */
  textOf: (record: object) => string;
}

/**
 * Returns the columns for a schema of records: one for each member, including those of nested objects. An amount in minor
 * units also gets a column with the decimal amount, such as `totals.gross`.
 */
export function columnsOf(schema: JsonSchema, path: readonly string[] = []): SheetColumn[] {
  return Object.entries(schema.properties ?? {}).flatMap(([member, inner]): SheetColumn[] => {
    const inside = [...path, member];
    if (inner.properties) return columnsOf(inner, inside);
    const textOf = (record: object) => cellText(valueAt(record, inside));
    const column: SheetColumn = { name: inside.join('.'), kind: kindOf(inner), textOf };
    if (!member.endsWith('Minor')) return [column];
    const name = column.name.slice(0, -'Minor'.length);
    return [column, { name, kind: 'amount', textOf: (record) => amountAt(record, inside) }];
  });
}

function kindOf({ type = [], format, pattern }: JsonSchema): SheetColumn['kind'] {
  const types = [type].flat();
  if (types.includes('boolean')) return 'boolean';
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (format === 'date') return 'date';
  if (format === 'date-time') return 'time';
  // The contract writes decimals as strings, with a pattern that matches decimals but no letters.
  const takes = (text: string) => typeof pattern === 'string' && new RegExp(pattern, 'u').test(text);
  return takes('0.5') && !takes('a') ? 'number' : 'text';
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, member) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return (value as Record<string, unknown>)[member];
  }, record);
}

/** The separator of a list's items within a cell, which no program mistakes for a separator of cells. */
const LIST_SEPARATOR = ' | ';

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isPlainList ? value.join(LIST_SEPARATOR) : JSON.stringify(value);
}

/** Returns a member in minor units as a decimal amount, in the currency of the innermost enclosing object that has one. */
function amountAt(record: object, path: readonly string[]): string {
  const minor = valueAt(record, path);
  const around = path.map((_member, index) => valueAt(record, [...path.slice(0, -1 - index), 'currency']));
  const currency = around.find((value) => typeof value === 'string');
  return typeof minor === 'number' && typeof currency === 'string' ? decimalAmount(minor, currency) : '';
}

/** The maximum length of a cell in UTF-16 code units; Excel silently cuts off the rest. */
const CELL_LENGTH_MAX = 32_767;

/** Shortens a text that is too long for a cell, marks it with an ellipsis, and counts it by column. */
export function fitted(text: string, { name }: SheetColumn, shortened: Map<string, number>): string {
  if (text.length <= CELL_LENGTH_MAX) return text;
  shortened.set(name, (shortened.get(name) ?? 0) + 1);
  // Avoids cutting a surrogate pair in half.
  return `${text.slice(0, CELL_LENGTH_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
