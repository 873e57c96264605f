import fc from 'fast-check';
import t from 'tap';

import { nextAttemptAt } from '../../src/webhooks/schedule.ts';

const at = new Date('2026-11-20T12:00:00.000Z');
const MINUTES = [1, 5, 30, 120, 360, 720];

t.test(
  'a delivery is tried again after 1, 5 and 30 minutes, and 2, 6 and 12 hours, and then no more',
  async (t) => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((count) => {
      const next = nextAttemptAt(count, at, () => 0);
      return next && (next.getTime() - at.getTime()) / 60_000;
    });
    t.strictSame(delays, [...MINUTES, undefined]);
  },
);

t.test('chance makes it later by a tenth at most, and never earlier', async (t) => {
  const delay = fc.record({
    count: fc.integer({ min: 1, max: 6 }),
    chance: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(delay, ({ count, chance }) => {
      const ms = (nextAttemptAt(count, at, () => chance)?.getTime() ?? 0) - at.getTime();
      const wantedMs = (MINUTES[count - 1] ?? 0) * 60_000;
      return ms >= wantedMs && ms <= wantedMs * 1.1 + 1;
    }),
  );
  t.pass('in a hundred cases');
});
