import t from 'tap';

import { createCompany, setCompany } from '../../../../src/server/backoffice/companies.ts';
import {
  ACTIVE_KEYS_MAX,
  changeKey,
  keyExpiryDay,
  listKeys,
  revokeKey,
} from '../../../../src/server/features/keys/keys.ts';
import { UsageError } from '../../../../src/errors.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { hasEnded } from '../../../../src/server/features/keys/stored-keys.ts';
import { openTestDatabase, STORY_NOW } from '../../../_server.ts';
import { makeKey } from '../../portal/_portal.ts';
import { attemptAtOnce, onEachStore } from '../../store/_stores.ts';

const createMany = (engines: readonly Engine[], company: string, count: number) =>
  attemptAtOnce(engines, count, (engine) => makeKey(engine, 'Key', { company }));

onEachStore('of 40 keys that are created at once exactly 20 are', async (t, { engine, url }) => {
  await using otherHandle = await openEngine(url);
  const handles = {
    'one handle': [engine],
    'two handles, as two processes have': [engine, otherHandle],
  };
  for (const [which, engines] of Object.entries(handles)) {
    const company = `with-${engines.length}`;
    await createCompany(engine, company, {}, STORY_NOW);
    await createCompany(engine, `${company}-neighbour`, {}, STORY_NOW);
    const [{ created, refusals }, neighbour] = await Promise.all([
      createMany(engines, company, 40),
      createMany(engines, `${company}-neighbour`, 5),
    ]);
    t.equal(created.length, ACTIVE_KEYS_MAX, `${which}: 20 are created`);
    t.equal(new Set(created.map(({ id }) => id)).size, 20, 'each with an id of its own');
    t.equal(refusals.length, 20);
    for (const refusal of refusals) t.match(refusal, { name: 'UsageError', message: /20 active keys/ });
    t.equal(neighbour.created.length, 5, 'another company is not affected');
    const kept = (await listKeys(engine, company)).map(({ id }) => id).sort();
    t.strictSame(kept, created.map(({ id }) => id).sort(), 'what was created is there');
  }
});

onEachStore('revoking a key frees its place, once', async (t, { engine }) => {
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
  await engine.run(`UPDATE api_keys SET ends_at = '${STORY_NOW.toISOString()}'`);
  t.equal((await createMany([engine], 'full', 21)).created.length, 20, 'keys that have ended leave room');
  await t.rejects(revokeKey(engine, 'full', 'nobody', later), UsageError);
  await t.rejects(
    revokeKey(engine, 'nobody', first.id, later),
    UsageError,
    'another company has no such key',
  );
});

onEachStore('a key is revoked for good, whoever changes it at the same time', async (t, { engine }) => {
  await createCompany(engine, 'full', {}, STORY_NOW);
  const { created } = await createMany([engine], 'full', 5);
  for (const { id } of created) {
    const change = { company: 'full', id, name: 'Changed', lastDay: '2099-12-31', now: STORY_NOW };
    await Promise.allSettled([
      changeKey(engine, { ...change, by: 'operator' }),
      revokeKey(engine, 'full', id, STORY_NOW),
      changeKey(engine, { ...change, by: 'operator' }),
    ]);
  }
  const ends = (await listKeys(engine, 'full')).map(({ endsAt }) => endsAt);
  t.strictSame(new Set(ends), new Set([STORY_NOW.toISOString()]));
});

/**
 * The last day of a key is its company's day: its end as UTC has it, and moments before and after it, in zones on both
 * sides of UTC, in winter and in summer, and where the clocks change on that day.
 */
const lastDays: [timeZone: string, lastDay: string, endsAt: string][] = [
  ['UTC', '2026-11-20', '2026-11-21T00:00'],
  ['Europe/Dublin', '2026-12-31', '2027-01-01T00:00'],
  ['Europe/Dublin', '2027-07-14', '2027-07-14T23:00'],
  ['Europe/Dublin', '2027-03-28', '2027-03-28T23:00'],
  ['Europe/Dublin', '2027-10-31', '2027-11-01T00:00'],
  ['Pacific/Auckland', '2026-12-31', '2026-12-31T11:00'],
  ['Pacific/Auckland', '2027-07-14', '2027-07-14T12:00'],
  ['America/Los_Angeles', '2026-12-31', '2027-01-01T08:00'],
  ['America/Los_Angeles', '2027-07-14', '2027-07-15T07:00'],
  ['America/Los_Angeles', '2028-02-29', '2028-03-01T08:00'],
  ['Asia/Kathmandu', '2027-01-15', '2027-01-15T18:15'],
];

t.test('a key is good to the end of its last day, as the clocks of its company have it', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const { id } = await makeKey(engine, 'Ledger', { company: 'acme' });
  for (const [timeZone, lastDay, minute] of lastDays) {
    await setCompany(engine, 'acme', { timeZone });
    const endsAt = `${minute}:00.000Z`;
    const change = (ms: number) =>
      changeKey(engine, {
        company: 'acme',
        id,
        name: 'Ledger',
        lastDay,
        by: 'operator',
        now: new Date(Date.parse(endsAt) + ms),
      });
    const what = `${lastDay} in ${timeZone}`;
    await t.rejects(change(0), { field: 'last-day', message: /is over; choose today or a later day/ }, what);
    const key = await change(-1);
    t.equal(key.endsAt, endsAt, what);
    t.equal(keyExpiryDay(key, timeZone), lastDay, what);
    t.notOk(hasEnded(key, new Date(Date.parse(endsAt) - 1)), what);
    t.ok(hasEnded(key, new Date(endsAt)), what);
    await engine.run('UPDATE api_keys SET ends_at = NULL');
  }
  const given = { company: 'acme', id, name: 'Ledger', by: 'operator', now: STORY_NOW } as const;
  for (const lastDay of ['2026-02-30', '9999-12-31', '2201-01-01', 'soon', '2026-11-20T12:00'])
    await t.rejects(
      changeKey(engine, { ...given, lastDay }),
      /must be a calendar day such as 2026-11-20, until/,
    );
  t.equal((await changeKey(engine, { ...given, lastDay: '' })).endsAt, null, 'a key without one goes on');
});
