import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { setCompany } from '../../../../../src/server/backoffice/companies.ts';
import { createLogger, type Logger } from '../../../../../src/server/process/log.ts';
import { leaseDeliveries } from '../../../../../src/server/features/webhooks/deliveries/lease.ts';
import {
  type DeliveryResult,
  recordResults,
  ResultGroup,
} from '../../../../../src/server/features/webhooks/deliveries/results.ts';
import { traceIdIn } from '../../../../../src/contract/trace-context.ts';
import { until } from '../../../../_command.ts';
import { jobCreate, openStaffedCompany } from '../../../backoffice/_changes.ts';
import { onEachEngine } from '../../../backoffice/_backoffice.ts';
import { deliveredResult, onDeliveries } from './_deliveries.ts';
import {
  answer,
  attemptRows,
  deliveryRows,
  forgetDeliveries,
  scriptedSender,
  settled,
  startLoop,
} from './_delivery-loop.ts';

/** A sender whose every delivery is accepted. */
const taking = () => scriptedSender(() => answer(200));

onEachEngine('the loop', async (t, { openCompany, engine, setNow }) => {
  setNow(new Date());
  const acme = await openStaffedCompany(openCompany);
  t.afterEach(() => forgetDeliveries(engine));

  await t.test('sends a change when it is committed, signed', async (t) => {
    const sender = scriptedSender(() => answer(204));
    const lines: object[] = [];
    const log = { info: (line: object) => lines.push(line) } as unknown as Logger;
    // By itself it would look much later.
    await using loop = startLoop(engine, sender, { log, sleepMs: 600_000 });
    await loop.idle();
    await acme.apply(jobCreate());
    await until(() => sender.sent.length === 1);
    const [request] = sender.sent;
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
    const traceId = traceIdIn(request?.headers['traceparent']);
    t.match(lines, [{ delivery: id, attempt: 1, status: 204, traceId }], 'and in the log');
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
    const traceparents = sender.sent.map(({ headers }) => headers['traceparent']);
    t.equal(new Set(traceparents).size, 7, 'each attempt is a span of its own');
    const { id } = JSON.parse(sender.sent[0]?.body ?? '') as { id: string };
    t.strictSame([...new Set(traceparents.map(traceIdIn))], [id.replace(/dlv_|-/g, '')], 'of one trace');
    const attempts = await attemptRows(engine);
    const times = attempts.map(({ attempted_at }) => attempted_at);
    t.strictSame(
      attempts.map(({ number, status, next_attempt_at }) => [number, status, next_attempt_at]),
      times.map((_time, index) => [index + 1, 500, times[index + 1] ?? null]),
      'each was made when it was announced',
    );
  });

  await t.test('sends no retry early when the clock is set back, and catches up later', async (t) => {
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
    // It notices within a second.
    await settled(engine, 'delivered');
    setNow(new Date());
  });

  await t.test('withholds what the company may not be sent when it is due', async (t) => {
    const sender = taking();
    const all = ['jobs', 'forms', 'invoices', 'people', 'customers', 'quotes'] as const;
    const allowed = { apiEnabled: true, subscriptionActive: true, modules: [...all] };
    const cases = [
      [{ apiEnabled: false }, 'api_not_enabled'],
      [{ subscriptionActive: false }, 'company_unavailable'],
      [{ modules: all.filter((module) => module !== 'jobs') }, 'module_not_licensed'],
    ] as const;
    for (const [settings, reason] of cases) {
      await acme.apply(jobCreate());
      await setCompany(engine, acme.id, { ...allowed, ...settings });
      await using loop = startLoop(engine, sender);
      await loop.idle();
      await settled(engine, 'withheld');
      t.match(await deliveryRows(engine), [{ withheld_for: reason, attempt_count: 0 }]);
      await forgetDeliveries(engine);
      await setCompany(engine, acme.id, allowed);
    }
    t.strictSame(sender.sent, []);
  });

  await t.test('fails an event that a later version of the program has made, and lives on', async (t) => {
    await acme.apply(jobCreate());
    await engine.run("UPDATE events SET kind = 'job.archived'");
    const sender = taking();
    await using loop = startLoop(engine, sender);
    await loop.idle();
    await settled(engine, 'retrying');
    t.match(await attemptRows(engine), [{ error: 'internal' }]);
    await acme.apply(jobCreate());
    await until(() => sender.sent.length === 1);
    t.pass('others are sent');
  });

  await t.test('takes over what a dead worker had, and drops what that says later', async (t) => {
    await acme.apply(jobCreate());
    const waiting = await deliveryRows(engine);
    const [leased] = await leaseDeliveries(engine, waiting, 'dead', new Date(Date.now() + 200));
    const sender = taking();
    await using loop = startLoop(engine, sender, { leaseMs: 200 });
    await loop.idle();
    await until(() => sender.sent.length === 1);
    const late = leased && deliveredResult(leased);
    t.equal(await recordResults(engine, late ? [late] : []), 1);
    await settled(engine, 'delivered');
    t.match(await deliveryRows(engine), [{ state: 'delivered', attempt_count: 2, interruption_count: 0 }]);
    t.match(await attemptRows(engine), [
      { number: 1, error: 'interrupted', next_attempt_at: String },
      { number: 2, status: 200 },
    ]);
  });

  await t.test('sends no retry before its time, though it waits for a slot', async (t) => {
    await acme.apply(jobCreate());
    const dueAt = new Date(Date.now() + 3_600_000).toISOString();
    await engine.run(`UPDATE deliveries SET attempt_count = 1, failure_count = 1, due_at = '${dueAt}'`);
    const sender = taking();
    await using loop = startLoop(engine, sender);
    await loop.idle();
    await settled(engine, 'retrying');
    t.match(await deliveryRows(engine), [{ due_at: dueAt, attempt_count: 1, failure_count: 1 }]);
    t.strictSame(sender.sent, []);
  });

  await t.test('goes on after a month in which nothing ran', async (t) => {
    await acme.apply(jobCreate());
    const until = new Date(Date.now() - 40 * 86_400_000);
    await leaseDeliveries(engine, await deliveryRows(engine), 'dead', until);
    await using loop = startLoop(engine, taking());
    await loop.idle();
    await settled(engine, 'delivered');
    t.match(await attemptRows(engine), [
      { number: 1, error: 'interrupted', total_ms: 30_000 },
      { number: 2, status: 200 },
    ]);
  });

  await t.test('has what workers die with for the third time wait as after a failure', async (t) => {
    for (const before of [1, 2]) {
      const [state, failure_count] = before === 2 ? (['retrying', 1] as const) : (['delivered', 0] as const);
      await acme.apply(jobCreate());
      await engine.run(`UPDATE deliveries SET interruption_count = ${before}`);
      await leaseDeliveries(engine, await deliveryRows(engine), 'dead', new Date());
      await using loop = startLoop(engine, taking());
      await loop.idle();
      await settled(engine, state);
      t.match(await deliveryRows(engine), [{ failure_count, interruption_count: 0 }], `after ${before}`);
      await forgetDeliveries(engine);
    }
  });

  await t.test('counts an answer as delivered from 200 to 299', async (t) => {
    for (const status of [199, 200, 299, 300]) {
      await acme.apply(jobCreate());
      const sender = scriptedSender(() => answer(status));
      await using loop = startLoop(engine, sender);
      await loop.idle();
      await until(async () => (await attemptRows(engine)).length === 1);
      const state = status === 200 || status === 299 ? 'delivered' : 'retrying';
      t.match(await deliveryRows(engine), [{ state }], `an answer of ${status}`);
      await forgetDeliveries(engine);
    }
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

/** No table takes an attempt that has neither a status nor an error. */
function poisonous(result: DeliveryResult): DeliveryResult {
  return { ...result, attempt: result.attempt && { ...result.attempt, status: null, error: null } };
}

const five = { acme: { whk_a: 5 } };

onDeliveries('of results one that the database refuses is set aside', five, async (t, { engine }) => {
  const leased = await leaseDeliveries(engine, await deliveryRows(engine), 'mine', new Date());
  const results = leased.map(deliveredResult);
  const lines: unknown[] = [];
  const log = createLogger('silent');
  log.error = (...given: unknown[]) => lines.push(given);
  const group = new ResultGroup(engine, log, () => undefined);
  // Every slot is free again.
  await Promise.all(
    results.map(async (result, index) => group.add(index === 2 ? poisonous(result) : result)),
  );
  t.notOk(group.isStuck);
  const states = (await deliveryRows(engine)).map(({ state }) => state);
  t.strictSame(states, ['delivered', 'delivered', 'sending', 'delivered', 'delivered']);
  t.equal((await attemptRows(engine)).length, 4);
  t.match(lines, [[{ delivery: leased[2]?.id, err: { code: String } }, 'delivery.result-refused']]);
});
