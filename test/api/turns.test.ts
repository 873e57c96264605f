import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { followTurns } from '../../src/api/turns.ts';
import { keyFor, startEmptyServer, STORY_NOW } from '../_server.ts';
import { idOf, jobOf, store } from './_records.ts';

/** Keeps the event loop busy. */
function work(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

t.test('after a long turn that took a connection, requests wait while turns take connections', async (t) => {
  const turns = followTurns({ turnMsMax: 60_000, takingTurnMs: 3 });
  turns.current().connections += 1;
  t.equal(turns.taking, undefined, 'the turn itself goes on');
  work(5);
  await turn();
  const { taking } = turns;
  t.ok(taking);
  for (let taken = 0; taken < 5; taken += 1) {
    turns.current().connections += 1;
    await turn();
    t.equal(turns.taking, taking);
  }
  await taking;
  t.equal(turns.taking, undefined, 'a turn that took none ends it, even if nobody comes');
});

t.test('they wait for no longer than a turn may last, and that is no crowd', async (t) => {
  const turns = followTurns({ turnMsMax: 20, takingTurnMs: 3 });
  turns.current().connections += 1;
  work(21);
  const startedAt = performance.now();
  await turn();
  const since = turns.crowdedSince;
  t.ok(since, 'a turn that was too long');
  const { taking } = turns;
  let taken = 0;
  while (turns.taking && taken < 1_000) {
    turns.current().connections += 1;
    work(1);
    taken += 1;
    await turn();
  }
  await taking;
  t.ok(performance.now() - startedAt >= 20, 'connections are taken for as long as a turn may last');
  t.ok(taken < 40, `${taken} taken`);
  t.equal(turns.crowdedSince, since, 'what their turns were like says nothing about a crowd');
});

t.test('a short turn, or one that took no connection, has nobody wait', async (t) => {
  const turns = followTurns({ turnMsMax: 60_000, takingTurnMs: 20 });
  let isShort = false;
  // A busy machine may halt the process in the middle of a turn.
  for (let round = 0; round < 50 && !isShort; round += 1) {
    turns.current().connections += 1;
    await turn();
    isShort = turns.taking === undefined;
    await turns.taking;
  }
  t.ok(isShort);
  turns.current().requests += 1;
  work(25);
  await turn();
  t.equal(turns.taking, undefined);
});

/**
 * Asks for pages without end on some connections. When told to, asks for the health on many new ones, and says how often
 * each of the others was answered until all of those were.
 */
const CROWD = `
  const { Agent, get } = require('node:http');
  const { parentPort, workerData: { url, headers, old, fresh, warmUp } } = require('node:worker_threads');
  const agent = new Agent({ keepAlive: true });
  const counts = { answered: 0, fresh: 0 };
  const ask = (path, options, done) =>
    get(url + path, options, (answer) => answer.resume().once('end', done)).once('error', (error) => { throw error; });
  const again = () => {
    counts.answered += 1;
    if (counts.answered === warmUp) come();
    ask('/api/v1/jobs?limit=100', { headers, agent }, again);
  };
  const come = () => {
    parentPort.postMessage('coming');
    for (let one = 0; one < fresh; one += 1) ask('/healthz', { agent: false }, () => {
      counts.fresh += 1;
      if (counts.fresh === fresh) parentPort.postMessage((counts.answered - warmUp) / old);
    });
  };
  for (let one = 0; one < old; one += 1) again();
`;

t.test('many who connect to a busy server at once are answered in their turn', async (t) => {
  const { server, engine } = await startEmptyServer(t, 'sqlite', { rateLimitPerMinute: 1_000_000 });
  await createCompany(engine, 'busy', {}, STORY_NOW);
  const jobs = Array.from({ length: 100 }, (_value, index) => jobOf({ id: idOf('job', index) }));
  await store(engine, 'busy', jobs);
  const headers = { authorization: `Bearer ${await keyFor(engine, 'busy')}` };
  // Too few for anybody to be refused, and enough for long turns.
  const workerData = { url: server.url, headers, old: 80, fresh: 400, warmUp: 2_000 };
  const crowd = new Worker(CROWD, { eval: true, workerData });
  t.teardown(() => crowd.terminate());
  await once(crowd, 'message');
  // Until all have come, and wait to be taken.
  work(500);
  const [answersOfOthers] = (await once(crowd, 'message')) as [number];
  t.ok(answersOfOthers < 60, `meanwhile each of the others got ${answersOfOthers} answers`);
});
