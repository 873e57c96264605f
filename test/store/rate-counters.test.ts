import t from 'tap';

import { countOne, createOwnCounter, createRateCounter, uncountOne } from '../../src/store/rate-counters.ts';
import { openTestDatabase } from '../_server.ts';

const KEYS_MAX = 100;

t.test(
  'a counter in memory knows a bounded number of keys, and forgets the one unseen for longest',
  async (t) => {
    const counter = createOwnCounter({ name: 'guess', points: 2, seconds: 60 }, KEYS_MAX);
    for (let index = 0; index < 1_000; index += 1) {
      await countOne(counter, 'hammered');
      await countOne(counter, `network ${index}`);
    }
    t.equal(counter.dump().storage.length, KEYS_MAX);
    t.type(await countOne(counter, 'hammered'), 'number', 'the one that goes on is still refused');
    await uncountOne(counter, 'network 1');
    t.equal(counter.dump().storage.length, KEYS_MAX, 'what was forgotten is not taken back');
  },
);

t.test('a counter in PostgreSQL keeps a bounded number of rows, and leaves those of others', async (t) => {
  await using database = await openTestDatabase('postgres');
  const { engine } = database;
  const allowed = { points: 2, seconds: 60 };
  const other = createRateCounter(engine, { ...allowed, name: 'guess-other' }, KEYS_MAX);
  await countOne(other, 'somebody');
  const counter = createRateCounter(engine, { ...allowed, name: 'guess' }, KEYS_MAX);
  for (let sent = 0; sent < 3_000; sent += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_value, index) => countOne(counter, `key ${sent + index}`)),
    );
  const rows = await engine.run('SELECT key FROM rate_counts ORDER BY expire DESC, key');
  t.ok(rows.length <= KEYS_MAX + 1_000 + 1, `${rows.length} rows`);
  t.ok(rows.some(({ key }) => key === 'guess-other:somebody'));
  t.ok(
    rows.some(({ key }) => key === 'guess:key 2999'),
    'the newest are kept',
  );
});
