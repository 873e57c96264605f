import type { JsonSchema } from '../../src/contract/document.ts';

/** Ways to write a query that are refused, escaped as they stand in an address. */
export interface Spellings {
  /** Those that every operation is asked with. */
  always: readonly string[];
  /** Those that one operation or another is asked with. */
  sometimes: readonly string[];
}

/** An integer is decimal digits without leading zeros, and nothing else (the contract, `limit`). */
const integers: Spellings = {
  always: ['010', '%2B5', '+5', '5.0', '1e1', '0x10', '5%20'],
  sometimes: [
    ...[
      '00',
      '-0',
      '-5',
      '1E1',
      '5.',
      '.5',
      '5.5',
      '0b1',
      '0o7',
      '0X10',
      '5_0',
      '1,0',
      '5%2C6',
      '5%0A',
      '5%00',
      '5;',
    ],
    ...[
      '5abc',
      '%225%22',
      'NaN',
      'Infinity',
      'true',
      'null',
      '%5B5%5D',
      '99999999999999999999',
      '4294967297',
    ],
    // Digits of other scripts.
    ...['%EF%BC%95', '%D9%A5', '%E0%A5%AB', '%C2%B2'],
  ],
};

/** Times are RFC 3339 with an offset: hours to 23, and a second 60 only where one is inserted, at the end of a day in UTC. */
const times: Spellings = {
  always: ['2026-11-16T24:00:00Z', '2026-11-16T12:00:60Z', '2026-11-16T00:00:00', '2026-02-29T00:00:00Z'],
  sometimes: [
    ...['2026-11-16T24:00:00.000Z', '2026-11-16T25:00:00Z', '2026-11-16T23:60:00Z', '2026-11-16T23:59:61Z'],
    ...['2026-13-16T00:00:00Z', '2026-00-16T00:00:00Z', '2026-11-00T00:00:00Z', '1900-02-29T00:00:00Z'],
    ...['2026-11-16T00:00:00%2B24:00', '2026-11-16T00:00:00%2B01:60', '2026-11-16T00:00:00%2B05'],
    ...['2026-11-16T00:00:00%2B0530', '2026-11-16T00:00:00-5:00', '2026-11-16T00:00:00%E2%88%9205:00'],
    ...[
      '2026-11-16T00:00:00GMT',
      '2026-11-16T00:00:00ZZ',
      '2026-11-16T00:00:00Z%2B01:00',
      '2026-11-16T00:00:00%20Z',
    ],
    ...['2026-11-16T00:00Z', '2026-11-16T00Z', '2026-11-16TZ', '2026-11-16T0:00:00Z', '2026-1-16T00:00:00Z'],
    ...['2026-11-16T00:00:00.Z', '2026-11-16T00:00:00,5Z', '20261116T000000Z', '2026-W47-1T00:00:00Z'],
    ...['2026-320T00:00:00Z', '10000-01-01T00:00:00Z', '%2B2026-11-16T00:00:00Z', '-2026-11-16T00:00:00Z'],
    ...['1795176000', '1795176000000', 'now', 'Fri,%2020%20Nov%202026%2012:00:00%20GMT', '11/16/2026'],
    ...[
      '%202026-11-16T00:00:00Z',
      '2026-11-16T00:00:00Z%20',
      '2026-11-16T00:00:00Z%00',
      '2026-11-16T00:00:00Z%0A',
    ],
    '%EF%BC%92026-11-16T00:00:00Z',
  ],
};

/** Dates are `YYYY-MM-DD`, in the calendar. */
const dates: Spellings = {
  always: ['2026-02-29', '2026-1-6', '20261116'],
  sometimes: [
    ...[
      '1900-02-29',
      '2026-04-31',
      '2026-13-01',
      '2026-00-01',
      '2026-01-00',
      '2026-11',
      '2026',
      '2026-W47-1',
    ],
    ...[
      '2026-320',
      '2026-11-16T00:00:00Z',
      '16.11.2026',
      '11/16/2026',
      '2026/11/16',
      'today',
      '%202026-11-16',
    ],
    ...[
      '2026-11-16%20',
      '2026-11-16%00',
      '-2026-11-16',
      '%2B2026-11-16',
      '10000-01-01',
      '%EF%BC%92026-11-16',
    ],
  ],
};

/** A value of a closed set is itself, letter for letter. */
function valuesOf(values: readonly unknown[]): Spellings {
  const [first = '', second = 'other'] = values.map(String);
  return {
    always: [first.toUpperCase(), `${first},${second}`],
    sometimes: [
      ...[
        first.replace(/^./, (one) => one.toUpperCase()),
        `${first}%20`,
        `%20${first}`,
        `${first}%00`,
        `${first}s`,
      ],
      ...[first.slice(0, -1), `%22${first}%22`, `${first}|${second}`, '*', 'null'],
    ],
  };
}

/** Ids have letters, digits and a few characters, and 64 at most. */
const ids: Spellings = {
  always: ['cus_0001%00', 'x'.repeat(65)],
  sometimes: [
    'cus_0001%20',
    '%20cus_0001',
    'cus_0001,cus_0002',
    'a%2Fb',
    '_x',
    '%zz',
    '%ff',
    '*',
    '%27%20OR%201=1',
  ],
};

/** A cursor is what a page gave; the longest addresses are read to their end. */
const cursors: Spellings = {
  always: [`1${'a'.repeat(8_100)}`],
  sometimes: ['1', '2aaaaaaaaaaaaaaaaaa', '0', 'job_0001', '1%00', '1%2F', 'null', '1====', '%zz', '-1'],
};

/** Ways to write a value that break a parameter's rule, where some server might take them. */
export function wrongSpellings(name: string, { type, format, enum: values }: JsonSchema): Spellings {
  if (name === 'cursor') return cursors;
  if (values) return valuesOf(values);
  if (type === 'integer') return integers;
  if (format === 'date') return dates;
  if (format === 'date-time') return times;
  return ids;
}

/** Other names, which some server might take for a parameter's. */
export function wrongNames(name: string): Spellings {
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    always: [name.toUpperCase()],
    sometimes: [
      ...[
        name.replace(/^./, (one) => one.toUpperCase()),
        `${name}%5B%5D`,
        `${name}%5B0%5D`,
        `${name}%20`,
        `%20${name}`,
      ],
      ...[`$${name}`, `${name}%00`, `filter%5B${name}%5D`, `page%5B${name}%5D`, `?${name}`, `amp;${name}`],
      ...(snake === name ? [] : [snake, name.toLowerCase()]),
    ],
  };
}
