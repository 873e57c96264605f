import { createRequire } from 'node:module';

import type { Validator } from 'stdnum';

/** A country's file is loaded with its first number: all 300 of them would be a twentieth of a server's start. */
const load = createRequire(import.meta.url);

/**
 * stdnum's file for the VAT numbers that begin with a prefix: of the member states of the European Union, of the United
 * Kingdom, and of Northern Ireland, whose numbers are British ones with a prefix of their own.
 */
const files: Readonly<Record<string, string>> = {
  AT: 'at/uid',
  BE: 'be/vat',
  BG: 'bg/vat',
  CY: 'cy/vat',
  CZ: 'cz/dic',
  DE: 'de/vat',
  DK: 'dk/cvr',
  EE: 'ee/kmkr',
  EL: 'gr/vat',
  ES: 'es/nif',
  FI: 'fi/alv',
  FR: 'fr/tva',
  GB: 'gb/vat',
  HR: 'hr/oib',
  HU: 'hu/anum',
  IE: 'ie/vat',
  IT: 'it/iva',
  LT: 'lt/pvm',
  LU: 'lu/tva',
  LV: 'lv/pvn',
  MT: 'mt/vat',
  NL: 'nl/btw',
  PL: 'pl/nip',
  PT: 'pt/nif',
  RO: 'ro/cif',
  SE: 'se/vat',
  SI: 'si/ddv',
  SK: 'sk/dph',
  XI: 'gb/vat',
};

/**
 * Whether a VAT number can be one: its form and its check digits, for numbers that begin with the prefix of a member
 * state of the European Union, with GB or with XI; it is written without spaces. Others are taken as they are. Whether
 * the number was given to somebody, only its tax office knows.
 */
export function isVatNumber(vatId: string): boolean {
  const file = files[vatId.slice(0, 2)];
  if (file === undefined) return true;
  const number = vatId.slice(2);
  // Of nothing at all it can't cut off the Dutch suffix.
  if (number === '') return false;
  const validator = load(`stdnum/lib/cjs/${file}`) as Validator;
  const result = validator.validate(number);
  // It overlooks spaces, and a prefix that is written twice.
  return result.isValid && result.compact === number;
}
