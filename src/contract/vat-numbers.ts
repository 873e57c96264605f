import { createRequire } from 'node:module';

import type { Validator } from 'stdnum';

import { vatPrefixes } from './code-lists.ts';

/** Loads a file of stdnum on its first use: loading all 300 would take a twentieth of startup time. */
const load = createRequire(import.meta.url);

/**
 * Files of stdnum that validate VAT numbers, by prefix: for EU member states except Bulgaria, for the United Kingdom,
 * and for Northern Ireland, whose numbers are British ones with their own prefix.
 */
const files = new Map(
  `AT at/uid, BE be/vat, CY cy/vat, CZ cz/dic, DE de/vat, DK dk/cvr, EE ee/kmkr, EL gr/vat, ES es/nif,
   FI fi/alv, FR fr/tva, GB gb/vat, HR hr/oib, HU hu/anum, IE ie/vat, IT it/iva, LT lt/pvm, LU lu/tva,
   LV lv/pvn, MT mt/vat, NL nl/btw, PL pl/nip, PT pt/nif, RO ro/cif, SE se/vat, SI si/ddv, SK sk/dph,
   XI gb/vat`
    .split(/,\s+/)
    .map((pair): [prefix: string, file: string] => [pair.slice(0, 2), pair.slice(3)]),
);

/** VAT number prefixes of the EU, including XI because Northern Ireland counts as a member for goods. Greece's is EL. */
export const euVatPrefixes = ['BG', ...files.keys()].filter((prefix) => prefix !== 'GB');

/** Whether a country, given by its ISO 3166-1 code, is a member state of the EU. */
export function isInEu(country: string): boolean {
  return country !== 'XI' && euVatPrefixes.includes(country === 'GR' ? 'EL' : country);
}

/**
 * Returns a supplier's VAT number as stated on a document with the given VAT categories. A firm in Northern Ireland uses XI
 * for goods sold to the EU (category K), and GB with the same digits for all other sales (HMRC, Northern Ireland and VAT EC
 * Sales Lists).
 */
export function vatIdOn(vatId: string, categories: readonly string[]): string {
  return categories.includes('K') ? vatId : vatId.replace(/^XI/, 'GB');
}

/** Correct VAT prefixes, by the code mistaken for one. The Isle of Man has British numbers, and Monaco has French ones. */
const otherPrefixes: Readonly<Record<string, string>> = { GR: 'EL', IM: 'GB', MC: 'FR', UK: 'GB' };

/**
 * Returns the problem with a VAT number, worded to follow its name in a sentence; undefined if none is found. The prefix is
 * always checked, but form and check digits only for the EU, GB and XI. Spaces aren't allowed. The check can't tell
 * whether a number has been issued: only the tax office knows.
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

/** Whether a number passes a stdnum validator's checks of form and check digits, and has no spaces or repeated prefix. */
export function isNumberIn(file: string, number: string): boolean {
  // stdnum fails on an empty string.
  if (number === '') return false;
  const validator = load(`stdnum/lib/cjs/${file}`) as Validator;
  const result = validator.validate(number);
  // stdnum ignores spaces and a repeated prefix.
  return result.isValid && result.compact === number;
}

/** Matches a Bulgarian personal number's date of birth. 20 is added to the month for births before 1900, 40 from 2000. */
const BULGARIAN_BIRTH = /^\d\d(?:[024][1-9]|[135][0-2])(?:0[1-9]|[12]\d|3[01])/;

/**
 * Whether a number is a Bulgarian VAT number: nine digits for a company, ten for a person, a foreigner or another. `bg/vat`
 * of stdnum 1.12.0 is no use: it rejects all numbers beginning with 4 to 8, which companies and everybody born from 1940 to
 * 1989 have, and accepts ten digits with a wrong check digit. `bg/egn` doesn't check the date of birth.
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
 * Whether nine digits beginning with 6 are the Czech VAT number of a person who has no birth number. `cz/dic` of stdnum
 * 1.12.0 includes the 6 in the checksum, and so rejects valid numbers.
 */
function isSpecialCzech(number: string): boolean {
  const sum = weightedSum(number.slice(1), [8, 7, 6, 5, 4, 3, 2]);
  return (8 + (sum % 11)) % 10 === Number(number.slice(-1));
}

/** Returns the sum of a number's digits, each multiplied by its weight, for as many digits as there are weights. */
function weightedSum(number: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * Number(number[index]), 0);
}
