import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';
import type { Test } from 'tap';

import { revokeKey } from '../../../src/server/features/keys/keys.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { until } from '../../_command.ts';
import {
  engineNames,
  keyFor,
  startTestServer,
  STORY_NOW,
  type TestServer,
  type TestServerOptions,
} from '../../_server.ts';
import { jobOf, startAcme } from './_records.ts';

const LIMIT = 120;

const start = (
  t: Test,
  name: (typeof engineNames)[number],
  limits: Omit<TestServerOptions, 'engine'> = { rateLimitPerMinute: LIMIT },
) => startAcme(t, [jobOf({ id: 'job_1' })], [name, limits]);

async function ask(server: TestServer, key: string, path = 'api/v1/jobs') {
  const { statusCode, headers, body } = await server.http(path, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { statusCode, headers, body };
}

/** How many requests at once end in which way. On a busy machine some may be too many, which counts for no key. */
async function statusesOf(server: TestServer, key: string, count: number): Promise<Record<number, number>> {
  const askAgain = async (timesLeft: number): Promise<{ statusCode: number }> => {
    const answer = await ask(server, key);
    if (answer.statusCode !== 503 || timesLeft === 0) return answer;
    await pause(Number(answer.headers['retry-after']) * 1000);
    return askAgain(timesLeft - 1);
  };
  const answers = await Promise.all(Array.from({ length: count }, async () => askAgain(5)));
  const counts: Record<number, number> = {};
  for (const { statusCode } of answers) counts[statusCode] = (counts[statusCode] ?? 0) + 1;
  return counts;
}

/** The remaining requests and the seconds until they are renewed, out of a RateLimit header. */
function limitOf(headers: Record<string, unknown>): { remaining: number; seconds: number } {
  const [, remaining, seconds] = /^"default";r=(\d+);t=(\d+)$/.exec(String(headers.ratelimit)) ?? [];
  return { remaining: Number(remaining), seconds: Number(seconds) };
}

for (const name of engineNames) {
  t.test(`every request of a key counts, whatever its answer, and no other key's (${name})`, async (t) => {
    const { server, engine, key } = await start(t, name, { rateLimitPerMinute: 4 });
    const paths = ['api/v1/jobs', 'api/v1/jobs/nobody', 'api/v1/jobs?limit=0', 'api/v1/jobs/job_1'];
    const met: string[] = [];
    for (const path of [...paths, ...paths]) {
      const { statusCode, headers } = await ask(server, key, path);
      met.push(`${statusCode} ${limitOf(headers).remaining}`);
    }
    t.strictSame(met, ['200 3', '404 2', '400 1', '200 0', '429 0', '429 0', '429 0', '429 0']);
    const { headers, body } = await ask(server, key);
    t.equal(Number(headers['retry-after']), limitOf(headers).seconds);
    t.match(JSON.parse(body), { error: { code: 'rate_limited', message: /4 requests a minute/ } });
    const other = await ask(server, await keyFor(engine, 'acme'));
    t.equal(limitOf(other.headers).remaining, 3, 'another key of the company is not affected');
  });

  t.test(`of 300 requests at once exactly 120 are let through (${name})`, async (t) => {
    const { server, key } = await start(t, name);
    t.strictSame(await statusesOf(server, key, 300), { 200: 120, 429: 180 });
  });

  t.test(`a flood of wrong keys from one address is limited, right keys are not (${name})`, async (t) => {
    const { server, engine, key } = await start(t, name, { wrongKeysPerMinute: 40 });
    t.strictSame(await statusesOf(server, 'fl.acme.wrong.secret', 100), { 401: 40, 429: 60 });
    for (const authorization of [undefined, 'Basic eDp5', `Bearer ${key}x`]) {
      const headers = authorization === undefined ? {} : { authorization };
      const { statusCode, headers: answered, body } = await server.http('api/v1/people', { headers });
      t.equal(statusCode, 429, authorization ?? 'no key');
      t.match(JSON.parse(body), { error: { code: 'rate_limited' } });
      const retryAfter = Number(answered['retry-after']);
      t.ok(retryAfter >= 1 && retryAfter <= 60, `retry after ${retryAfter} seconds`);
      t.equal(answered['ratelimit-policy'], '"address";q=40;w=60');
      t.equal(
        answered.ratelimit,
        `"address";r=0;t=${retryAfter}`,
        "it is the address's allowance that is told",
      );
    }
    t.equal((await ask(server, key)).statusCode, 200, 'a right key from the same address works');
    const revoked = await keyFor(engine, 'acme');
    await revokeKey(engine, 'acme', revoked.split('.')[2] ?? '', STORY_NOW);
    t.equal((await ask(server, revoked)).statusCode, 429, 'a revoked key is none that works');
    const elsewhere = await server.http('api/v1/jobs', { localAddress: '127.0.0.2' });
    t.equal(elsewhere.statusCode, 401, 'another address has an allowance of its own');
  });
}

// On PostgreSQL the suite waits for it (test/contract/_allowance-checks.ts).
t.test('the allowance is renewed when its window ends, and not before', async (t) => {
  const { server, key } = await start(t, 'sqlite', { rateLimitPerMinute: 3, windowSeconds: 3 });
  const startedAt = performance.now();
  t.strictSame(await statusesOf(server, key, 5), { 200: 3, 429: 2 });
  let answer = await ask(server, key);
  t.equal(answer.headers['ratelimit-policy'], '"default";q=3;w=3');
  t.ok(Number(answer.headers['retry-after']) <= 3, 'it says how long to wait');
  await until(async () => {
    answer = await ask(server, key);
    return answer.statusCode === 200;
  });
  t.ok(performance.now() - startedAt > 2_900, 'three seconds have passed');
  t.equal(limitOf(answer.headers).remaining, 2, 'all three requests are there again');
  t.strictSame(await statusesOf(server, key, 5), { 200: 2, 429: 3 });
});

t.test('two servers on one PostgreSQL database share the count of a key', async (t) => {
  const { server, database, engine, key } = await start(t, 'postgres');
  await using otherEngine = await openEngine(database.url);
  await using other = await startTestServer({ engine: otherEngine, rateLimitPerMinute: LIMIT });
  const counts = await Promise.all([statusesOf(server, key, 100), statusesOf(other, key, 100)]);
  t.equal((counts[0][200] ?? 0) + (counts[1][200] ?? 0), LIMIT, 'together they let 120 through');
  t.equal((counts[0][429] ?? 0) + (counts[1][429] ?? 0), 80);
  t.ok((counts[0][200] ?? 0) > 0 && (counts[1][200] ?? 0) > 0, 'both let some through');
  const alternating = await keyFor(engine, 'acme');
  for (let made = 1; made <= LIMIT; made += 1) {
    const { statusCode, headers } = await ask(made % 2 === 0 ? server : other, alternating);
    if (statusCode !== 200 || limitOf(headers).remaining !== LIMIT - made)
      t.fail(`request ${made}: ${statusCode}, ${String(headers.ratelimit)}`);
  }
  t.equal((await ask(server, alternating)).statusCode, 429);
  t.equal((await ask(other, alternating)).statusCode, 429);
});

t.test('an address is what the connection says, or as many proxies as are trusted', async (t) => {
  const IPV4 = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  const SPOOFED = ['10.0.0.1', '10.0.0.2, 10.0.0.1', '10.0.0.3, 10.0.0.1', '10.0.0.1, 10.0.0.4'];
  // A network of IPv6 has the wrong keys of one address, whichever of its addresses it uses.
  const IPV6 = ['2001:db8::1', '2001:db8::2', '2001:db8::3', '2001:db8:0:1::1'];
  for (const [trustedProxies, addresses, expected] of [
    [0, IPV4, [401, 401, 429]],
    [1, SPOOFED, [401, 401, 429, 401]],
    [1, IPV6, [401, 401, 429, 401]],
  ] as const) {
    const { server } = await start(t, 'sqlite', { wrongKeysPerMinute: 2, trustedProxies });
    const met: number[] = [];
    for (const address of addresses)
      met.push((await server.http('api/v1/jobs', { headers: { 'x-forwarded-for': address } })).statusCode);
    t.strictSame(met, expected, addresses.join(' | '));
  }
});
