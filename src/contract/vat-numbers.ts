import { createRequire } from 'node:module';

import type { Validator } from 'stdnum';

import { vatPrefixes } from './code-lists.ts';

/** Loaded on first use: all 300 files would take a twentieth of a server's start. */
const load = createRequire(import.meta.url);

/**
 * stdnum's file for the VAT numbers that begin with a prefix: of the member states of the European Union but Bulgaria, of
 * the United Kingdom, and of Northern Ireland, whose numbers are British ones with a prefix of their own.
 */
const files = new Map(
  `AT at/uid, BE be/vat, CY cy/vat, CZ cz/dic, DE de/vat, DK dk/cvr, EE ee/kmkr, EL gr/vat, ES es/nif,
   FI fi/alv, FR fr/tva, GB gb/vat, HR hr/oib, HU hu/anum, IE ie/vat, IT it/iva, LT lt/pvm, LU lu/tva,
   LV lv/pvn, MT mt/vat, NL nl/btw, PL pl/nip, PT pt/nif, RO ro/cif, SE se/vat, SI si/ddv, SK sk/dph,
   XI gb/vat`
    .split(/,\s+/)
    .map((pair): [prefix: string, file: string] => [pair.slice(0, 2), pair.slice(3)]),
);

/** The prefixes of the European Union, of which Northern Ireland is as a member for goods; Greece writes EL. */
export const euVatPrefixes = ['BG', ...files.keys()].filter((prefix) => prefix !== 'GB');

/** Whether a country, by its code of ISO 3166-1, is a member state of the European Union. */
export function isInEu(country: string): boolean {
  return country !== 'XI' && euVatPrefixes.includes(country === 'GR' ? 'EL' : country);
}

/**
 * A supplier's VAT number as a document with these categories states it. A firm in Northern Ireland has XI for goods that go to
 * the Union (category K), and GB with the same digits for all that it sells otherwise (HMRC, Northern Ireland and VAT EC Sales
 * Lists).
 */
export function vatIdOn(vatId: string, categories: readonly string[]): string {
  return categories.includes('K') ? vatId : vatId.replace(/^XI/, 'GB');
}

/** Codes that no VAT number begins with. The Isle of Man has British numbers, and Monaco French ones. */
const otherPrefixes: Readonly<Record<string, string>> = { GR: 'EL', IM: 'GB', MC: 'FR', UK: 'GB' };

/**
 * The problem with a VAT number that can't be one, as the end of a sentence about it: its prefix, or for a prefix of the
 * European Union, GB and XI its form or its check digits; it is written without spaces. Numbers of other countries are
 * taken as they are. Whether the number was given to somebody, only its tax office knows.
 */
export function problemOfVatNumber(vatId: string): string | undefined {
  const prefix = vatId.slice(0, 2);
  const other = otherPrefixes[prefix];
  if (other !== undefined) return `must begin with ${other} instead of ${prefix}`;
  if (!vatPrefixes.has(prefix)) return "doesn't begin with the code of a country";
  return isNumberOf(prefix, vatId.slice(2))
    ? undefined
    : `doesn't have the form or the check digits of a VAT number of ${prefix}, written without spaces`;
}

function isNumberOf(prefix: string, number: string): boolean {
  if (prefix === 'BG') return isBulgarian(number);
  if (prefix === 'CZ' && /^6\d{8}$/.test(number)) return isSpecialCzech(number);
  const file = files.get(prefix);
  return file === undefined || isNumberIn(file, number);
}

/** Whether a number has the form and the check digits that a file of stdnum knows, without spaces and a repeated prefix. */
export function isNumberIn(file: string, number: string): boolean {
  // stdnum fails on an empty text.
  if (number === '') return false;
  const validator = load(`stdnum/lib/cjs/${file}`) as Validator;
  const result = validator.validate(number);
  // stdnum ignores spaces and a repeated prefix.
  return result.isValid && result.compact === number;
}

/** The first digits of a Bulgarian personal number: a day, whose month is 20 higher before 1900, and 40 from 2000 on. */
const BULGARIAN_BIRTH = /^\d\d(?:[024][1-9]|[135][0-2])(?:0[1-9]|[12]\d|3[01])/;

/**
 * Whether a number is one of a Bulgarian company (nine digits), or of a person, a foreigner or another (ten). `bg/vat` of
 * stdnum 1.12.0 can't be asked: it refuses all numbers that begin with 4 to 8, which companies have and everybody who was
 * born from 1940 to 1989, it takes ten digits whose last one is wrong, and `bg/egn` doesn't look at the birth.
 */
function isBulgarian(number: string): boolean {
  const check = Number(number.slice(-1));
  if (/^\d{9}$/.test(number)) {
    const sum = weightedSum(number, [1, 2, 3, 4, 5, 6, 7, 8]) % 11;
    const last = sum === 10 ? weightedSum(number, [3, 4, 5, 6, 7, 8, 9, 10]) % 11 : sum;
    return last % 10 === check;
  }
  if (!/^\d{10}$/.test(number)) return false;
  const isOther = (weightedSum(number, [4, 3, 2, 7, 6, 5, 4, 3, 2]) + check) % 11 === 0;
  const isPerson = BULGARIAN_BIRTH.test(number) && isNumberIn('bg/egn', number);
  return isPerson || isOther || isNumberIn('bg/pnf', number);
}

/**
 * Whether nine digits that begin with 6 are a Czech number of a person without a birth number. `cz/dic` of stdnum 1.12.0
 * counts that 6 in the check sum, and so refuses the right ones.
 */
function isSpecialCzech(number: string): boolean {
  const sum = weightedSum(number.slice(1), [8, 7, 6, 5, 4, 3, 2]);
  return (8 + (sum % 11)) % 10 === Number(number.slice(-1));
}

/** The sum of a number's first digits, each times its weight. */
function weightedSum(number: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * Number(number[index]), 0);
}
