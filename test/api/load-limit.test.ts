import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { createLoadLimit } from '../../src/api/load-limit.ts';
import { engineNames, keyFor, startEmptyServer, STORY_NOW } from '../_server.ts';
import { idOf, jobOf, store } from './_records.ts';

/** How many of so many requests in a row may begin. */
function begun(begin: () => boolean, count: number): number {
  return Array.from({ length: count }, begin).filter(Boolean).length;
}

/** Keeps the event loop busy. */
function work(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

t.test('a crowd that stays is let in no faster than it is answered', async (t) => {
  const { begin, end } = createLoadLimit({ turnMsMax: 3, crowdMsMax: 20, turnRequestsMin: 4 });
  const each = () => {
    const isBegun = begin();
    if (isBegun) end();
    work(1);
    return isBegun;
  };
  const admitted: number[] = [];
  for (let turns = 0; turns < 8; turns += 1) {
    admitted.push(begun(each, 12));
    await turn();
    await turn();
  }
  t.equal(admitted[0], 12, 'at first everybody is served');
  for (const count of admitted.slice(4)) t.ok(count >= 4 && count < 12, `then ${count} of 12 in a turn`);
  let again = 0;
  // A busy machine may halt the process in the middle of a turn, which makes any turn a long one.
  for (let round = 0; round < 50 && again < 12; round += 1) {
    await turn();
    await turn();
    begun(each, 1);
    await turn();
    await turn();
    again = begun(each, 12);
  }
  t.equal(again, 12, 'a turn that was short ends it');
});

t.test('a turn that is quick takes any number', (t) => {
  const { begin, end } = createLoadLimit({ turnMsMax: 60_000 });
  t.equal(
    begun(() => {
      const isBegun = begin();
      end();
      return isBegun;
    }, 5_000),
    5_000,
  );
  t.end();
});

t.test('while a crowd is under way, nobody else is let in', async (t) => {
  const { begin, end } = createLoadLimit({ underWayMax: 4, crowdMsMax: 20 });
  t.equal(begun(begin, 6), 6, 'at first everybody is served');
  await pause(30);
  t.equal(begun(begin, 3), 0);
  for (let ended = 0; ended < 2; ended += 1) end();
  t.equal(begun(begin, 3), 0, 'as many are under way as may be');
  end();
  t.equal(begun(begin, 3), 1, 'one for each that is answered');
  for (let ended = 0; ended < 2; ended += 1) end();
  t.equal(begun(begin, 6), 6, 'half are left, and the crowd is gone');
});

t.test('however quickly they come, no more than twice as many are under way', (t) => {
  const { begin } = createLoadLimit({ underWayMax: 3, crowdMsMax: 60_000 });
  t.equal(begun(begin, 10), 6);
  t.end();
});

t.test('a refusal says when to ask again, and takes a while', async (t) => {
  const { refuse } = createLoadLimit({ heldBackMs: 60 });
  const startedAt = performance.now();
  await t.rejects(refuse(), { code: 'unavailable', retryAfterSeconds: 1 });
  t.ok(performance.now() - startedAt >= 29);
});

for (const name of engineNames) {
  t.test(`${name}: a thousand requests at once are answered or refused, each as it should be`, async (t) => {
    const { server, engine } = await startEmptyServer(t, name, { rateLimitPerMinute: 100_000 });
    await createCompany(engine, 'busy', {}, STORY_NOW);
    const jobs = Array.from({ length: 100 }, (_value, index) => jobOf({ id: idOf('job', index) }));
    await store(engine, 'busy', jobs);
    const headers = { authorization: `Bearer ${await keyFor(engine, 'busy')}` };
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, () => server.http('api/v1/jobs?limit=100', { headers })),
    );
    const counts = { answered: 0, refused: 0 };
    for (const { statusCode, headers: got, body } of answers) {
      if (statusCode === 200 && body === answers[0]?.body) counts.answered += 1;
      else if (statusCode === 503 && got['retry-after'] === '1' && /"code":"unavailable"/.test(body))
        counts.refused += 1;
    }
    t.comment(counts);
    t.equal(counts.answered + counts.refused, 1_000);
    t.ok(counts.answered >= 100, 'whatever the load, some are answered');
    const after = await server.http('api/v1/jobs?limit=100', { headers });
    t.equal(after.statusCode, 200, 'and afterwards all are');
  });
}
