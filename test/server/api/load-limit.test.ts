import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { createLoadLimit } from '../../../src/server/api/load-limit.ts';
import { idOf, jobOf, startAcme } from './_records.ts';

/** Keeps the event loop busy. */
function work(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

/** How many of so many requests that come together are refused; those that are let in leave at once. */
async function refusedOf(count: number, enter: () => Promise<() => void>): Promise<number> {
  const entered = Array.from({ length: count }, () => enter());
  const outcomes = await Promise.allSettled(entered);
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') outcome.value();
  return outcomes.filter(({ status }) => status === 'rejected').length;
}

t.test('while many requests delay the event loop, a share of them is refused', async (t) => {
  const enter = createLoadLimit({ delayMsMax: 10, refusalMs: 1 });
  let refused = 0;
  for (let round = 0; round < 100 && refused === 0; round += 1) {
    refused = await refusedOf(100, enter);
    work(40);
    await pause(1);
  }
  t.ok(refused > 0 && refused < 100, `${refused} of 100`);
  // A busy machine may delay the process by itself, which alone refuses nobody.
  for (let round = 0; round < 200 && refused > 0; round += 1) {
    await pause(20);
    refused = await refusedOf(2, enter);
  }
  t.equal(refused, 0, 'afterwards all are let in');
});

t.test('a delay of the machine refuses nobody: few requests come meanwhile', async (t) => {
  const enter = createLoadLimit({ delayMsMax: 1, refusalMs: 1 });
  let refused = 0;
  for (let round = 0; round < 20; round += 1) {
    work(30);
    refused += await refusedOf(2, enter);
    await pause(1);
  }
  t.equal(refused, 0);
});

t.test('no more requests are in flight than may be', async (t) => {
  const enter = createLoadLimit({ inFlightMax: 3, refusalMs: 1 });
  const leave = await enter();
  await enter();
  await enter();
  await t.rejects(enter(), { code: 'unavailable' });
  leave();
  leave();
  await t.resolves(enter(), 'a place that was given back is free');
  await t.rejects(enter(), { code: 'unavailable' }, 'and only once');
});

t.test('a refusal says when to ask again, and takes a while', async (t) => {
  const enter = createLoadLimit({ inFlightMax: 0, refusalMs: 60 });
  const startedAt = performance.now();
  await t.rejects(enter(), { code: 'unavailable', retryAfterSeconds: 1 });
  t.ok(performance.now() - startedAt >= 29);
});

t.test('a thousand requests at once are answered or refused, each as it should be', async (t) => {
  const jobs = Array.from({ length: 100 }, (_value, index) => jobOf({ id: idOf('job', index) }));
  const { server, headers } = await startAcme(t, jobs, ['sqlite', { rateLimitPerMinute: 100_000 }]);
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, () => server.http('api/v1/jobs?limit=100', { headers })),
  );
  const counts = { answered: 0, refused: 0 };
  for (const { statusCode, headers: got, body } of answers) {
    if (statusCode === 200 && body === answers[0]?.body) counts.answered += 1;
    else if (statusCode === 503 && got['retry-after'] === '1' && /"code":"unavailable"/.test(body))
      counts.refused += 1;
  }
  t.equal(counts.answered + counts.refused, 1_000);
  t.ok(counts.answered >= 100, 'whatever the load, some are answered');
  const after = await server.http('api/v1/jobs?limit=100', { headers });
  t.equal(after.statusCode, 200, 'and afterwards all are');
});
