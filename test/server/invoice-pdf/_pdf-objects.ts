/** Takes a PDF apart into its objects (ISO 32000-1, 7.3), by its cross-reference table. */
import { inflateSync } from 'node:zlib';

export type PdfValue = number | boolean | null | string | PdfName | PdfReference | PdfValue[] | PdfDictionary;
export interface PdfName {
  name: string;
}
export interface PdfReference {
  object: number;
}
export interface PdfDictionary {
  entries: Map<string, PdfValue>;
}

export interface Pdf {
  header: string;
  trailer: PdfDictionary;
  objects: Map<number, { value: PdfValue; stream: Buffer | undefined }>;
}

const isDictionary = (value: PdfValue | undefined): value is PdfDictionary =>
  typeof value === 'object' && value !== null && 'entries' in value;
export const isName = (value: PdfValue | undefined, name: string): boolean =>
  typeof value === 'object' && value !== null && 'name' in value && value.name === name;

/** Reads every object. Throws where the file isn't built as it says. */
export function readPdf(bytes: Buffer): Pdf {
  const text = bytes.toString('latin1');
  const start = Number(/startxref\n(\d+)\n%%EOF\n?$/.exec(text)?.[1]);
  const [head = '', count = '0'] = /^xref\n0 (\d+)\n/.exec(text.slice(start)) ?? [];
  if (head === '') throw new Error('there is no cross-reference table where startxref says');
  const objects: Pdf['objects'] = new Map();
  for (let number = 1; number < Number(count); number++) {
    const at = start + head.length + number * 20;
    const [, offset = ''] = /^(\d{10}) 00000 n \n$/.exec(text.slice(at, at + 20)) ?? [];
    objects.set(number, readObject(text, Number(offset), number));
  }
  const trailer = new Scanner(text, text.indexOf('trailer', start) + 'trailer'.length).value();
  if (!isDictionary(trailer)) throw new Error('the trailer is no dictionary');
  return { header: text.slice(0, 16), trailer, objects };
}

function readObject(
  text: string,
  offset: number,
  number: number,
): { value: PdfValue; stream: Buffer | undefined } {
  const head = `${number} 0 obj\n`;
  if (!text.startsWith(head, offset)) throw new Error(`object ${number} isn't where the table says`);
  const scanner = new Scanner(text, offset + head.length);
  const value = scanner.value();
  const end = scanner.offset;
  if (text.startsWith('\nendobj\n', end)) return { value, stream: undefined };
  const length = isDictionary(value) ? value.entries.get('Length') : undefined;
  const from = end + '\nstream\n'.length;
  if (typeof length !== 'number' || !text.startsWith('\nstream\n', end))
    throw new Error(`object ${number} doesn't end`);
  if (!text.startsWith('\nendstream\nendobj\n', from + length))
    throw new Error(`the stream of ${number} has another Length`);
  const raw = Buffer.from(text.slice(from, from + length), 'latin1');
  const isDeflated = isDictionary(value) && isName(value.entries.get('Filter'), 'FlateDecode');
  return { value, stream: isDeflated ? inflateSync(raw) : raw };
}

/** Follows references to the value itself. */
export function resolve(pdf: Pdf, value: PdfValue | undefined): PdfValue | undefined {
  if (typeof value === 'object' && value !== null && 'object' in value) {
    return resolve(pdf, pdf.objects.get(value.object)?.value);
  }
  return value;
}

/** A value by the keys that lead to it, through references. */
export function at(pdf: Pdf, from: PdfValue | undefined, ...keys: string[]): PdfValue | undefined {
  let value = resolve(pdf, from);
  for (const key of keys) value = isDictionary(value) ? resolve(pdf, value.entries.get(key)) : undefined;
  return value;
}

export function streamOf(pdf: Pdf, value: PdfValue | undefined): Buffer | undefined {
  return typeof value === 'object' && value !== null && 'object' in value
    ? pdf.objects.get(value.object)?.stream
    : undefined;
}

/** An entry as it is written, without following a reference. */
export function entryOf(value: PdfValue | undefined, key: string): PdfValue | undefined {
  return isDictionary(value) ? value.entries.get(key) : undefined;
}

export const arrayOf = (value: PdfValue | undefined): PdfValue[] => (Array.isArray(value) ? value : []);
export const nameOf = (value: PdfValue | undefined): string =>
  typeof value === 'object' && value !== null && 'name' in value ? value.name : '';

/** Sentences for all that doesn't hold. */
export const unless = (...rules: [holds: boolean, problem: string][]): string[] =>
  rules.filter(([holds]) => !holds).map(([, problem]) => problem);

/** Reads values and operators one after another. */
export class Scanner {
  offset: number;
  readonly #text: string;

  constructor(text: string, offset = 0) {
    this.#text = text;
    this.offset = offset;
  }

  /** The next operator of a content stream, with its operands; undefined at the end. */
  operation(): { operator: string; operands: PdfValue[] } | undefined {
    const operands: PdfValue[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.offset >= this.#text.length) return undefined;
      const operator = this.#match(/[A-Za-z'"][A-Za-z0-9*]*/y);
      if (operator !== undefined) return { operator, operands };
      operands.push(this.value());
    }
  }

  value(): PdfValue {
    this.#skipSpace();
    if (this.#match(/<</y) !== undefined) return this.#dictionary();
    if (this.#match(/\[/y) !== undefined) return this.#array();
    const hexadecimal = this.#match(/<[0-9A-Fa-f\s]*>/y);
    if (hexadecimal !== undefined) {
      const digits = hexadecimal.replace(/[<>\s]/g, '');
      if (digits.length % 2 !== 0) throw new Error('a hexadecimal string has an odd number of digits');
      return Buffer.from(digits, 'hex').toString('latin1');
    }
    if (this.#text[this.offset] === '(') return this.#string();
    const name = this.#match(/\/[^\s()<>[\]{}/%]*/y);
    if (name !== undefined)
      return {
        name: name
          .slice(1)
          .replace(/#([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
      };
    const reference = this.#match(/\d+ 0 R/y);
    if (reference !== undefined) return { object: parseInt(reference, 10) };
    const number = this.#match(/[+-]?(?:\d+\.?\d*|\.\d+)/y);
    if (number !== undefined) return Number(number);
    const word = this.#match(/true|false|null/y);
    if (word === undefined) throw new Error(`there is no value at ${this.offset}`);
    return word === 'null' ? null : word === 'true';
  }

  #dictionary(): PdfDictionary {
    const entries = new Map<string, PdfValue>();
    for (;;) {
      this.#skipSpace();
      if (this.#match(/>>/y) !== undefined) return { entries };
      const key = nameOf(this.value());
      if (entries.has(key)) throw new Error(`a dictionary has two entries ${key}`);
      entries.set(key, this.value());
    }
  }

  #array(): PdfValue[] {
    const items: PdfValue[] = [];
    for (;;) {
      this.#skipSpace();
      if (this.#match(/\]/y) !== undefined) return items;
      items.push(this.value());
    }
  }

  #string(): string {
    let depth = 0;
    let text = '';
    for (;;) {
      const character = this.#text[this.offset++];
      if (character === undefined) throw new Error("a string doesn't end");
      if (character === '\\') {
        const escaped = this.#text[this.offset++] ?? '';
        text += { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }[escaped] ?? escaped;
        continue;
      }
      if (character === '(') depth += 1;
      if (character === ')') depth -= 1;
      if (depth === 0) return text.slice(1);
      text += character;
    }
  }

  #skipSpace(): void {
    this.#match(/(?:\s|%[^\n]*\n)+/y);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.offset;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.offset += found.length;
    return found;
  }
}
