import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { doDeed } from '../../src/store/deeds.ts';
import type { Engine } from '../../src/store/engine.ts';
import { type ApiKey, createKeyFinder, insertKey, listKeyRows, revokeKeyRow } from '../../src/store/keys.ts';
import { engineNames, openTestDatabase, STORY_NOW } from '../_server.ts';

const LATER = '2026-11-21T12:00:00.000Z';
const LATEST = '2026-11-22T12:00:00.000Z';

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
  };
}

/** Adds a key, as an operator does, when it says that it was created. */
const insert = (engine: Engine, key: ApiKey, secretSha256: string) =>
  doDeed(engine, { company: key.company, by: 'operator', now: new Date(key.createdAt) }, (deed) =>
    insertKey(deed, key, secretSha256, 20),
  );

/** Revokes a key, as an operator does. */
const revoke = (engine: Engine, company: string, id: string, now: string) =>
  doDeed(engine, { company, by: 'operator', now: new Date(now) }, (deed) => revokeKeyRow(deed, id));

/** The row of a key, found with a wrong secret, which isn't counted. */
const findKey = async (engine: Engine, key: { company: string; id: string }) =>
  (await createKeyFinder(engine, 60)({ ...key, secretSha256: '' }, 0))?.key;

/** Adds two companies to a database. */
async function withCompanies(engine: Engine): Promise<void> {
  await createCompany(engine, 'acme', { modules: ['jobs'], timeZone: 'Europe/London' }, STORY_NOW);
  await createCompany(engine, 'other', { apiEnabled: false }, STORY_NOW);
}

for (const name of engineNames) {
  t.test(`${name}: a key is found with its company's switches, by company and id together`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await withCompanies(engine);
    t.strictSame(await insert(engine, keyOf('acme', 'k1'), 'aa'.repeat(32)), keyOf('acme', 'k1'));
    t.strictSame(
      await insert(engine, keyOf('other', 'k1'), 'bb'.repeat(32)),
      keyOf('other', 'k1'),
      'ids belong to a company',
    );
    const find = (key: { company: string; id: string }) => findKey(engine, key);
    t.strictSame(await find({ company: 'acme', id: 'k1' }), {
      secret_sha256: 'aa'.repeat(32),
      scopes: '["jobs:read","people:read"]',
      revoked_at: null,
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
  });

  t.test(`${name}: keys are listed from the oldest on, for their company alone`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await withCompanies(engine);
    const keys = [keyOf('acme', 'c', 2), keyOf('acme', 'b', 1), keyOf('acme', 'a', 2), keyOf('other', 'd')];
    for (const key of keys) await insert(engine, key, '00');
    const [c, b, a, d] = keys;
    t.strictSame(await listKeyRows(engine, 'acme'), [b, a, c]);
    t.strictSame(await listKeyRows(engine, 'other'), [d]);
    t.strictSame(await listKeyRows(engine, 'nobody'), []);
  });

  t.test(`${name}: a key is revoked once, and only by its own company`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await withCompanies(engine);
    await insert(engine, keyOf('acme', 'k1'), '00');
    t.equal(await revoke(engine, 'other', 'k1', LATER), undefined);
    t.strictSame(await revoke(engine, 'acme', 'k1', LATER), {
      ...keyOf('acme', 'k1'),
      revokedAt: LATER,
    });
    t.equal((await revoke(engine, 'acme', 'k1', LATEST))?.revokedAt, LATER, 'the first time stays');
    t.equal((await findKey(engine, { company: 'acme', id: 'k1' }))?.revoked_at, LATER);
  });

  t.test(`${name}: a key cannot take the place of another`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await withCompanies(engine);
    await insert(engine, keyOf('acme', 'k1'), 'aa');
    await t.rejects(insert(engine, keyOf('acme', 'k1'), 'bb'));
    t.equal((await findKey(engine, { company: 'acme', id: 'k1' }))?.secret_sha256, 'aa');
  });
}

t.test(
  'on PostgreSQL whoever has the right secret is counted as they are looked up, and nobody else',
  async (t) => {
    await using database = await openTestDatabase('postgres');
    const { engine } = database;
    await withCompanies(engine);
    const right = 'aa'.repeat(32);
    await insert(engine, keyOf('acme', 'k1'), right);
    await insert(engine, keyOf('acme', 'k2'), right);
    const find = createKeyFinder(engine, 60);
    const ask = async (nowMs: number, { id = 'k1', secretSha256 = right } = {}) =>
      await find({ company: 'acme', id, secretSha256 }, nowMs);
    const row = await findKey(engine, { company: 'acme', id: 'k1' });
    t.strictSame(await ask(1_000), { key: row, counted: { points: 1, msBeforeNext: 60_000 } });
    t.strictSame((await ask(31_000))?.counted, { points: 2, msBeforeNext: 30_000 });
    t.strictSame((await ask(31_000, { id: 'k2' }))?.counted, { points: 1, msBeforeNext: 60_000 });
    t.strictSame(await ask(31_000, { secretSha256: 'bb'.repeat(32) }), { key: row, counted: undefined });
    t.equal(await ask(31_000, { id: 'k3' }), undefined);
    t.strictSame((await ask(60_999))?.counted, { points: 3, msBeforeNext: 1 }, 'neither of them counted');
    t.strictSame((await ask(61_000))?.counted, { points: 1, msBeforeNext: 60_000 }, 'the next window');
    await revoke(engine, 'acme', 'k1', LATER);
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
