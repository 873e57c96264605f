import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { ACTIVE_KEYS_MAX, createKey, listKeys, revokeKey } from '../../src/access/keys.ts';
import { UsageError } from '../../src/errors.ts';
import { type Engine, openEngine } from '../../src/store/engine.ts';
import { openWorkplace } from '../_command.ts';
import { engineNames, KEY_PREFIX, openTestDatabase, STORY_NOW } from '../_server.ts';

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

  t.test(`processes that create keys at once get exactly 20 (${name})`, async (t) => {
    await using workplace = await openWorkplace(name);
    await workplace.call(['company', 'create', 'busy', '--api', '--invoicing']);
    const command = ['key', 'create', 'busy', '--scopes', 'jobs:read', '--json'];
    for (let made = 0; made < 18; made += 1) await workplace.call(command);
    const outcomes = await Promise.all(Array.from({ length: 4 }, async () => workplace.run(command)));
    t.strictSame(
      outcomes.map(({ exitCode }) => exitCode).sort(),
      [0, 0, 1, 1],
      outcomes.map(({ stderr }) => stderr).join('\n'),
    );
  });
}
