import type { Schema } from './_contract.ts';

/** Ways to write a value or a name that are refused, escaped as they stand in an address. */
export interface Spellings {
  /** Spellings that the mock refuses as well. */
  everyone: readonly string[];
  always: readonly string[];
  /** Spellings that one operation or another is asked with. */
  sometimes: readonly string[];
}

const words = (text: string) => text.trim().split(/\s+/);

/** An integer is decimal digits without leading zeros, and nothing else (the contract, `limit`). */
const integers: Spellings = {
  everyone: words('0 101 ten'),
  always: words('010 %2B5 +5 5.0 1e1 0x10 5%20'),
  sometimes: words(`
    00 -0 -5 1E1 5. .5 5.5 0b1 0o7 0X10 5_0 1,0 5%2C6 5%0A 5%00 5; 5abc %225%22 NaN Infinity true null %5B5%5D
    99999999999999999999 4294967297
    %EF%BC%95 %D9%A5 %E0%A5%AB %C2%B2
  `),
};

/** Times are RFC 3339 with an offset: hours to 23, and a second 60 only where one is inserted, at the end of a day in UTC. */
const times: Spellings = {
  everyone: words('2026-11-16 2026-11-31T00:00:00.000Z'),
  always: words('2026-11-16T24:00:00Z 2026-11-16T12:00:60Z 2026-11-16T00:00:00 2026-02-29T00:00:00Z'),
  sometimes: words(`
    2026-11-16T24:00:00.000Z 2026-11-16T25:00:00Z 2026-11-16T23:60:00Z 2026-11-16T23:59:61Z 2026-13-16T00:00:00Z
    2026-00-16T00:00:00Z 2026-11-00T00:00:00Z 1900-02-29T00:00:00Z 2026-11-16T00:00:00+01:00
    2026-11-16T00:00:00%2B24:00 2026-11-16T00:00:00%2B01:60 2026-11-16T00:00:00%2B05 2026-11-16T00:00:00%2B0530
    2026-11-16T00:00:00-5:00 2026-11-16T00:00:00%E2%88%9205:00 2026-11-16T00:00:00GMT 2026-11-16T00:00:00ZZ
    2026-11-16T00:00:00Z%2B01:00 2026-11-16T00:00:00%20Z 2026-11-16T00:00Z 2026-11-16T00Z 2026-11-16TZ
    2026-11-16T0:00:00Z 2026-1-16T00:00:00Z 2026-11-16T00:00:00.Z 2026-11-16T00:00:00,5Z 20261116T000000Z
    2026-W47-1T00:00:00Z 2026-320T00:00:00Z 10000-01-01T00:00:00Z %2B2026-11-16T00:00:00Z -2026-11-16T00:00:00Z
    1795176000 1795176000000 now Fri,%2020%20Nov%202026%2012:00:00%20GMT 11/16/2026 %202026-11-16T00:00:00Z
    2026-11-16T00:00:00Z%20 2026-11-16T00:00:00Z%00 2026-11-16T00:00:00Z%0A %EF%BC%92026-11-16T00:00:00Z
  `),
};

/** Dates are `YYYY-MM-DD`, in the calendar. */
const dates: Spellings = {
  everyone: words('2026-02-30 yesterday'),
  always: words('2026-02-29 2026-1-6 20261116'),
  sometimes: words(`
    1900-02-29 2026-04-31 2026-13-01 2026-00-01 2026-01-00 2026-11 2026 2026-W47-1 2026-320 2026-11-16T00:00:00Z
    16.11.2026 11/16/2026 2026/11/16 today %202026-11-16 2026-11-16%20 2026-11-16%00 -2026-11-16 %2B2026-11-16
    10000-01-01 %EF%BC%92026-11-16
  `),
};

/** Ids have letters, digits and a few characters, and 64 at most. */
const ids: Spellings = {
  everyone: words('-x x%20y'),
  always: ['cus_0001%00', 'x'.repeat(65)],
  sometimes: words('cus_0001%20 %20cus_0001 cus_0001,cus_0002 a%2Fb _x %zz %ff * %27%20OR%201=1'),
};

/** A cursor is what a page gave; the longest addresses are read to their end. */
const cursors: Spellings = {
  everyone: words('-x x%20y'),
  always: [`1${'a'.repeat(8_100)}`],
  sometimes: words('1 2aaaaaaaaaaaaaaaaaa 0 job_0001 1%00 1%2F null 1==== %zz -1'),
};

/** A value of a closed set is itself, letter for letter. */
function valuesOf(values: readonly unknown[]): Spellings {
  const [first = '', second = 'other'] = values.map(String);
  return {
    everyone: ['nonsense'],
    always: [first.toUpperCase(), `${first},${second}`],
    sometimes: [
      ...[first.replace(/^./, (one) => one.toUpperCase()), `${first}%20`, `%20${first}`, `${first}%00`],
      ...[`${first}s`, first.slice(0, -1), `%22${first}%22`, `${first}|${second}`, '*', 'null'],
    ],
  };
}

/** Ways to write a value that break a parameter's rule, where some server might take them. */
export function wrongValues(name: string, { type, format, enum: values }: Schema): Spellings {
  if (name === 'cursor') return cursors;
  if (values) return valuesOf(values);
  if (type === 'integer') return integers;
  if (format === 'date') return dates;
  return format === 'date-time' ? times : ids;
}

/** Other names, which some server might take for a parameter's. */
export function wrongNames(name: string): Spellings {
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    everyone: [],
    always: [name.toUpperCase()],
    sometimes: [
      ...[name.replace(/^./, (one) => one.toUpperCase()), `${name}%5B%5D`, `${name}%5B0%5D`, `${name}%20`],
      ...[`%20${name}`, `$${name}`, `${name}%00`, `filter%5B${name}%5D`, `page%5B${name}%5D`, `?${name}`],
      ...[`amp;${name}`, ...(snake === name ? [] : [snake, name.toLowerCase()])],
    ],
  };
}
