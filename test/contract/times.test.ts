import t from 'tap';

import { toUtc } from '../../src/contract/times.ts';

t.test('a time with an offset becomes UTC with milliseconds', async (t) => {
  const times: Record<string, string> = {
    '2026-11-20T12:00:00Z': '2026-11-20T12:00:00.000Z',
    '2026-11-20t12:00:00z': '2026-11-20T12:00:00.000Z',
    '2026-11-20T00:30:00+01:00': '2026-11-19T23:30:00.000Z',
    '2026-11-20T23:30:00-05:30': '2026-11-21T05:00:00.000Z',
    '2024-02-29T23:59:59.999-00:01': '2024-03-01T00:00:59.999Z',
    '0000-01-01T00:00:00Z': '0000-01-01T00:00:00.000Z',
  };
  for (const [given, expected] of Object.entries(times)) t.equal(toUtc(given), expected, given);
});

t.test(
  'every fraction of a second keeps its milliseconds, and finer ones round up to the next',
  async (t) => {
    for (let ms = 0; ms < 1000; ms += 1) {
      const fraction = String(ms).padStart(3, '0');
      const exact = `2026-11-20T12:00:00.${fraction}Z`;
      const next = new Date(Date.parse(exact) + 1).toISOString();
      const read = [fraction, `${fraction}000000`, `${fraction}000001`, `${fraction}999999`].map((digits) =>
        toUtc(`2026-11-20T12:00:00.${digits}Z`),
      );
      if (read.join() !== [exact, exact, next, next].join()) t.strictSame(read, [exact, exact, next, next]);
    }
    t.equal(toUtc('2026-11-20T12:00:00.9Z'), '2026-11-20T12:00:00.900Z');
    t.equal(toUtc('2026-12-31T23:59:59.9991Z'), '2027-01-01T00:00:00.000Z');
  },
);

t.test('a leap second counts as the second after it', async (t) => {
  t.equal(toUtc('2016-12-31T23:59:60Z'), '2017-01-01T00:00:00.000Z');
  t.equal(toUtc('2017-01-01T00:59:60.25+01:00'), '2017-01-01T00:00:00.250Z');
});

t.test('a time beyond the years of four digits compares as text with the times of records', async (t) => {
  t.equal(toUtc('0000-01-01T00:00:00+14:00'), '0000-01-01T00:00:00.000Z');
  t.ok(toUtc('9999-12-31T23:59:59.999-00:01') > '9999-12-31T23:59:59.999Z');
  t.equal(toUtc('9999-12-31T23:59:59.999Z'), '9999-12-31T23:59:59.999Z');
});
