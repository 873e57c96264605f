import t from 'tap';

import { FairShare } from '../../src/webhooks/fair-share.ts';

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

t.test('a webhook has four at most, those of before included', async (t) => {
  const share = new FairShare({ total: 64, perWebhook: 4 });
  const [first] = share.take(waiting({ 'acme a': 1 }));
  t.equal(share.take(waiting({ 'acme a': 4 })).length, 3);
  t.strictSame(share.busy, [{ company: 'acme', webhook: 'a' }]);
  t.strictSame(share.take(waiting({ 'acme a': 4 })), []);
  if (first) share.giveBack(first);
  t.strictSame(share.busy, []);
  t.equal(share.free, 61);
});

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
