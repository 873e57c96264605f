import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { createKey } from '../../../../src/server/features/keys/keys.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { listKeyHours, openKeyUsage } from '../../../../src/server/features/usage/key-usage.ts';
import { listActiveKeys } from '../../../../src/server/features/keys/stored-keys.ts';
import { KEY_PREFIX, openTestDatabase, STORY_NOW } from '../../../_server.ts';
import { onEachStore } from '../../store/_stores.ts';

const HOUR_MS = 3_600_000;
const ALL = { from: '', limit: 100_000 };
const refuse = (error: unknown) => {
  throw error;
};

/** A moment so many hours after the story's, which is the beginning of one. */
const hourAfter = (hours: number, ms = 0) => new Date(STORY_NOW.getTime() + hours * HOUR_MS + ms);

/** Opens the counts of a process whose clock the test sets. */
function openProcess(engine: Engine, onError: (error: unknown, lost: number) => void = refuse) {
  let at = STORY_NOW;
  const usage = openKeyUsage(engine, { now: () => at, onError });
  const useAt = (moment: Date, keyId: string, isLimited = false) => {
    at = moment;
    usage.count('acme', keyId, isLimited);
  };
  return { usage, useAt };
}

/** Gives a company these keys: uses of others are not written. */
async function addKeys(engine: Engine, ids: readonly string[]): Promise<void> {
  const made = { company: 'acme', name: 'Counted', secret_sha256: '', scopes: '[]' };
  const rows = ids.map((id) => ({ ...made, id, created_at: STORY_NOW.toISOString() }));
  await engine.transaction(async (transaction) => {
    for (let first = 0; first < rows.length; first += 500)
      await transaction
        .insertInto('api_keys')
        .values(rows.slice(first, first + 500))
        .execute();
  });
}

const keyIds = (count: number) => Array.from({ length: count }, (_value, index) => `key${index}`);

onEachStore('what several processes count adds up by key and hour', async (t, { engine, url }) => {
  await using otherHandle = await openEngine(url);
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const made = { company: 'acme', name: 'Counted', scopes: ['jobs:read'] as const };
  const { record } = await createKey(engine, { prefix: KEY_PREFIX, ...made, now: STORY_NOW });
  await addKeys(engine, ['another']);
  const one = openProcess(engine);
  one.useAt(hourAfter(0), 'erased');
  const other = openProcess(otherHandle);
  one.useAt(hourAfter(0), record.id);
  one.useAt(hourAfter(0, 1), 'another');
  one.useAt(hourAfter(0, HOUR_MS - 1), record.id);
  one.useAt(hourAfter(1, 5), record.id);
  other.useAt(hourAfter(1, 2), record.id);
  other.useAt(hourAfter(1, 3), record.id, true);
  await Promise.all([one.usage.flush(), other.usage.flush()]);
  other.useAt(hourAfter(1, 4), record.id, true);
  await Promise.all([one.usage[Symbol.asyncDispose](), other.usage[Symbol.asyncDispose]()]);
  const [first, second] = [hourAfter(0).toISOString(), hourAfter(1).toISOString()];
  const texts = (await listKeyHours(engine, 'acme', ALL)).map((row) => Object.values(row).join(' '));
  const wanted = [`another ${first} 1 0`, `${record.id} ${first} 2 0`, `${record.id} ${second} 2 2`];
  t.strictSame(texts.sort(), wanted.sort());
  t.strictSame(await listKeyHours(engine, 'acme', { from: second, limit: 10 }), [
    { keyId: record.id, hour: second, answered: 2, limited: 2 },
  ]);
  t.strictSame(await listKeyHours(engine, 'other', ALL), []);
  const key = (await listActiveKeys(engine, 'acme', STORY_NOW)).find(({ id }) => id === record.id);
  t.equal(key?.usedAt, hourAfter(1, 5).toISOString(), 'the latest use, whoever wrote it down last');
});

onEachStore("processes that write many keys at once don't wait for ever", async (t, { engine, url }) => {
  await using otherHandle = await openEngine(url);
  await createCompany(engine, 'acme', {}, STORY_NOW);
  await addKeys(engine, keyIds(1_000));
  const processes = [engine, otherHandle].map((engine) => openProcess(engine));
  for (let round = 0; round < 3; round += 1) {
    for (const [index, { useAt }] of processes.entries())
      for (let key = 0; key < 1_000; key += 1)
        useAt(STORY_NOW, `key${index === 0 ? key : 999 - key}`, key % 2 === 0);
    await Promise.all(processes.map(({ usage }) => usage.flush()));
  }
  const rows = await listKeyHours(engine, 'acme', ALL);
  t.equal(rows.length, 1_000);
  t.ok(rows.every(({ answered, limited }) => answered + limited === 6));
});

onEachStore('hours of more than 31 days ago are removed, and no others', async (t, { engine }) => {
  await createCompany(engine, 'acme', {}, STORY_NOW);
  await addKeys(engine, [...keyIds(600), 'kept', 'new']);
  const { usage, useAt } = openProcess(engine);
  for (let key = 0; key < 600; key += 1) useAt(hourAfter(0), `key${key}`);
  useAt(hourAfter(1), 'kept');
  await usage.flush();
  t.equal((await listKeyHours(engine, 'acme', ALL)).length, 601);
  useAt(hourAfter(31 * 24 + 1), 'new');
  await usage.flush();
  const left = await listKeyHours(engine, 'acme', ALL);
  t.strictSame(
    left.map(({ keyId }) => keyId),
    ['kept', 'new'],
  );
});

t.test('uses that can’t be written are kept for the next time, up to a bound that is told', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await createCompany(engine, 'acme', {}, STORY_NOW);
  await addKeys(engine, keyIds(10_003));
  const told: { message: string; lost: number }[] = [];
  const { usage, useAt } = openProcess(engine, (error, lost) => {
    told.push({ message: (error as Error).message, lost });
  });
  await engine.run('ALTER TABLE key_uses RENAME TO elsewhere');
  for (let key = 0; key < 10_003; key += 1) useAt(STORY_NOW, `key${key}`);
  useAt(STORY_NOW, 'key0', true);
  await usage.flush();
  t.strictSame(told, [{ message: 'no such table: key_uses', lost: 3 }]);
  t.strictSame(await listKeyHours(engine, 'acme', ALL), [], 'nothing is written by half');
  await engine.run('ALTER TABLE elsewhere RENAME TO key_uses');
  useAt(STORY_NOW, 'key1');
  await usage[Symbol.asyncDispose]();
  const rows = await listKeyHours(engine, 'acme', ALL);
  t.equal(rows.length, 10_000);
  const of = (id: string) => rows.find(({ keyId }) => keyId === id);
  t.match(
    [of('key0'), of('key1')],
    [
      { answered: 1, limited: 1 },
      { answered: 2, limited: 0 },
    ],
  );
  t.equal(told.length, 1);
});
