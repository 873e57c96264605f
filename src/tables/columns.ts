import { decimalAmount } from '../contract/currencies.ts';
import type { JsonSchema } from '../contract/document.ts';

/** A column of a table that a spreadsheet opens. */
export interface SheetColumn {
  /** The member's name, with those of the objects around it: `totals.grossMinor`. */
  name: string;
  kind: 'text' | 'number' | 'amount' | 'boolean' | 'date' | 'time';
  /** Finds the text of its cell in a record, with a point in decimals; it is empty where there is none. */
  textOf: (record: object) => string;
}

/**
 * The columns of records by their schema: each member, and each member of an object inside. Beside an amount in minor
 * units there is the decimal amount, `totals.gross`.
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
  // The contract writes decimals as texts, whose pattern takes a decimal and no letter.
  const takes = (text: string) => typeof pattern === 'string' && new RegExp(pattern, 'u').test(text);
  return takes('0.5') && !takes('a') ? 'number' : 'text';
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, member) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return (value as Record<string, unknown>)[member];
  }, record);
}

/** Separates the items of a list; no program takes it for a separator of cells. */
const LIST_SEPARATOR = ' | ';

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return isPlainList ? value.join(LIST_SEPARATOR) : JSON.stringify(value);
}

/** The decimal amount of a member in minor units, in the currency of the innermost object around it that names one. */
function amountAt(record: object, path: readonly string[]): string {
  const minor = valueAt(record, path);
  const around = path.map((_member, index) => valueAt(record, [...path.slice(0, -1 - index), 'currency']));
  const currency = around.find((value) => typeof value === 'string');
  return typeof minor === 'number' && typeof currency === 'string' ? decimalAmount(minor, currency) : '';
}

/** The UTF-16 units that a cell holds; Excel silently cuts the rest off. */
const CELL_LENGTH_MAX = 32_767;

/** Shortens a text that is too long for a cell, marks it, and counts it by column. */
export function fitted(text: string, { name }: SheetColumn, shortened: Map<string, number>): string {
  if (text.length <= CELL_LENGTH_MAX) return text;
  shortened.set(name, (shortened.get(name) ?? 0) + 1);
  // Doesn't cut a surrogate pair in half.
  return `${text.slice(0, CELL_LENGTH_MAX - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
