import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { withQueriesThrough } from '../../../store/_queries.ts';
import { openEngine } from '../../../../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../../../../src/server/store/migrations/migrate.ts';
import { until } from '../../../../_command.ts';
import { createDatabase, startPostgres } from '../../../../_postgres.ts';
import { openTestDatabase } from '../../../../_server.ts';
import { holdLock } from '../../../store/engines/_scripts.ts';
import { onDeliveries, openWithDeliveries } from './_deliveries.ts';
import {
  answer,
  attemptRows,
  noAnswer,
  namedLog,
  scriptedSender,
  settled,
  startLoop,
} from './_delivery-loop.ts';

t.test('a full disk stops the claims, and what was sent is written when there is room', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await openWithDeliveries(engine, { acme: { whk_a: 100, whk_b: 100 } });
  const [page] = await engine.run('PRAGMA page_count');
  let isFull = false;
  const sender = scriptedSender(async () => {
    // While the first of them are under way: their leases are written, their results aren't.
    if (!isFull) await engine.run(`PRAGMA max_page_count = ${Number(page?.page_count)}`);
    isFull = true;
    return answer(200);
  });
  const { log, names } = namedLog();
  await using loop = startLoop(engine, sender, { log });
  await until(() => names.some((name) => /^deliveries.not-(written|claimed)$/.test(name)));
  const sentCount = sender.sent.length;
  t.ok(sentCount < 200, `${sentCount} were sent before it was full`);
  for (let look = 0; look < 3; look += 1) await loop.idle();
  t.equal(sender.sent.length, sentCount, 'nothing is begun whose result could not be kept');
  await engine.run('PRAGMA max_page_count = 1000000');
  await settled(engine, 'delivered');
  t.equal(sender.sent.length, 200, 'each was sent once');
});

t.test('a dead receiver and a dripping one hold up nobody', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  const healthy = Object.fromEntries(
    Array.from({ length: 20 }, (_company, index) => [`healthy-${index}`, { whk_a: 50 }]),
  );
  // Ahead of the others in every order.
  const counts = { 'a-dead': { whk_a: 256 }, 'a-drip': { whk_a: 256 }, ...healthy };
  await openWithDeliveries(engine, counts);
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<undefined>();
  const isSick = ({ body }: { body: string }) => body.includes('"companyId":"a-');
  const sender = scriptedSender(async (request) => {
    if (!isSick(request)) return answer(200);
    await mayEnd;
    return noAnswer('timeout');
  });
  const loop = startLoop(engine, sender);
  await until(() => sender.sent.filter((request) => !isSick(request)).length === 1_000);
  t.equal(sender.sent.filter(isSick).length, 8, 'each has its four, and they wait all the time');
  const stopped = loop[Symbol.asyncDispose]();
  end(undefined);
  await stopped;
});

const six = { acme: { whk_a: 6 } };

onDeliveries('a clock that is set forward interrupts nothing under way', six, async (t, { engine }) => {
  let nowMs = Date.now();
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<undefined>();
  const sender = scriptedSender(async () => (await mayEnd, answer(200)));
  await using loop = startLoop(engine, sender, { now: () => new Date(nowMs) });
  await until(() => sender.sent.length === 4);
  nowMs += 86_400_000;
  for (let look = 0; look < 3; look += 1) await loop.idle();
  end(undefined);
  await settled(engine, 'delivered');
  t.equal(sender.sent.length, 6, 'each was sent once');
  t.ok((await attemptRows(engine)).every(({ status, number }) => status === 200 && number === 1));
});

t.test('a delivery that another worker has locked is looked for less and less often', async (t) => {
  await using database = await openTestDatabase('postgres');
  const { engine } = database;
  await openWithDeliveries(engine, { acme: { whk_a: 1 } });
  const looks: number[] = [];
  const watched = withQueriesThrough(engine, ({ sql: text }, run) => {
    if (text.includes('RECURSIVE scan')) looks.push(performance.now());
    return run();
  });
  const sender = scriptedSender(() => answer(200));
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<undefined>();
  const locked = Promise.withResolvers<undefined>();
  const locking = engine.transaction(async (transaction) => {
    await transaction.selectFrom('deliveries').select('id').forUpdate().execute();
    locked.resolve(undefined);
    await mayEnd;
  });
  await locked.promise;
  await using loop = startLoop(watched, sender);
  t.ok(loop);
  await until(() => looks.length > 8);
  const gaps = looks.slice(1).map((at, index) => at - (looks[index] ?? at));
  // The first is for the deliveries that there were when it began.
  const leastMs = [5, 10, 20, 40, 80, 160, 320];
  t.strictSame(
    leastMs.filter((ms, index) => Number(gaps.at(index + 1 - gaps.length)) < ms - 1),
    [],
    gaps.join(),
  );
  end(undefined);
  await locking;
  await settled(engine, 'delivered');
  t.equal(sender.sent.length, 1);
});

t.test('a database that is locked for longer than a lease costs nothing but time', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine, url } = database;
  await openWithDeliveries(engine, { acme: { whk_a: 12 } });
  const { promise: isLocked, resolve: lock } = Promise.withResolvers<undefined>();
  const sender = scriptedSender(async () => (await isLocked, answer(200)));
  const { log, names } = namedLog();
  let aheadMs = 0;
  const read = performance.now.bind(performance);
  t.intercept(performance, 'now', { value: () => read() + aheadMs });
  await using loop = startLoop(engine, sender, { log, now: () => new Date(Date.now() + aheadMs) });
  await until(() => sender.sent.length === 4);
  await using holder = await holdLock(url);
  lock(undefined);
  // More than a statement waits for a lock, and more than a lease.
  for (; aheadMs < 120_000 && !names.includes('deliveries.not-written'); aheadMs += 1_000) await pause(20);
  aheadMs += 60_000;
  t.strictSame(names.slice(-1), ['deliveries.not-written']);
  for (let look = 0; look < 3; look += 1) await loop.idle();
  t.equal(sender.sent.length, 4, 'while their results are not written, nothing more is begun');
  holder.letGo();
  await settled(engine, 'delivered');
  t.equal(sender.sent.length, 12, 'each was sent once');
});

t.test('a restart of PostgreSQL under the loop loses nothing', async (t) => {
  await using server = await startPostgres();
  await using engine = await openEngine(await createDatabase(server.url));
  await migrate(engine);
  await openWithDeliveries(engine, { acme: { whk_a: 200, whk_b: 200 } });
  const sender = scriptedSender(async () => (await pause(5), answer(200)));
  const { log, names } = namedLog();
  await using loop = startLoop(engine, sender, { leaseMs: 2_000, log });
  t.ok(loop);
  await until(() => sender.sent.length > 100);
  await server.stop();
  const sentCount = sender.sent.length;
  await until(() => names.includes('deliveries.not-written') || names.includes('deliveries.not-claimed'));
  t.ok(sender.sent.length - sentCount <= 8, 'nothing is begun without it');
  await server.start();
  await settled(engine, 'delivered');
  const times = Map.groupBy(sender.sent, ({ headers }) => headers['Service-Delivery']);
  t.equal(times.size, 400);
  const again = sender.sent.length - 400;
  t.ok(again <= 8, `${again} were sent again: at most what was under way`);
});
