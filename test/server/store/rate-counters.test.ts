import t from 'tap';

import { createSignInLimits } from '../../../src/server/access/sign-in-limits.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { createOwnCounter, createRateCounter } from '../../../src/server/store/rate-counters.ts';
import { until } from '../../_command.ts';
import { openTestDatabase } from '../../_server.ts';
import { onEachStore } from './_stores.ts';

const KEYS_MAX = 100;

t.test('a counter in memory knows so many keys, and forgets the one that ends first', async (t) => {
  const count = createOwnCounter({ name: 'guess', points: 3, seconds: 60 }, KEYS_MAX);
  const { takeBack } = await count('network 0');
  for (let index = 0; index < 1_000; index += 1) {
    await count('hammered');
    await count(`network ${index}`);
  }
  t.equal((await count('hammered')).points, Infinity, 'the one that goes on is still refused');
  t.equal((await count('network 999')).points, 2, 'the newest are kept');
  t.equal((await count(`network ${1_000 - KEYS_MAX}`)).points, 1, 'the others are forgotten');
  t.equal((await count('network 0')).points, 1);
  await takeBack?.();
  t.equal((await count('network 0')).points, 2, 'what was forgotten is not taken back');
});

t.test('a counter in memory forgets no key that is used up, and refuses new ones rather', async (t) => {
  const count = createOwnCounter({ name: 'guess', points: 2, seconds: 60 }, 3);
  const countOf = async (key: string) => (await count(key)).points;
  await countOf('a');
  const { takeBack } = await count('a');
  for (const key of ['b', 'b', 'c', 'd', 'e']) await countOf(key);
  t.strictSame([await countOf('a'), await countOf('b')], [Infinity, Infinity]);
  t.equal(await countOf('e'), 2, 'the last place goes round');
  t.equal(await countOf('f'), Infinity, 'until it is used up too');
  await takeBack?.();
  t.equal(await countOf('b'), Infinity);
  t.equal(await countOf('f'), 1, 'and the one that has room again makes room');
});

t.test('a counter in PostgreSQL keeps a bounded number of rows, and leaves those of others', async (t) => {
  await using database = await openTestDatabase('postgres');
  const { engine } = database;
  const allowed = { points: 2, seconds: 60 };
  const countOther = createRateCounter(engine, { ...allowed, name: 'guess-other' }, KEYS_MAX);
  await countOther('somebody');
  const count = createRateCounter(engine, { ...allowed, name: 'guess' }, KEYS_MAX);
  await engine.run("INSERT INTO rate_counts (key, points, expire) VALUES ('key:acme.ended', 7, 1)");
  for (const key of ['full', 'full']) await count(key);
  for (let sent = 0; sent < 3_000; sent += 50)
    await Promise.all(Array.from({ length: 50 }, (_value, index) => count(`key ${sent + index}`)));
  const rows = await engine.run('SELECT key FROM rate_counts ORDER BY expire DESC, key');
  const has = (key: string) => rows.some((row) => row.key === key);
  t.ok(rows.length <= KEYS_MAX + 1_000 + 1, `${rows.length} rows`);
  t.ok(has('guess-other:somebody'));
  t.ok(has('guess:key 2999'), 'the newest are kept');
  t.ok(has('guess:full'), 'what is used up is kept');
  t.notOk(has('key:acme.ended'), 'what has ended is removed');
});

onEachStore('a guess that is taken back too late allows no guess more', async (t, { engine }) => {
  const count = createRateCounter(engine, { name: 'guess', points: 2, seconds: 60 });
  const early = [await count('jane'), await count('jane')];
  const now = Date.now() + 60_001;
  t.intercept(Date, 'now', { value: () => now });
  await early[0]?.takeBack?.();
  t.equal((await count('jane')).points, 1);
  await early[1]?.takeBack?.();
  t.equal((await count('jane')).points, 2);
  t.equal((await count('jane')).points, Infinity);
});

onEachStore("right sign-ins at once for one address don't keep it out", async (t, { engine, url, name }) => {
  await using otherHandle = await openEngine(url);
  const attempt = { email: 'jane@example.com', address: '198.51.100.7' };
  const limits = createSignInLimits(engine);
  const others = name === 'postgres' ? createSignInLimits(otherHandle) : limits;
  const tried = await Promise.allSettled(
    Array.from({ length: 8 }, (_value, index) => (index % 2 === 0 ? limits : others).count(attempt)),
  );
  const right = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  t.equal(right.length, 5);
  for (const { forgive } of right) await forgive();
  // A process may repeat what another has told it for a second.
  const isLetIn = (by: typeof limits) =>
    by.count(attempt).then(
      async ({ forgive }) => forgive().then(() => true),
      () => false,
    );
  for (const by of [limits, others]) await until(() => isLetIn(by));
  for (let guess = 0; guess < 5; guess += 1) await limits.count(attempt);
  await t.rejects(limits.count(attempt), { code: 'rate_limited' }, 'and wrong ones are counted as before');
});
