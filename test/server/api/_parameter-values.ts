import fc from 'fast-check';

import type { ContractParameter } from '../../../src/contract/document.ts';
import { anyCharacter } from '../../_characters.ts';
import type { Schema } from '../../contract/_contract.ts';
import { wrongValues } from '../../contract/_spellings.ts';

interface Given {
  text: string;
  isRight: boolean;
}

const given =
  (isRight: boolean) =>
  (text: string): Given => ({ text, isRight });

/** Any text, and texts that trip programs up. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 30 }).map((text) => text.toWellFormed()),
  fc.constantFrom('', ' ', '\0', '\r\n', '\u{feff}', '\u202e', '𝟙', '"', "' OR 1=1 --", 'a'.repeat(3_000)),
  fc.constantFrom(
    ...'% %00 {} [] ../.. null undefined NaN true constructor __proto__ toString $ne'.split(' '),
  ),
);

/** Ids as the contract has them. */
export const ids = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/).map(given(true));

/** The wrong spellings of the suite, as they are meant; a broken escape means nothing. */
function wrongTextsOf({ name, schema }: ContractParameter): string[] {
  const { everyone, always, sometimes } = wrongValues(name, schema as Schema);
  return [...everyone, ...always, ...sometimes].flatMap((written) => {
    try {
      return [decodeURIComponent(written.replaceAll('+', ' '))];
    } catch {
      return [];
    }
  });
}

const RIGHT: Readonly<Record<string, readonly string[]>> = {
  date: ['2026-02-28', '2024-02-29', '0001-01-01', '9999-12-31'],
  'date-time': [
    ...['2026-11-20T12:00:00Z', '2026-11-20t12:00:00.123456789z', '2026-11-20 12:00:00Z'],
    ...['2026-11-20T12:00:00.000+14:00', '2016-12-31T23:59:60Z', '0000-01-01T00:00:00+23:59'],
    '9999-12-31T23:59:59.999-23:59',
  ],
};

function rightValuesOf({ name, schema }: ContractParameter): fc.Arbitrary<Given> {
  const values = (schema.enum as string[] | undefined) ?? RIGHT[schema.format ?? ''];
  if (values) return fc.constantFrom(...values).map(given(true));
  if (name === 'limit') return fc.integer({ min: 1, max: 100 }).map(String).map(given(true));
  return ids;
}

/** Values of a query parameter by its schema: right ones, ones just beyond its bounds, and any text at all. */
export function valueOf(parameter: ContractParameter): fc.Arbitrary<Given> {
  const isOfRule = ruleOf(parameter);
  const wrong = fc.constantFrom(...wrongTextsOf(parameter)).map(given(false));
  const any = anyText.map((text) => given(isOfRule(text))(text));
  // Which cursors are right only a list knows.
  if (parameter.name === 'cursor') return fc.oneof(wrong, any);
  return fc.oneof({ weight: 6, arbitrary: rightValuesOf(parameter) }, wrong, any);
}

/** The rule for a parameter's values, written from the contract's words without its patterns. */
function ruleOf({ name, schema }: ContractParameter): (text: string) => boolean {
  if (schema.enum) return (text) => (schema.enum as string[]).includes(text);
  if (name === 'limit') return (text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 100;
  if (name === 'customer')
    return (text) =>
      text.length <= 64 && /^[a-z0-9]/i.test(text) && ![...text].some((one) => !/[\w.:-]/.test(one));
  return () => false;
}
