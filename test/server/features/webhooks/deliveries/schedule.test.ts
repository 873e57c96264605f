import fc from 'fast-check';
import t from 'tap';

import { nextAttemptAt } from '../../../../../src/server/sending/schedule.ts';
import { FairShare } from '../../../../../src/server/features/webhooks/deliveries/fair-share.ts';

/** Deliveries of webhooks that are called `company webhook`, so many of each. */
function waiting(counts: Readonly<Record<string, number>>) {
  return Object.entries(counts).flatMap(([name, count]) => {
    const [company = '', webhook = ''] = name.split(' ');
    return Array.from({ length: count }, (_delivery, index) => ({
      company,
      webhook,
      id: `${name} ${index}`,
    }));
  });
}

const ids = (taken: { id: string }[]) => taken.map(({ id }) => id);

t.test('each webhook has its first before any has its second', async (t) => {
  const share = new FairShare({ total: 8, perWebhook: 4 });
  const taken = share.take(waiting({ 'acme a': 4, 'borough a': 4, 'crown a': 4 }));
  const seconds = ['acme a 1', 'borough a 1', 'crown a 1'];
  t.strictSame(ids(taken), ['acme a 0', 'borough a 0', 'crown a 0', ...seconds]);
});

t.test('a company leaves a quarter of all to whoever comes next', async (t) => {
  const share = new FairShare({ total: 16, perWebhook: 4 });
  const flood = { 'acme a': 4, 'acme b': 4, 'acme c': 4, 'acme d': 4 };
  t.equal(share.take(waiting(flood)).length, 12);
  t.strictSame(share.busyCompanies, ['acme']);
  t.equal(share.take(waiting({ 'acme e': 1, 'borough a': 4 })).length, 4, "which are another company's");
  t.equal(share.free, 0);
});

const at = new Date('2026-11-20T12:00:00.000Z');
const MINUTES = [1, 5, 30, 120, 360, 720];

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
