import { type JSONPath, visit } from 'jsonc-parser';

import { pointerPart, formatForMessage } from '../../contract/feed.ts';
import { Refusal } from './refusal.ts';

/**
 * Returns a refusal for the first value in a JSON text that `JSON.parse` silently changes: a number that a double can't
 * hold as written, or a duplicate member, of which only the last is kept. RFC 8259 sections 4 and 6 leave both open.
 * Negative zero counts as zero.
 * @param text a text that is known to be valid JSON.
 */
export function findLossyValue(text: string): Refusal | undefined {
  let found: Refusal | undefined;
  const names: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => void names.push(new Set()),
    onObjectEnd: () => void names.pop(),
    onObjectProperty(name, _offset, _length, ...[, , path]) {
      if (names.at(-1)?.has(name)) found ??= givenTwice(pointerOf([...path(), name]));
      names.at(-1)?.add(name);
    },
    onLiteralValue(value, offset, length, ...[, , path]) {
      if (found || typeof value !== 'number') return;
      const source = text.slice(offset, offset + length);
      if (!isKept(source)) found = unkeptNumber(source, pointerOf(path()));
    },
  });
  return found;
}

function pointerOf(path: JSONPath): string {
  return path.map((place) => `/${pointerPart(String(place))}`).join('');
}

/** Whether a number stays the same as a double, as every number with up to 15 significant digits does. */
function isKept(source: string): boolean {
  if (/^-?\d{1,15}$/.test(source)) return true;
  const [given, written] = [decimalOf(source), decimalOf(String(Number(source)))];
  return given !== undefined && given === written;
}

/** Returns a decimal in a canonical form, as significant digits and power of ten; undefined for any other text. */
function decimalOf(source: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  if (whole === '') return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

function unkeptNumber(source: string, path: string): Refusal {
  const number = source.length > 80 ? `${source.slice(0, 80)}…` : source;
  const kept = Number(source);
  const rounded = Number.isFinite(kept) && kept !== 0 ? ', or rounded to 15 significant digits' : '';
  const message = `${named(path)} is ${number}, which a double-precision number can't hold: it would become ${kept}. Send it as a text${rounded}.`;
  return new Refusal('invalid_change', message, path);
}

function givenTwice(path: string): Refusal {
  const message = `${named(path)} is given twice; an object has each member once.`;
  return new Refusal('invalid_change', message, path);
}

/**
 * Returns a copy of a value as plain JSON, without methods and getters.
 * @throws Refusal for values that JSON.stringify would omit or write as null, and TypeError for values without JSON.
 */
export function plainJson(value: unknown): unknown {
  const paths = new Map<unknown, string>();
  const text = JSON.stringify(value, function (this: unknown, name, member: unknown) {
    const around = paths.get(this);
    const path = around === undefined ? '' : `${around}/${pointerPart(name)}`;
    const isLost =
      (typeof member === 'number' && !Number.isFinite(member)) ||
      typeof member === 'function' ||
      typeof member === 'symbol' ||
      (member === undefined && Array.isArray(this));
    if (isLost) {
      const message = `${named(path)} is ${String(member)}, which JSON can't carry.`;
      throw new Refusal('invalid_change', message, path);
    }
    paths.set(member, path);
    return member;
  });
  return JSON.parse(text);
}

function named(path: string): string {
  return path === '' ? 'The change' : formatForMessage(path).slice(1, -1);
}
