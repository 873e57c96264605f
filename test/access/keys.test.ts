import t from 'tap';

import { createCompany, setCompany } from '../../src/access/companies.ts';
import { createAuthentication, createKey, revokeKey } from '../../src/access/keys.ts';
import type { AppError } from '../../src/errors.ts';
import { type Engine, openEngine } from '../../src/store/engine.ts';
import { KEY_PREFIX, openTestDatabase, STORY_NOW } from '../_server.ts';

/** A company's key, and a check of keys that counts its looks at the database. */
async function start(engine: Engine) {
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const { key, record } = await createKey(engine, {
    prefix: KEY_PREFIX,
    company: 'acme',
    name: 'Test',
    scopes: ['jobs:read'],
    now: STORY_NOW,
  });
  let looks = 0;
  let afterLook = async () => {};
  const looking: Engine = {
    ...engine,
    prepare(build) {
      const find = engine.prepare(build);
      return async (values) => {
        looks += 1;
        const rows = await find(values);
        await afterLook();
        return rows;
      };
    },
  };
  const authenticate = createAuthentication(looking, { keyPrefix: KEY_PREFIX, windowSeconds: 60 });
  return {
    id: record.id,
    key,
    /** Who is found, or the error's code, and how often the database was looked at for it. */
    ask: async (given = key) => {
      const before = looks;
      const found = await authenticate(`Bearer ${given}`).then(
        ({ caller }) => caller,
        (error: unknown) => (error as AppError).code,
      );
      return { found, looks: looks - before };
    },
    /** Has something happen between a look at the database and the answer that comes of it. */
    meanwhile: (happens: () => Promise<void>) => {
      afterLook = async () => {
        afterLook = async () => {};
        await happens();
      };
    },
  };
}

t.test('a key is looked up again when anybody has committed anything, and not before (sqlite)', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await using other = await openEngine(database.url);
  const { ask, key } = await start(engine);
  const first = await ask();
  t.equal(first.looks, 1);
  t.strictSame(await ask(), { ...first, looks: 0 });
  t.match(await ask(`${key.slice(0, -2)}xx`), { found: 'invalid_key', looks: 1 }, 'a wrong secret is nobody');
  t.match(await ask(`${key.slice(0, -2)}xx`), { found: 'invalid_key', looks: 1 }, 'and is not remembered');
  for (const [by, handle] of Object.entries({ 'this process': engine, 'another process': other })) {
    for (const apiEnabled of [false, true]) {
      await setCompany(handle, 'acme', { apiEnabled });
      t.match(await ask(), { found: { apiEnabled }, looks: 1 }, `switched by ${by}`);
      t.match(await ask(), { found: { apiEnabled }, looks: 0 });
    }
  }
});

t.test(
  'a key that is revoked while it is looked up is not taken for right afterwards (sqlite)',
  async (t) => {
    await using database = await openTestDatabase('sqlite');
    const { engine } = database;
    const { ask, id, meanwhile } = await start(engine);
    meanwhile(async () => {
      await revokeKey(engine, 'acme', id, STORY_NOW);
      // Another request is the first to hear of it.
      t.match(await ask('unknown'), { found: 'invalid_key' });
    });
    t.match(await ask(), { found: { company: 'acme' } }, 'it was right when it was looked up');
    t.match(await ask(), { found: 'revoked_key', looks: 1 });
  },
);

t.test('a key is looked up each time where the database tells of no commits (postgres)', async (t) => {
  await using database = await openTestDatabase('postgres');
  const { ask } = await start(database.engine);
  t.match(await ask(), { found: { company: 'acme' }, looks: 1 });
  t.match(await ask(), { found: { company: 'acme' }, looks: 1 });
});
