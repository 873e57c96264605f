import {
  bringForward,
  countWaiting,
  leaseDeliveries,
  listTimed,
  nextDeliveryTime,
} from '../../../../../src/server/features/webhooks/deliveries/lease.ts';
import { recordResults } from '../../../../../src/server/features/webhooks/deliveries/results.ts';
import {
  findWaiting,
  type WaitingSearch,
} from '../../../../../src/server/features/webhooks/deliveries/waiting-deliveries.ts';
import type { Engine } from '../../../../../src/server/store/engines/engine.ts';
import { openSeveral } from '../../../store/_stores.ts';
import { deliveredResult, onDeliveries } from './_deliveries.ts';

const UNTIL = new Date('2026-11-20T12:00:30.000Z');
const START = { company: '', webhook: '' };

/** The number of deliveries that a scan finds for each webhook, in the order of the scan. */
async function waitingFrom(engine: Engine, options: Partial<WaitingSearch> = {}) {
  const given = { after: START, webhooksMax: 10, perWebhook: 4, busy: [], busyCompanies: [], ...options };
  const { found, last } = await findWaiting(engine, given);
  const groups = Map.groupBy(found, ({ company, webhook }) => `${company} ${webhook}`);
  return { counts: [...groups].map(([webhook, { length }]) => `${webhook} ${length}`), last };
}

const crowd = { acme: { whk_a: 2_000, whk_b: 3 }, borough: { whk_a: 1, whk_none: 0 } };

onDeliveries(
  'a scan finds some of each webhook, whatever waits for another',
  crowd,
  async (t, { engine }) => {
    t.strictSame(await waitingFrom(engine), {
      counts: ['acme whk_a 4', 'acme whk_b 3', 'borough whk_a 1'],
      last: undefined,
    });
    const first = await waitingFrom(engine, { webhooksMax: 2, perWebhook: 1 });
    t.strictSame(first, {
      counts: ['acme whk_a 1', 'acme whk_b 1'],
      last: { company: 'acme', webhook: 'whk_b' },
    });
    const second = await waitingFrom(engine, { webhooksMax: 2, after: first.last ?? START });
    t.strictSame(second, { counts: ['borough whk_a 1'], last: undefined }, 'and goes on where it stopped');
    const busy = [{ company: 'acme', webhook: 'whk_a' }];
    t.strictSame((await waitingFrom(engine, { busy })).counts, ['acme whk_b 3', 'borough whk_a 1']);
    t.strictSame((await waitingFrom(engine, { busyCompanies: ['acme'] })).counts, ['borough whk_a 1']);
    await engine.run(
      `UPDATE deliveries SET due_at = '2026-11-20T11:00:00.000Z' WHERE id LIKE '%whk_a_0001500'`,
    );
    const { found } = await findWaiting(engine, {
      ...{ after: START, webhooksMax: 1, perWebhook: 1, busy: [], busyCompanies: [] },
    });
    t.match(found, [{ id: 'dlv_acme_whk_a_0001500' }], 'the one that has waited longest is first');
  },
);

const three = { acme: { whk_a: 3 } };

onDeliveries('a lease is taken once, and only its holder says how it went', three, async (t, { engine }) => {
  const key = { company: 'acme', webhook: 'whk_a', id: 'dlv_acme_whk_a_0000001' };
  const [leased] = await leaseDeliveries(engine, [key], 'first', UNTIL);
  t.match(leased, { ...key, lease: 'first', attempt: 1, kind: 'job.created', data: '{"id":"job_1"}' });
  t.strictSame(await leaseDeliveries(engine, [key], 'second', UNTIL), [], 'nobody else gets it');
  const result = deliveredResult({ ...key, lease: 'second', attempt: 1 });
  t.equal(await recordResults(engine, [result]), 1, 'a result of another lease is dropped');
  const read = () => engine.db.selectFrom('deliveries').selectAll().where('id', '=', key.id).execute();
  t.match(await read(), [
    { state: 'sending', lease: 'first', attempt_count: 1, due_at: UNTIL.toISOString() },
  ]);
  t.equal(await recordResults(engine, [{ ...result, lease: 'first' }]), 0);
  t.match(await read(), [{ state: 'delivered', lease: null, attempt_count: 1 }]);
  t.equal(await recordResults(engine, [{ ...result, lease: 'first' }]), 1, 'told twice, it counts once');
  const attempts = await engine.db.selectFrom('delivery_attempts').selectAll().execute();
  t.match(attempts, [{ delivery: key.id, number: 1, status: 200, error: null, dns_ms: 1, first_byte_ms: 4 }]);
});

