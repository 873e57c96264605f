import t from 'tap';

import { createCompany, setCompany } from '../../../../src/server/backoffice/companies.ts';
import { createAuthentication, createKey, revokeKey } from '../../../../src/server/features/keys/keys.ts';
import type { AppError } from '../../../../src/errors.ts';
import { authorisedTransaction } from '../../../../src/server/store/accounts/authorised-transaction.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import {
  type ApiKey,
  findKey,
  insertKey,
  listKeyRows,
} from '../../../../src/server/features/keys/stored-keys.ts';
import { KEY_PREFIX, openTestDatabase, STORY_NOW } from '../../../_server.ts';
import { withQueriesThrough } from '../../store/_queries.ts';
import { onEachStore } from '../../store/_stores.ts';

/** A key of a company, created so many seconds after the story's moment. */
function keyOf(company: string, id: string, seconds = 0): ApiKey {
  const createdAt = new Date(STORY_NOW.getTime() + seconds * 1_000).toISOString();
  return {
    id,
    company,
    name: `Key ${id}`,
    scopes: ['jobs:read', 'people:read'],
    createdAt,
    madeBy: null,
    revokedAt: null,
    endsAt: null,
  };
}

/** Adds a key, as an operator does, when it says that it was created. */
const insert = (engine: Engine, key: ApiKey, secretSha256: string) =>
  authorisedTransaction(
    engine,
    { company: key.company, by: 'operator', now: new Date(key.createdAt) },
    (authorised) => insertKey(authorised, key, secretSha256, 20),
  );

/** The row of a key, found with a wrong secret, which isn't counted. */
const findRow = async (engine: Engine, key: { company: string; id: string }) =>
  (await findKey(engine, { ...key, secretSha256: '' }, { nowMs: 0, windowSeconds: 60 }))?.key;

/** Adds two companies to a database. */
async function withCompanies(engine: Engine): Promise<void> {
  await createCompany(engine, 'acme', { modules: ['jobs'], timeZone: 'Europe/London' }, STORY_NOW);
  await createCompany(engine, 'other', { apiEnabled: false }, STORY_NOW);
}

onEachStore(
  "a key is found with its company's switches, by company and id together",
  async (t, { engine }) => {
    await withCompanies(engine);
    t.strictSame(await insert(engine, keyOf('acme', 'k1'), 'aa'.repeat(32)), keyOf('acme', 'k1'));
    t.strictSame(
      await insert(engine, keyOf('other', 'k1'), 'bb'.repeat(32)),
      keyOf('other', 'k1'),
      'ids belong to a company',
    );
    const find = (key: { company: string; id: string }) => findRow(engine, key);
    t.strictSame(await find({ company: 'acme', id: 'k1' }), {
      secret_sha256: 'aa'.repeat(32),
      scopes: '["jobs:read","people:read"]',
      revoked_at: null,
      ends_at: null,
      api_enabled: 1,
      subscription_active: 1,
      invoicing_enabled: 1,
      modules: '["jobs"]',
      time_zone: 'Europe/London',
    });
    t.match(await find({ company: 'other', id: 'k1' }), { secret_sha256: 'bb'.repeat(32), api_enabled: 0 });
    for (const unknown of [
      { company: 'acme', id: 'k2' },
      { company: 'nobody', id: 'k1' },
      { company: 'ACME', id: 'k1' },
      { company: "acme' OR '1'='1", id: "k1' --" },
    ]) {
      t.equal(await find(unknown), undefined, JSON.stringify(unknown));
    }
    await t.rejects(
      insert(engine, keyOf('acme', 'k1'), 'cc'.repeat(32)),
      'a key cannot take the place of another',
    );
    t.match(await find({ company: 'acme', id: 'k1' }), { secret_sha256: 'aa'.repeat(32) });
  },
);

onEachStore('keys are listed from the oldest on, for their company alone', async (t, { engine }) => {
  await withCompanies(engine);
  const keys = [keyOf('acme', 'c', 2), keyOf('acme', 'b', 1), keyOf('acme', 'a', 2), keyOf('other', 'd')];
  for (const key of keys) await insert(engine, key, '00');
  const [c, b, a, d] = keys;
  const usedAt = '2026-11-20T12:00:00.000Z';
  await engine.run(`INSERT INTO key_uses VALUES ('acme', 'a', '${usedAt}')`);
  t.strictSame(await listKeyRows(engine, 'acme'), [
    { ...b, usedAt: null },
    { ...a, usedAt },
    { ...c, usedAt: null },
  ]);
  t.strictSame(await listKeyRows(engine, 'other'), [{ ...d, usedAt: null }]);
  t.strictSame(await listKeyRows(engine, 'nobody'), []);
});

t.test(
  'on PostgreSQL whoever has the right secret is counted as they are looked up, and nobody else',
  async (t) => {
    await using database = await openTestDatabase('postgres');
    const { engine } = database;
    await withCompanies(engine);
    const right = 'aa'.repeat(32);
    await insert(engine, keyOf('acme', 'k1'), right);
    await insert(engine, keyOf('acme', 'k2'), right);
    const ask = async (nowMs: number, { id = 'k1', secretSha256 = right } = {}) =>
      await findKey(engine, { company: 'acme', id, secretSha256 }, { nowMs, windowSeconds: 60 });
    const row = await findRow(engine, { company: 'acme', id: 'k1' });
    t.strictSame(await ask(1_000), { key: row, counted: { points: 1, msBeforeNext: 60_000 } });
    t.strictSame((await ask(31_000))?.counted, { points: 2, msBeforeNext: 30_000 });
    t.strictSame((await ask(31_000, { id: 'k2' }))?.counted, { points: 1, msBeforeNext: 60_000 });
    t.strictSame(await ask(31_000, { secretSha256: 'bb'.repeat(32) }), { key: row, counted: undefined });
    t.equal(await ask(31_000, { id: 'k3' }), undefined);
    t.strictSame((await ask(60_999))?.counted, { points: 3, msBeforeNext: 1 }, 'neither of them counted');
    t.strictSame((await ask(61_000))?.counted, { points: 1, msBeforeNext: 60_000 }, 'the next window');
    await revokeKey(engine, 'acme', 'k1', STORY_NOW);
    t.strictSame((await ask(62_000))?.counted, undefined);
    const together = await Promise.all(Array.from({ length: 50 }, () => ask(63_000, { id: 'k2' })));
    const points = together.map((found) => found?.counted?.points ?? 0).sort((a, b) => a - b);
    t.strictSame(
      points,
      Array.from({ length: 50 }, (_value, index) => index + 2),
      'each has a count of its own',
    );
  },
);

/** A company's key, and a check of keys that counts its looks at the database. */
async function start(engine: Engine) {
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const made = { prefix: KEY_PREFIX, company: 'acme', name: 'Test', scopes: ['jobs:read'], now: STORY_NOW };
  const { key, record } = await createKey(engine, made);
  let looks = 0;
  let afterLook = async () => {};
  const looking = withQueriesThrough(engine, async (_query, run) => {
    looks += 1;
    const result = await run();
    await afterLook();
    return result;
  });
  const authenticate = createAuthentication(looking, { keyPrefix: KEY_PREFIX, windowSeconds: 60 });
  return {
    id: record.id,
    key,
    /** The caller that is found, or the error's code, and how often the database was looked at for it. */
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
  t.match(await ask(), { found: { company: 'acme' } }, 'the first request also begins its count');
  t.match(await ask(), { found: { company: 'acme' }, looks: 1 });
  t.match(await ask(), { found: { company: 'acme' }, looks: 1 });
});
