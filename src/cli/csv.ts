import type { JsonSchema } from '../contract/document.ts';
import { decimalAmount } from '../contract/currencies.ts';

/** A column of a table that a spreadsheet opens. */
export interface CsvColumn {
  /** The member's name, with those of the objects around it: `totals.grossMinor`. */
  name: string;
  /** Finds the text of its cell in a record. */
  cellOf: (record: object) => string;
}

/** Tells programs that the file is UTF-8; without it some spreadsheets take it for another encoding. */
const BYTE_ORDER_MARK = '\ufeff';

/** The first line of a table. */
export function csvHead(columns: readonly CsvColumn[]): string {
  return `${BYTE_ORDER_MARK}${lineOf(columns.map(({ name }) => name))}`;
}

/** A record as a line of a table. */
export function csvLine(columns: readonly CsvColumn[], record: object): string {
  return lineOf(columns.map(({ cellOf }) => cellOf(record)));
}

/** As RFC 4180 has it. */
function lineOf(cells: readonly string[]): string {
  const quoted = cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(',')}\r\n`;
}

/**
 * The columns of records by their schema: each member, and each member of an object inside. Beside an amount in minor
 * units there is the decimal amount, `totals.gross`.
 */
export function csvColumns(schema: JsonSchema, path: readonly string[] = []): CsvColumn[] {
  return Object.entries(schema.properties ?? {}).flatMap(([member, inner]) => {
    const inside = [...path, member];
    if (inner.properties) return csvColumns(inner, inside);
    const column = { name: inside.join('.'), cellOf: (record: object) => cellOf(valueAt(record, inside)) };
    if (!member.endsWith('Minor')) return [column];
    const amount = {
      name: column.name.slice(0, -'Minor'.length),
      cellOf: (record: object) => decimalOf(record, inside),
    };
    return [column, amount];
  });
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, member) => {
    if (typeof value !== 'object' || value === null) return undefined;
    // It is an object.
    return (value as Record<string, unknown>)[member];
  }, record);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return defused(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const isPlainList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  return defused(isPlainList ? value.join('; ') : JSON.stringify(value));
}

/** A spreadsheet runs a text that begins like a formula, whoever wrote it. An apostrophe makes it a text. */
function defused(text: string): string {
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text);
  return /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) && !isNumber ? `'${text}` : text;
}

/** The decimal amount of a member in minor units, in the currency of the innermost object around it that names one. */
function decimalOf(record: object, path: readonly string[]): string {
  const minor = valueAt(record, path);
  const around = path.map((_member, index) => valueAt(record, [...path.slice(0, -1 - index), 'currency']));
  const currency = around.find((value) => typeof value === 'string');
  return typeof minor === 'number' && typeof currency === 'string' ? decimalAmount(minor, currency) : '';
}
