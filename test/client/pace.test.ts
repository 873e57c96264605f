import t from 'tap';
import type { Test } from 'tap';
import { createClient } from '../../src/client/index.ts';
import type { Client } from '../../src/client/index.ts';
import { startExampleServer } from '../_server.ts';
import { allOf, answers, gives, refuses, startService } from './_service.ts';
import type { Behaviour, Service } from './_service.ts';

const QUOTA = 120;
const WINDOW_MS = 60_000;

interface Limits {
  pages: number;
  /** Time that passes in each request, half of it before the request is counted. */
  latencyMs: number;
  /** Requests of other programs with the same key, before each of ours. */
  otherCount?: number;
}

interface Limited extends Service {
  /** Requests that were refused. */
  refused: () => number;
}

/** A list behind a rate limit that counts as the service does: a window begins with its first request. */
async function startLimited(t: Test, { pages, latencyMs, otherCount = 0 }: Limits): Promise<Limited> {
  let window = { startedAt: -Infinity, count: 0 };
  let refusedCount = 0;
  const behave: Behaviour = (req, res) => {
    const { clock } = service;
    clock.pass(latencyMs / 2);
    if (clock.now() >= window.startedAt + WINDOW_MS) window = { startedAt: clock.now(), count: 0 };
    window.count += 1 + otherCount;
    const left = Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - clock.now()) / 1000));
    const headers = {
      'RateLimit-Policy': `"default";q=${QUOTA};w=${WINDOW_MS / 1000}`,
      RateLimit: `"default";r=${Math.max(0, QUOTA - window.count)};t=${left}`,
    };
    clock.pass(latencyMs / 2);
    if (window.count > QUOTA) {
      refusedCount += 1;
      refuses(429, 'rate_limited', { ...headers, 'Retry-After': String(left) })(req, res);
      return;
    }
    const page = Number(new URL(req.url ?? '', service.url).searchParams.get('cursor') ?? 0) + 1;
    const nextCursor = page < pages ? String(page) : null;
    answers(200, { data: [{ id: `job_${page}` }], nextCursor }, headers)(req, res);
  };
  const service = await startService(t, [behave]);
  return { ...service, refused: () => refusedCount };
}

async function readAll(client: Client): Promise<number> {
  return (await allOf(client.listJobs())).length;
}

t.test(
  'four lists that share a client take hardly longer than the limit says, and none is refused',
  async (t) => {
    const { client, clock, refused } = await startLimited(t, { pages: 65, latencyMs: 40 });
    const counts = await Promise.all(Array.from({ length: 4 }, () => readAll(client)));
    t.strictSame(counts, [65, 65, 65, 65]);
    t.equal(refused(), 0);
    // The last 20 of 260 requests belong to the third minute.
    const leastMs = 2 * WINDOW_MS + 20 * 40;
    t.ok(clock.now() >= 2 * WINDOW_MS && clock.now() <= leastMs * 1.05, `${clock.now()} ms`);
  },
);

t.test('none is refused however the ends of the windows fall', async (t) => {
  for (const latencyMs of [0, 498, 502, 900]) {
    const { client, refused } = await startLimited(t, { pages: 70, latencyMs });
    await Promise.all([readAll(client), readAll(client)]);
    t.equal(refused(), 0, `${latencyMs} ms`);
  }
});

t.test('other programs with the same key are taken into account', async (t) => {
  const { client, clock, refused } = await startLimited(t, { pages: 70, latencyMs: 10, otherCount: 1 });
  t.equal(await readAll(client), 70);
  t.equal(refused(), 0);
  t.ok(clock.now() >= WINDOW_MS, 'the last ten waited for the next window');
});

t.test('a client has at most ten requests under way, and the first goes alone', async (t) => {
  const held: (() => void)[] = [];
  const mostAtOnce: number[] = [];
  const release = () => {
    mostAtOnce.push(held.length);
    for (const answer of held.splice(0)) answer();
  };
  const { client, asked } = await startService(t, [
    (req, res) => {
      held.push(() => gives(req, res));
      // Other requests have a moment to come.
      if (held.length === (asked.length === 1 ? 1 : 10)) setTimeout(release, 20);
    },
  ]);
  await Promise.all(Array.from({ length: 31 }, () => client.getJob('job_0001')));
  t.strictSame(mostAtOnce, [1, 10, 10, 10]);
});

t.test('the server itself refuses nothing either', async (t) => {
  await using server = await startExampleServer('sqlite', { rateLimitPerMinute: 20, windowSeconds: 1 });
  const statuses: number[] = [];
  const client = createClient({
    baseUrl: server.url,
    key: server.key,
    fetch: async (request) => {
      const answer = await fetch(request);
      statuses.push(answer.status);
      return answer;
    },
  });
  await Promise.all(Array.from({ length: 16 }, () => client.getJob('job_0001')));
  for await (const { data } of client.listInvoices({ limit: 1 }).pages()) t.equal(data.length, 1);
  t.ok(statuses.length > 20, 'more than a window has');
  t.strictSame([...new Set(statuses)], [200]);
});
