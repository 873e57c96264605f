import t from 'tap';

import { checkedName } from '../../../src/server/access/checked-input.ts';
import { createCompany, setCompany } from '../../../src/server/access/companies.ts';
import {
  ACTIVE_KEYS_MAX,
  checkedKeyName,
  createAuthentication,
  createKey,
  listKeys,
  revokeKey,
} from '../../../src/server/access/keys.ts';
import { type AppError, UsageError } from '../../../src/errors.ts';
import { authorisedTransaction } from '../../../src/server/store/accounts/authorised-transaction.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { withQueriesThrough } from '../store/_queries.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import {
  type ApiKey,
  findKey,
  insertKey,
  listKeyRows,
  revokeKeyRow,
} from '../../../src/server/store/keys/keys.ts';
import { engineNames, KEY_PREFIX, openTestDatabase, STORY_NOW } from '../../_server.ts';

async function createMany(engines: readonly Engine[], company: string, count: number) {
  const attempts = Array.from({ length: count }, async (_value, index) => {
    const engine = engines[index % engines.length];
    if (!engine) throw new Error('There is no engine.');
    const { record } = await createKey(engine, {
      prefix: KEY_PREFIX,
      company,
      name: `Key ${index}`,
      scopes: ['jobs:read'],
      now: STORY_NOW,
    });
    return record;
  });
  const outcomes = await Promise.allSettled(attempts);
  const created = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const refusals = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  );
  return { created, refusals };
}

for (const name of engineNames) {
  t.test(`of 40 keys that are created at once exactly 20 are (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    await using otherHandle = await openEngine(database.url);
    const handles = {
      'one handle': [database.engine],
      'two handles, as two processes have': [database.engine, otherHandle],
    };
    for (const [which, engines] of Object.entries(handles)) {
      const company = `with-${engines.length}`;
      await createCompany(database.engine, company, {}, STORY_NOW);
      await createCompany(database.engine, `${company}-neighbour`, {}, STORY_NOW);
      const [{ created, refusals }, neighbour] = await Promise.all([
        createMany(engines, company, 40),
        createMany(engines, `${company}-neighbour`, 5),
      ]);
      t.equal(created.length, ACTIVE_KEYS_MAX, `${which}: 20 are created`);
      t.equal(new Set(created.map(({ id }) => id)).size, 20, 'each with an id of its own');
      t.equal(refusals.length, 20);
      for (const refusal of refusals) {
        if (!(refusal instanceof UsageError) || !/20 active keys/.test(refusal.message))
          t.equal(refusal, undefined, 'each refusal names the limit');
      }
      t.equal(neighbour.created.length, 5, 'another company is not affected');
      const kept = (await listKeys(database.engine, company)).map(({ id }) => id).sort();
      t.strictSame(kept, created.map(({ id }) => id).sort(), 'what was created is there');
    }
  });

  t.test(`revoking a key frees its place, once (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await createCompany(engine, 'full', {}, STORY_NOW);
    const { created } = await createMany([engine], 'full', 20);
    const [first] = created;
    if (!first) throw new Error('No key was created.');
    t.equal((await createMany([engine], 'full', 1)).created.length, 0, 'the 21st is refused');
    const revoked = await revokeKey(engine, 'full', first.id, STORY_NOW);
    t.equal(revoked.revokedAt, STORY_NOW.toISOString());
    const later = new Date(STORY_NOW.getTime() + 60_000);
    t.strictSame(await revokeKey(engine, 'full', first.id, later), revoked, 'revoking again changes nothing');
    t.equal((await createMany([engine], 'full', 3)).created.length, 1, 'one place is free, not two');
    t.equal((await listKeys(engine, 'full')).length, 21, 'the revoked one stays in the list');
    await t.rejects(revokeKey(engine, 'full', 'nobody', later), UsageError);
    await t.rejects(
      revokeKey(engine, 'nobody', first.id, later),
      UsageError,
      'another company has no such key',
    );
  });
}

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

/** Revokes a key, as an operator does. */
const revoke = (engine: Engine, company: string, id: string, now: string) =>
  authorisedTransaction(
    engine,
    { company, by: 'operator', now: new Date(now) },
    async (authorised) => (await revokeKeyRow(authorised, id)).key,
  );

/** The row of a key, found with a wrong secret, which isn't counted. */
const findRow = async (engine: Engine, key: { company: string; id: string }) =>
  (await findKey(engine, { ...key, secretSha256: '' }, { nowMs: 0, windowSeconds: 60 }))?.key;

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
  });

  t.test(`${name}: keys are listed from the oldest on, for their company alone`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
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

  t.test(`${name}: a key is revoked once, and only by its own company`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await withCompanies(engine);
    await insert(engine, keyOf('acme', 'k1'), '00');
    t.equal(await revoke(engine, 'other', 'k1', LATER), undefined);
    t.strictSame(await revoke(engine, 'acme', 'k1', LATER), {
      ...keyOf('acme', 'k1'),
      revokedAt: LATER,
      endsAt: LATER,
    });
    t.equal((await revoke(engine, 'acme', 'k1', LATEST))?.revokedAt, LATER, 'the first time stays');
    t.equal((await findRow(engine, { company: 'acme', id: 'k1' }))?.revoked_at, LATER);
  });

  t.test(`${name}: a key cannot take the place of another`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await withCompanies(engine);
    await insert(engine, keyOf('acme', 'k1'), 'aa');
    await t.rejects(insert(engine, keyOf('acme', 'k1'), 'bb'));
    t.equal((await findRow(engine, { company: 'acme', id: 'k1' }))?.secret_sha256, 'aa');
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

t.test('a name is taken as it is spelt, with joiners where its language has them', async (t) => {
  for (const name of [
    'مهدی\u200cزاده',
    'ශ්\u200dරී',
    '👩\u200d🔧 Nora',
    "Aoife O'Brien",
    '陳大文',
    '渡邉\u{e0101}',
  ]) {
    t.equal(checkedName(` ${name}`), name.normalize('NFC'));
    t.equal(checkedKeyName(name), name.normalize('NFC'));
  }
});

t.test('a refusal of a name says which character or rule it is about', async (t) => {
  const message = (code: string) =>
    `The name has a character that can't be seen, ${code}, after "Eve"; leave it out.`;
  t.throws(() => checkedName('Eve\u202eadmin'), { message: message('U+202E'), field: 'name' });
  t.throws(() => checkedName('Eve\nadmin'), { message: message('U+000A') });
  t.throws(() => checkedName('Eve\u200badmin'), { message: message('U+200B') });
  for (const [filler, code] of [
    ['\u3164', '3164'],
    ['\u2800', '2800'],
    ['\u115f', '115F'],
    ['\u034f', '034F'],
  ])
    t.throws(() => checkedName(`Eve${filler}`), { message: message(`U+${code}`) });
  const rule = 'The name must have 1 to 100 characters, in one line.';
  for (const name of ['', ' ', '\u200d', '\ufe0f', 'x'.repeat(101)])
    t.throws(() => checkedName(name), { message: rule });
});

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
