import type { Random } from './random.ts';

const irishCheckLetters = 'WABCDEFGHIJKLMNOPQRSTUV';

/**
 * An Irish VAT number with its country prefix and a right check letter. Numbers from before 2013 have eight characters,
 * companies registered since have an H at the end, and some of the oldest have a letter in second place.
 */
export function irishVatNumber(random: Random): string {
  const digits = String(random.integer(1_000_000, 9_999_999));
  return random.weighted([
    [5, () => `IE${digits}${irishCheckLetter(digits)}`],
    [4, () => `IE${digits}${irishCheckLetter(digits, 'H')}H`],
    [1, () => oldestIrishVatNumber(digits, random)],
  ])();
}

/**
 * A British VAT number, as of a business in Great Britain (GB) or of one in Northern Ireland that trades in goods with
 * the Union (XI). Its nine digits, weighted 8, 7, 6, 5, 4, 3, 2, 10 and 1, are a multiple of 97; so they are, for
 * numbers given since 2010, once 55 is added.
 */
export function britishVatNumber(random: Random, prefix: 'GB' | 'XI' = 'GB'): string {
  const digits = String(random.integer(1_000_000, 9_999_999));
  const sum = weightedSum(digits) + (random.chance(0.6) ? 55 : 0);
  const check = 97 - (sum % 97);
  return `${prefix}${digits}${String(check).padStart(2, '0')}`;
}

function oldestIrishVatNumber(digits: string, random: Random): string {
  const first = digits.slice(0, 1);
  const rest = digits.slice(2);
  return `IE${first}${random.character('ABCDEFGH')}${rest}${irishCheckLetter(`0${rest}${first}`)}`;
}

function irishCheckLetter(digits: string, suffix = 'W'): string {
  return irishCheckLetters.charAt((weightedSum(digits) + 9 * irishCheckLetters.indexOf(suffix)) % 23);
}

function weightedSum(digits: string): number {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) sum += (8 - index) * Number(digits[index]);
  return sum;
}
