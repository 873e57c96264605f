import { pointerPart, shown } from '../contract/feed.ts';
import { Refusal } from './refusal.ts';

/** Where the parts of a JSON text begin; of a text only its quotation mark. */
const TOKEN = /"|-?\d[\d.eE+-]*|[{}[\]:,]/g;

/** A run within a text. It has a bound, because each repetition takes room for going back. */
const RUN = /[^"\\]*(?:\\.[^"\\]*){0,1000}/y;

interface Container {
  /** The names of an object so far; undefined for an array. */
  names: Set<string> | undefined;
  /** Of the member or the element that is being read. */
  place: string | number;
  expectsName: boolean;
}

/**
 * The first thing in a JSON text that `JSON.parse` changes without a word: a number that isn't the decimal that a double
 * is written as, or a member that an object has twice, of which the last one wins. RFC 8259 sections 4 and 6 leave both
 * open. A zero below zero is a zero.
 * @param text has been parsed as JSON before.
 */
export function unkeptIn(text: string): Refusal | undefined {
  const around: Container[] = [];
  const path = () => around.map(({ place }) => `/${pointerPart(String(place))}`).join('');
  for (const token of tokensOf(text)) {
    const container = around.at(-1);
    if (token === '{') around.push({ names: new Set(), place: '', expectsName: true });
    else if (token === '[') around.push({ names: undefined, place: 0, expectsName: false });
    else if ('}]'.includes(token)) around.pop();
    else if (token === ',') nextIn(container);
    else if (token !== ':') {
      const isTwin = container?.expectsName && readName(token, container);
      if (isTwin) return givenTwice(path());
      if (!token.startsWith('"') && !isKept(token)) return unkeptNumber(token, path());
    }
  }
  return undefined;
}

function* tokensOf(text: string): Generator<string> {
  const next = new RegExp(TOKEN);
  for (let found = next.exec(text); found; found = next.exec(text)) {
    const isText = found[0] === '"';
    if (isText) next.lastIndex = endOfText(text, next.lastIndex);
    yield text.slice(found.index, next.lastIndex);
  }
}

/** Where a text ends whose first character is at `end`: behind its last quotation mark. */
function endOfText(text: string, end: number): number {
  while (end < text.length && text[end] !== '"') {
    RUN.lastIndex = end;
    end += RUN.exec(text)?.[0].length ?? 1;
  }
  return end + 1;
}

/** Whether the object had a member of that name before. */
function readName(token: string, container: Container): boolean {
  const name = JSON.parse(token) as string;
  const isTwin = container.names?.has(name) ?? false;
  container.names?.add(name);
  container.place = name;
  container.expectsName = false;
  return isTwin;
}

function nextIn(container: Container | undefined): void {
  if (typeof container?.place === 'number') container.place += 1;
  else if (container) container.expectsName = true;
}

/** Whether a double is written as the same decimal. With at most 15 significant digits it always is. */
function isKept(source: string): boolean {
  if (/^-?\d{1,15}$/.test(source)) return true;
  const [given, written] = [decimalOf(source), decimalOf(String(Number(source)))];
  return given !== undefined && given === written;
}

/** A decimal in one form: its significant digits and its exponent of ten. Undefined for what is none. */
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
 * The JSON of a value, without the methods and getters of the caller's object.
 * @throws Refusal for what JSON.stringify would leave out or write as null, and TypeError for what has no JSON.
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
  return path === '' ? 'The change' : shown(path).slice(1, -1);
}
