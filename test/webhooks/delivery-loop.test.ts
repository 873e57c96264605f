import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { setCompany } from '../../src/access/companies.ts';
import { createDeliveryQueue } from '../../src/store/deliveries.ts';
import { createResultWriter } from '../../src/store/deliveries-results.ts';
import type { Engine } from '../../src/store/engine.ts';
import { until } from '../_command.ts';
import { jobCreate, openStaffedCompany } from '../backoffice/_changes.ts';
import { onEachEngine } from '../backoffice/_office.ts';
import { deliveredResult } from '../store/_deliveries.ts';
import { answer, attemptRows, deliveryRows, noAnswer, scriptedSender, startLoop } from './_delivery-loop.ts';

/** Waits until every delivery has one of the states. */
const settled = (engine: Engine, ...states: string[]) =>
  until(async () => (await deliveryRows(engine)).every(({ state }) => states.includes(state)));

const empty = async (engine: Engine) => {
  for (const table of ['delivery_attempts', 'deliveries', 'events']) await engine.run(`DELETE FROM ${table}`);
};

onEachEngine('the loop', async (t, { openCompany, engine, setNow }) => {
  setNow(new Date());
  const acme = await openStaffedCompany(openCompany);
  t.afterEach(() => empty(engine));

  await t.test('sends a change when it is committed, signed', async (t) => {
    const sender = scriptedSender(() => answer(204));
    await using loop = startLoop(engine, sender);
    await loop.idle();
    await acme.apply(jobCreate());
    const committedAt = performance.now();
    await until(() => sender.sent.length === 1);
    const [request] = sender.sent;
    const ms = (request?.at ?? Infinity) - committedAt;
    t.ok(ms < 500, `${ms} ms: long before it would have looked by itself`);
    await settled(engine, 'delivered');
    const { id } = JSON.parse(request?.body ?? '') as { id: string };
    t.match(request?.headers, {
      'Service-Delivery': id,
      'Service-Event': 'job.created',
      'User-Agent': 'Fieldledger-Webhooks/1',
    });
    const [, time, hex] = /^t=(\d+),v1=(\w+)$/.exec(request?.headers['Service-Signature'] ?? '') ?? [];
    t.equal(hex, createHmac('sha256', 'whsec_test').update(`${time}.${request?.body}`).digest('hex'));
    t.match(await attemptRows(engine), [
      { delivery: id, number: 1, status: 204, error: null, first_byte_ms: 1 },
    ]);
  });

  await t.test('keeps to the schedule by the clock, with the same body and a fresh time', async (t) => {
    let nowMs = Date.now();
    const sender = scriptedSender(() => answer(500));
    await acme.apply(jobCreate());
    await using loop = startLoop(engine, sender, { now: () => new Date(nowMs), random: () => 0 });
    for (const [index, minutes] of [1, 5, 30, 120, 360, 720].entries()) {
      await settled(engine, 'retrying');
      t.equal(sender.sent.length, index + 1);
      nowMs += minutes * 60_000 - 1;
      await loop.idle();
      t.equal(sender.sent.length, index + 1, `not a millisecond before ${minutes} minutes`);
      nowMs += 1;
      await until(() => sender.sent.length === index + 2);
    }
    await settled(engine, 'failed');
    t.equal(new Set(sender.sent.map(({ body }) => body)).size, 1);
    t.equal(new Set(sender.sent.map(({ headers }) => headers['Service-Signature'])).size, 7);
    const attempts = await attemptRows(engine);
    t.strictSame(
      attempts.map(({ number, status }) => [number, status]),
      [1, 2, 3, 4, 5, 6, 7].map((n) => [n, 500]),
    );
    const gaps = attempts.map(({ next_attempt_at }, index) =>
      next_attempt_at === null ? null : next_attempt_at === attempts[index + 1]?.attempted_at,
    );
    t.strictSame(gaps, [true, true, true, true, true, true, null], 'each was made when it was announced');
  });

  await t.test(
    'sends no retry early when the clock is set back, and catches up when it is set forward',
    async (t) => {
      let nowMs = Date.now();
      const sender = scriptedSender((_request, attempt) => answer(attempt === 1 ? 503 : 200));
      await acme.apply(jobCreate());
      await using loop = startLoop(engine, sender, { now: () => new Date(nowMs), random: () => 0 });
      await settled(engine, 'retrying');
      nowMs -= 3_600_000;
      await loop.idle();
      setNow(new Date(nowMs));
      await acme.apply(jobCreate());
      await until(() => sender.sent.length === 2);
      t.equal(new Set(sender.sent.map(({ body }) => body)).size, 2, 'a new event goes out by the new clock');
      await settled(engine, 'retrying');
      nowMs += 86_400_000;
      const startedAt = performance.now();
      await settled(engine, 'delivered');
      t.ok(performance.now() - startedAt < 3_000, 'noticed within a second or so');
      setNow(new Date());
    },
  );

  await t.test('withholds what the company may not be sent when it is due', async (t) => {
    const sender = scriptedSender(() => answer(200));
    const cases = [
      [{ apiEnabled: false }, 'api_not_enabled'],
      [{ subscriptionActive: false }, 'company_unavailable'],
      [{ modules: ['people'] as const }, 'module_not_licensed'],
    ] as const;
    for (const [settings, reason] of cases) {
      await acme.apply(jobCreate());
      await setCompany(engine, acme.id, {
        ...settings,
        modules: [...('modules' in settings ? settings.modules : (['jobs'] as const))],
      });
      await using loop = startLoop(engine, sender);
      await loop.idle();
      await settled(engine, 'withheld');
      t.match(await deliveryRows(engine), [{ withheld_for: reason, attempt_count: 0 }]);
      await empty(engine);
      await setCompany(engine, acme.id, {
        apiEnabled: true,
        subscriptionActive: true,
        modules: ['jobs', 'forms', 'invoices', 'people', 'customers', 'quotes'],
      });
    }
    t.strictSame(sender.sent, []);
  });

  await t.test('fails what it can not send, and goes on with the others', async (t) => {
    await acme.addWebhook('whk_poison', ['job.created']);
    await engine.run(`UPDATE webhooks SET secret = 'sealed1.00000000.AAAA' WHERE id = 'whk_poison'`);
    await acme.apply(jobCreate());
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender);
    await loop.idle();
    await settled(engine, 'delivered', 'retrying');
    const rows = await deliveryRows(engine);
    t.strictSame(rows.map(({ webhook, state }) => `${webhook} ${state}`).sort(), [
      'whk_all delivered',
      'whk_poison retrying',
    ]);
    t.match(
      (await attemptRows(engine)).filter(({ webhook }) => webhook === 'whk_poison'),
      [{ error: 'internal', status: null }],
    );
    await engine.run(`DELETE FROM deliveries WHERE webhook = 'whk_poison'`);
    await engine.run(`DELETE FROM webhooks WHERE id = 'whk_poison'`);
  });

  await t.test('fails an event that a later version of the program has made, and lives on', async (t) => {
    await acme.apply(jobCreate());
    await engine.run("UPDATE events SET kind = 'job.archived'");
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender);
    await loop.idle();
    await settled(engine, 'retrying');
    t.match(await attemptRows(engine), [{ error: 'internal' }]);
    await acme.apply(jobCreate());
    await until(() => sender.sent.length === 1);
    t.pass('others are sent');
  });

  await t.test('has at most four under way for a webhook', async (t) => {
    const sender = scriptedSender(async () => (await pause(20), noAnswer('timeout')));
    for (let index = 0; index < 10; index += 1) await acme.apply(jobCreate());
    await using loop = startLoop(engine, sender);
    await loop.idle();
    await settled(engine, 'retrying');
    t.equal(sender.mostUnderWay(), 4);
  });

  await t.test('takes over what a dead worker had, and drops what that says later', async (t) => {
    await acme.apply(jobCreate());
    const waiting = await deliveryRows(engine);
    const [leased] = await createDeliveryQueue(engine).lease(waiting, 'dead', new Date(Date.now() + 200));
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender, { leaseMs: 200 });
    await loop.idle();
    await until(() => sender.sent.length === 1);
    const late = leased && deliveredResult(leased);
    t.equal(await createResultWriter(engine)(late ? [late] : []), 1);
    await settled(engine, 'delivered');
    t.match(await deliveryRows(engine), [{ state: 'delivered', attempt_count: 2, interruption_count: 0 }]);
    t.match(await attemptRows(engine), [
      { number: 1, error: 'interrupted', next_attempt_at: String },
      { number: 2, status: 200 },
    ]);
  });

  await t.test(
    'sends no retry whose time the clock has not reached, though it waits for a slot',
    async (t) => {
      await acme.apply(jobCreate());
      const dueAt = new Date(Date.now() + 3_600_000).toISOString();
      await engine.run(`UPDATE deliveries SET attempt_count = 1, failure_count = 1, due_at = '${dueAt}'`);
      const sender = scriptedSender(() => answer(200));
      await using loop = startLoop(engine, sender);
      await loop.idle();
      await settled(engine, 'retrying');
      t.match(await deliveryRows(engine), [{ due_at: dueAt, attempt_count: 1, failure_count: 1 }]);
      t.strictSame(sender.sent, []);
    },
  );

  await t.test('begins nothing while results can not be written', async (t) => {
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender);
    await engine.run('ALTER TABLE delivery_attempts RENAME TO out_of_reach');
    await acme.apply(jobCreate());
    await until(() => sender.sent.length === 1);
    await pause(50);
    await acme.apply(jobCreate());
    await loop.idle();
    t.equal(sender.sent.length, 1);
    await engine.run('ALTER TABLE out_of_reach RENAME TO delivery_attempts');
    await settled(engine, 'delivered');
    t.equal(sender.sent.length, 2, 'and each is sent once');
  });

  await t.test('goes on after a month in which nothing ran', async (t) => {
    await acme.apply(jobCreate());
    const until = new Date(Date.now() - 40 * 86_400_000);
    await createDeliveryQueue(engine).lease(await deliveryRows(engine), 'dead', until);
    await using loop = startLoop(
      engine,
      scriptedSender(() => answer(200)),
    );
    await loop.idle();
    await settled(engine, 'delivered');
    t.match(await attemptRows(engine), [
      { number: 1, error: 'interrupted', total_ms: 30_000 },
      { number: 2, status: 200 },
    ]);
  });

  await t.test('makes who dies with a delivery wait as after a failure', async (t) => {
    await acme.apply(jobCreate());
    await engine.run('UPDATE deliveries SET interruption_count = 2');
    await createDeliveryQueue(engine).lease(await deliveryRows(engine), 'dead', new Date());
    await using loop = startLoop(
      engine,
      scriptedSender(() => answer(200)),
    );
    await loop.idle();
    await settled(engine, 'retrying');
    t.match(await deliveryRows(engine), [{ failure_count: 1, interruption_count: 0 }]);
  });

  await t.test('begins nothing more when it is told to stop, and writes what was under way', async (t) => {
    for (let index = 0; index < 10; index += 1) await acme.apply(jobCreate());
    const sender = scriptedSender(async () => (await pause(50), answer(200)));
    const loop = startLoop(engine, sender);
    await until(() => sender.sent.length === 4);
    await loop[Symbol.asyncDispose]();
    const states = Object.groupBy(await deliveryRows(engine), ({ state }) => state);
    t.strictSame([states.delivered?.length, states.waiting?.length, states.sending], [4, 6, undefined]);
  });
});