onDeliveries('a lease without sending counts no attempt', { acme: { whk_a: 1 } }, async (t, { engine }) => {
  const leased = await leaseDeliveries(engine, await keys(engine), 'first', UNTIL);
  const withheld = { state: 'withheld', withheldFor: 'api_not_enabled', attempt: undefined } as const;
  await recordResults(
    engine,
    leased.map((one) => ({ ...deliveredResult(one), ...withheld })),
  );
  t.match(await engine.db.selectFrom('deliveries').selectAll().execute(), [
    { state: 'withheld', withheld_for: 'api_not_enabled', attempt_count: 0 },
  ]);
  t.strictSame(await engine.db.selectFrom('delivery_attempts').selectAll().execute(), []);
});

onDeliveries('a time comes when it comes, and not before', { acme: { whk_a: 2 } }, async (t, { engine }) => {
  t.equal(await nextDeliveryTime(engine), undefined);
  const all = await keys(engine);
  await leaseDeliveries(engine, all.slice(0, 1), 'first', UNTIL);
  await engine.run(
    `UPDATE deliveries SET state = 'retrying', due_at = '2026-11-20T12:01:00.000Z' WHERE state = 'waiting'`,
  );
  t.equal(await nextDeliveryTime(engine), UNTIL.toISOString());
  t.strictSame(await listTimed(engine, new Date(UNTIL.getTime() - 1), 10), []);
  t.match(await listTimed(engine, UNTIL, 10), [{ state: 'sending', lease: 'first', attempt: 1 }]);
  const later = new Date('2026-11-20T12:01:00.000Z');
  t.match(await listTimed(engine, later, 10), [{ state: 'sending' }, { state: 'retrying' }]);
  await bringForward(engine, all, new Date(later.getTime() - 1));
  t.equal(await countWaiting(engine, 10), 0, 'the clock was set back in between');
  await bringForward(engine, all, later);
  t.equal(await countWaiting(engine, 10), 1, 'and only a retry waits then, not what is being sent');
});

const several = { acme: { whk_a: 40, whk_b: 40 }, borough: { whk_a: 40 } };

onDeliveries('several that take leases at once never share one', several, async (t, { engine, url }) => {
  const all = await keys(engine);
  await using processes = await openSeveral(url, 4);
  const taken = await Promise.all(
    processes.engines.map(async (one, index) => {
      const own: string[] = [];
      for (let start = 0; start < all.length; start += 10) {
        const leased = await leaseDeliveries(one, all.slice(start, start + 10), `worker-${index}`, UNTIL);
        own.push(...leased.map(({ id }) => id));
      }
      return own;
    }),
  );
  t.equal(new Set(taken.flat()).size, taken.flat().length, 'no delivery was leased twice');
  // A worker skips a delivery that another one is looking at; such a delivery still waits.
  const waiting = await countWaiting(engine, 1_000);
  t.equal(taken.flat().length + waiting, all.length, 'and none was lost');
  t.ok(taken.flat().length >= all.length / 2);
});

async function keys(engine: Engine) {
  return engine.db.selectFrom('deliveries').select(['company', 'webhook', 'id']).orderBy('id').execute();
}
