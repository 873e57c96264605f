import fc from 'fast-check';

import type { ContractParameter } from '../../../src/contract/document.ts';
import { anyCharacter } from '../../_characters.ts';

interface Given {
  text: string;
  isRight: boolean;
}

const right = (...texts: string[]) =>
  fc.constantFrom(...texts).map((text): Given => ({ text, isRight: true }));
const wrong = (...texts: string[]) =>
  fc.constantFrom(...texts).map((text): Given => ({ text, isRight: false }));

/** Any text, and texts that trip programs up. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 30 }).map((text) => text.toWellFormed()),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\r\n',
    '\u{feff}',
    '\u202e',
    '𝟙',
    '%',
    '%00',
    '"',
    "' OR 1=1 --",
    '{}',
    '[]',
    '../..',
  ),
  fc.constantFrom(
    'null',
    'undefined',
    'NaN',
    'true',
    'constructor',
    '__proto__',
    'toString',
    '$ne',
    'a'.repeat(3_000),
  ),
);

/** Ids as the contract has them. */
export const ids = fc
  .stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/)
  .map((text): Given => ({ text, isRight: true }));
const wrongIds = wrong(
  '',
  '.a',
  '-a',
  'a b',
  'a'.repeat(65),
  'a/b',
  'é',
  'a\0',
  'a\n',
  '٣',
  "a'",
  'a%',
  '*',
  'cus_1 ',
);

/** Values of a query parameter by its schema: right ones, ones just beyond its bounds, and any text at all. */
export function valueOf({ name, schema }: ContractParameter): fc.Arbitrary<Given> {
  const isOfRule = ruleOf(name, schema);
  const any = anyText.map((text): Given => ({ text, isRight: isOfRule(text) }));
  if (schema.enum) {
    const texts = schema.enum as string[];
    const beside = texts.flatMap((text) => [text.toUpperCase(), ` ${text}`, `${text} `, `${text},${text}`]);
    return fc.oneof({ weight: 6, arbitrary: right(...texts) }, wrong(...beside), any);
  }
  if (name === 'limit') {
    const inRange = fc
      .integer({ min: 1, max: 100 })
      .map((value): Given => ({ text: String(value), isRight: true }));
    const beside = [
      '0',
      '101',
      '-1',
      '1e1',
      '5.0',
      '+5',
      ' 5',
      '5 ',
      '0x10',
      '１',
      '1,2',
      '9'.repeat(20),
      '-0',
      'Infinity',
    ];
    return fc.oneof(
      { weight: 6, arbitrary: inRange },
      right('1', '100'),
      wrong('007', '010', ...beside),
      any,
    );
  }
  if (name === 'cursor')
    return fc.oneof(wrong('1', '1AAAA', '2AAAA', '1AAAAAAAAAAAAAAAA=', `1${'A'.repeat(200)}`), any);
  if (schema.format === 'date') {
    const beside = [
      '2026-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-1-1',
      '20260101',
      '2026-11-20T00:00:00Z',
      '+2026-01-01',
    ];
    return fc.oneof(
      { weight: 6, arbitrary: right('2026-02-28', '2024-02-29', '0001-01-01', '9999-12-31') },
      wrong(...beside),
      any,
    );
  }
  if (schema.format === 'date-time') return fc.oneof({ weight: 6, arbitrary: rightTimes }, wrongTimes, any);
  return fc.oneof({ weight: 6, arbitrary: ids }, wrongIds, any);
}

const rightTimes = right(
  '2026-11-20T12:00:00Z',
  '2026-11-20t12:00:00.123456789z',
  '2026-11-20 12:00:00Z',
  '2026-11-20T12:00:00.000+14:00',
  '2016-12-31T23:59:60Z',
  '0000-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59.999-23:59',
);
const wrongTimes = wrong(
  '2026-11-20',
  '2026-11-20T12:00:00',
  '2026-11-20T24:00:00Z',
  '2026-11-20T12:00:60Z',
  '2026-02-30T12:00:00Z',
  '2026-11-20T12:00:00.Z',
  '2026-11-20T12:00:00+0100',
  '2026-11-20T12:00:00 01:00',
  '2026-11-20T12:00Z',
  '1763640000',
);

/** The rule for a parameter's values, written from the contract's words without its patterns. */
function ruleOf(name: string, schema: ContractParameter['schema']): (text: string) => boolean {
  if (schema.enum) return (text) => (schema.enum as string[]).includes(text);
  if (name === 'limit') return (text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 100;
  if (name === 'customer')
    return (text) =>
      text.length <= 64 && /^[a-z0-9]/i.test(text) && ![...text].some((one) => !/[\w.:-]/.test(one));
  return () => false;
}
