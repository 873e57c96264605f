import { createRequire } from 'node:module';

import type { stdnum as Stdnum } from 'stdnum';

/** Loaded with the first VAT number: its 300 files would be a twentieth of a server's start. */
const load = createRequire(import.meta.url);

/**
 * Where stdnum has the VAT numbers that begin with a prefix: of the member states of the European Union, of the United
 * Kingdom, and of Northern Ireland, whose numbers are British ones with a prefix of their own.
 */
const validators: Readonly<Record<string, readonly [country: string, name: string]>> = {
  AT: ['AT', 'uid'],
  BE: ['BE', 'vat'],
  BG: ['BG', 'vat'],
  CY: ['CY', 'vat'],
  CZ: ['CZ', 'dic'],
  DE: ['DE', 'vat'],
  DK: ['DK', 'cvr'],
  EE: ['EE', 'kmkr'],
  EL: ['GR', 'vat'],
  ES: ['ES', 'nif'],
  FI: ['FI', 'alv'],
  FR: ['FR', 'tva'],
  GB: ['GB', 'vat'],
  HR: ['HR', 'oib'],
  HU: ['HU', 'anum'],
  IE: ['IE', 'vat'],
  IT: ['IT', 'iva'],
  LT: ['LT', 'pvm'],
  LU: ['LU', 'tva'],
  LV: ['LV', 'pvn'],
  MT: ['MT', 'vat'],
  NL: ['NL', 'btw'],
  PL: ['PL', 'nip'],
  PT: ['PT', 'nif'],
  RO: ['RO', 'cif'],
  SE: ['SE', 'vat'],
  SI: ['SI', 'ddv'],
  SK: ['SK', 'dph'],
  XI: ['GB', 'vat'],
};

/**
 * Whether a VAT number can be one: its form and its check digits, for numbers that begin with the prefix of a member
 * state of the European Union, with GB or with XI; it is written without spaces. Others are taken as they are. Whether
 * the number was given to somebody, only its tax office knows.
 */
export function isVatNumber(vatId: string): boolean {
  const prefix = vatId.slice(0, 2);
  if (!Object.hasOwn(validators, prefix)) return true;
  const [country = '', name = ''] = validators[prefix] ?? [];
  const number = vatId.slice(2);
  // Of nothing at all it can't cut off the Dutch suffix.
  if (number === '') return false;
  const { stdnum } = load('stdnum') as { stdnum: typeof Stdnum };
  const result = stdnum[country]?.[name]?.validate(number);
  // It overlooks spaces, and a prefix that is written twice.
  return result?.isValid === true && result.compact === number;
}
