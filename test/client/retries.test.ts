import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';

import t from 'tap';
import { ApiError, createClient, NoAnswerError } from '../../src/client/index.ts';
import type { StoredAnswer } from '../../src/client/index.ts';
import { allOf, answers, gives, refuses, startService } from './_service.ts';
import type { Behaviour } from './_service.ts';

const unavailable = refuses(503, 'unavailable', { 'Retry-After': '2' });
const cutsHead: Behaviour = (req) => req.socket.destroy();
const cutsBody: Behaviour = (req, res) => {
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' }).write('{"data":');
  setTimeout(() => req.socket.destroy(), 5);
};
const cutsUnmeasuredBody: Behaviour = (req) => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n';
  req.socket.end(`${head}{"data":{"id":`);
};
const staysSilent: Behaviour = () => undefined;

t.test('what is temporary is tried again, until it works', async (t) => {
  for (const [name, behaviour] of [
    ['503 unavailable', unavailable],
    ['502 of a proxy', answers(502, '<h1>Bad Gateway</h1>', { 'Content-Type': 'text/html' })],
    ['504 of a proxy', answers(504, '')],
    ['429', refuses(429, 'rate_limited', { 'Retry-After': '3' })],
    ['a connection that ends before the answer', cutsHead],
    ['a connection that ends in the middle of the answer', cutsBody],
    ['a connection that ends in the middle of an answer without a length', cutsUnmeasuredBody],
  ] as const) {
    const { client, asked } = await startService(t, [behaviour, behaviour, gives]);
    t.strictSame(await client.getJob('job_0001'), { id: 'job_0001' }, name);
    t.equal(asked.length, 3, name);
  }
});

t.test('503 waits for Retry-After, and twice as long each time', async (t) => {
  const { client, clock } = await startService(t, [unavailable, unavailable, unavailable, gives]);
  await client.getJob('job_0001');
  const leastMs = [2_000, 4_000, 8_000];
  t.equal(clock.waits.length, leastMs.length);
  for (const [index, least] of leastMs.entries()) {
    const waited = clock.waits[index] ?? 0;
    t.ok(waited >= least && waited <= least * 1.5, `${waited} ms`);
  }
});

t.test('Retry-After may be a date, as a proxy writes it', async (t) => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
  const answers503 = (retryAfter: string) => refuses(503, 'unavailable', { 'Retry-After': retryAfter });
  for (const [retryAfter, leastMs, mostMs] of [
    [inSeconds(20), 18_000, 26_000],
    // It is over already, which says nothing about how long to wait.
    [inSeconds(-20), 500, 750],
    // No date, so the client waits as long as it does without one.
    ['soon GMT', 500, 750],
    ['-1', 500, 750],
  ] as const) {
    const { client, clock } = await startService(t, [answers503(retryAfter), gives]);
    await client.getJob('job_0001');
    const [waited = 0] = clock.waits;
    t.ok(waited >= leastMs && waited <= mostMs, `${retryAfter}: ${waited} ms`);
  }
});

t.test('without a time to wait for it is half a second, and twice as long each time', async (t) => {
  for (const [name, behaviour] of [
    ['503 without Retry-After', refuses(503, 'unavailable')],
    ['503 with 0', refuses(503, 'unavailable', { 'Retry-After': '0' })],
    ['429 without Retry-After', refuses(429, 'rate_limited')],
    ['429 with 0', refuses(429, 'rate_limited', { 'Retry-After': '0' })],
  ] as const) {
    const { client, clock } = await startService(t, [behaviour, behaviour, behaviour, gives]);
    await client.getJob('job_0001');
    const leastMs = [500, 1_000, 2_000];
    t.equal(clock.waits.length, leastMs.length, name);
    for (const [index, least] of leastMs.entries()) {
      const waited = clock.waits[index] ?? 0;
      t.ok(waited >= least && waited <= least * 1.5, `${name}: ${waited} ms`);
    }
  }
});

t.test('a cut answer that stays cut is no answer, and no store keeps it', async (t) => {
  const etags = new Map<string, StoredAnswer>();
  // Without a length: fetch itself notices another cut.
  const cut: Behaviour = (_req, res) => {
    res.useChunkedEncodingByDefault = false;
    res.writeHead(200, { 'Content-Type': 'application/json', ETag: '"cut"' }).end('{"data":');
  };
  const { client, asked } = await startService(t, [cut], { etags, maxRetries: 1 });
  await t.rejects(client.getJob('job_0001'), {
    name: 'NoAnswerError',
    message: 'GET /api/v1/jobs/{jobId}: no answer came (its JSON is cut off).',
  });
  t.equal(asked.length, 2);
  t.equal(etags.size, 0);
});

t.test('an answer that is whole and no JSON is not asked for again', async (t) => {
  const { client, asked } = await startService(t, [
    answers(200, '<!doctype html>', { 'Content-Length': '15' }),
  ]);
  await t.rejects(client.getJob('job_0001'), { name: 'ApiError', status: 200, code: undefined });
  t.equal(asked.length, 1);
});

t.test('an answer that would fill the memory is broken off, and not asked for again', async (t) => {
  const megabyte = Buffer.alloc(2 ** 20, ' ');
  let sent = 0;
  const endless: Behaviour = (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    const send = () => {
      while (!res.destroyed && sent < 1_000 && res.write(megabyte)) sent += 1;
    };
    res.on('drain', send);
    send();
  };
  const { client, asked } = await startService(t, [endless]);
  await t.rejects(client.getJob('job_0001'), {
    name: 'NoAnswerError',
    message: 'GET /api/v1/jobs/{jobId}: no answer came (its body is longer than 64 MB).',
  });
  t.ok(sent < 200, `${sent} MB were sent`);
  t.equal(asked.length, 1);
});

t.test('429 holds back every request of the client until Retry-After', async (t) => {
  const { client, clock, asked } = await startService(t, [
    gives,
    refuses(429, 'rate_limited', { 'Retry-After': '7' }),
    gives,
  ]);
  await client.getJob('job_0001');
  const refused = client.getJob('job_0002');
  while (asked.length < 2) await new Promise(setImmediate);
  await refused;
  await client.getJob('job_0003');
  t.ok(clock.now() >= 7_000, `${clock.now()} ms`);
  t.equal(asked.length, 4);
});

t.test('what waiting can’t help is not tried again, and its error has the code', async (t) => {
  for (const [status, code] of [
    [400, 'invalid_parameter'],
    [401, 'revoked_key'],
    [403, 'missing_scope'],
    [404, 'not_found'],
    [503, 'invoicing_not_enabled'],
  ] as const) {
    const { client, asked } = await startService(t, [refuses(status, code)]);
    const error: unknown = await client.getJob('job_0001').catch((caught: unknown) => caught);
    t.ok(error instanceof ApiError);
    t.match(error, { name: 'ApiError', status, code, requestId: 'req-1', retryAfter: undefined });
    t.equal((error as ApiError).message, `GET /api/v1/jobs/{jobId}: ${status} ${code}: In words.`);
    t.equal(asked.length, 1);
  }
});

t.test('tries are bounded in number', async (t) => {
  const { client, asked } = await startService(t, [unavailable], { maxRetries: 2 });
  await t.rejects(client.getJob('job_0001'), { status: 503, code: 'unavailable', retryAfter: 2 });
  t.equal(asked.length, 3);
});

t.test('and in time: an hour is not waited for', async (t) => {
  const { client, clock } = await startService(t, [refuses(503, 'unavailable', { 'Retry-After': '3600' })]);
  await t.rejects(client.getJob('job_0001'), { code: 'unavailable', retryAfter: 3600 });
  t.strictSame(clock.waits, []);
});

t.test(
  'a service that can’t be reached, or doesn’t answer in time, gives a sentence without the key',
  async (t) => {
    const { client } = await startService(t, [staysSilent], { timeoutMs: 50, maxRetries: 1 });
    const late: unknown = await client.getJob('job_0001').catch((caught: unknown) => caught);
    t.ok(late instanceof NoAnswerError);
    t.match(late, { message: /^GET \/api\/v1\/jobs\/\{jobId\}: no answer came \(.*timeout.*\)\.$/ });

    // No program gets this port by chance.
    const baseUrl = 'http://127.0.0.1:65535';
    const nobody = createClient({ baseUrl, key: 'fl.test.1.secret', maxRetries: 0 });
    const missing: unknown = await nobody.getJob('job_0001').catch((caught: unknown) => caught);
    t.ok(missing instanceof NoAnswerError);
    const reason = 'fetch failed: connect ECONNREFUSED 127.0.0.1:65535';
    t.equal((missing as Error).message, `GET /api/v1/jobs/{jobId}: no answer came (${reason}).`);
  },
);

t.test('an answer that isn’t the API’s is an error without a code', async (t) => {
  for (const [name, behaviour] of [
    ['a page', answers(200, '<h1>Sign in</h1>', { 'Content-Type': 'text/html' })],
    ['nothing', answers(200, '', { 'Content-Length': '0' })],
    ['a redirect, which would take the key along', answers(302, '', { Location: 'http://127.0.0.1:1/' })],
    ['a page that says that something is missing', answers(404, 'null')],
    ['a record that is none', answers(200, { data: null })],
    ['a record without an id', answers(200, { data: {} })],
  ] as const) {
    const { client, asked } = await startService(t, [behaviour]);
    await t.rejects(client.getJob('job_0001'), { name: 'ApiError', code: undefined }, name);
    t.equal(asked.length, 1, name);
  }
});

t.test('a service that repeats the key does not bring it into an error', async (t) => {
  let key = '';
  const echoes: Behaviour = (req, res) => {
    key = String(req.headers.authorization).replace('Bearer ', '');
    const error = {
      code: req.url?.endsWith('1') ? 'invalid_key' : key,
      message: `The key ${key} is unknown.`,
    };
    res.writeHead(401, { 'Content-Type': 'application/json', 'X-Request-Id': key });
    res.end(JSON.stringify({ error }));
  };
  const { client } = await startService(t, [echoes, echoes]);
  for (const [id, said] of [
    ['job_1', 'GET /api/v1/jobs/{jobId}: 401 invalid_key: The key [the key] is unknown.'],
    ['job_2', 'GET /api/v1/jobs/{jobId}: 401 this is not an answer of the API'],
  ] as const) {
    const error: unknown = await client.getJob(id).catch((caught: unknown) => caught);
    t.match(error, { message: said, requestId: undefined });
    t.ok(key.length > 3 && !inspect(error).includes(key));
  }
});

t.test('a list that leads back to itself ends with an error', async (t) => {
  const { client } = await startService(t, [
    answers(200, { data: [{ id: 'job_0001' }], nextCursor: '1abc' }),
  ]);
  await t.rejects(
    async () => {
      for await (const job of client.listJobs()) t.equal(job.id, 'job_0001');
    },
    { message: 'The cursor 1abc leads back to itself.' },
  );
});

t.test('and so does one that leads around in a circle', async (t) => {
  const page = (nextCursor: string) => answers(200, { data: [{ id: 'job_0001' }], nextCursor });
  const { client, asked } = await startService(t, [page('c1'), page('c2'), page('c3'), page('c1')]);
  await t.rejects(allOf(client.listJobs()), {
    name: 'ApiError',
    status: 200,
    code: undefined,
    message: 'The cursor c1 leads back to itself.',
  });
  t.equal(asked.length, 4);
});

t.test('a page with what is no record is not an answer of the API', async (t) => {
  for (const item of [null, 'job_0001', {}, { id: 1 }]) {
    const { client } = await startService(t, [answers(200, { data: [item], nextCursor: null })]);
    await t.rejects(allOf(client.listJobs()), {
      name: 'ApiError',
      message: 'GET /api/v1/jobs: 200, but this is not an answer of the API',
      requestId: 'req-1',
    });
  }
});

t.test('a signal ends a call wherever it is', async (t) => {
  const reason = new Error('The user left.');
  const usedUp = { 'RateLimit-Policy': '"default";q=1;w=60', RateLimit: '"default";r=0;t=60' };
  for (const [name, behaviours] of [
    ['while it waits for the answer', [gives, staysSilent]],
    ['while it waits for another try', [gives, refuses(503, 'unavailable', { 'Retry-After': '60' })]],
    ['while it waits for the rate limit', [answers(200, { data: { id: 'job_0001' } }, usedUp)]],
  ] as const) {
    for (const place of ['call', 'client'] as const) {
      const { signal, abort } = abortable();
      // These wait by the machine's clock.
      const { url } = await startService(t, behaviours);
      const client = createClient({ baseUrl: url, key: 'k', ...(place === 'client' && { signal }) });
      await client.getJob('job_0001');
      const options = place === 'call' ? { signal } : undefined;
      const calls = ['job_0002', 'job_0003'].map((id) => client.getJob(id, options));
      const outcomes = Promise.allSettled(calls);
      setTimeout(() => abort(reason), 50);
      const rejected = { status: 'rejected', reason };
      t.strictSame(await outcomes, [rejected, rejected], `${name}, of the ${place}`);
      t.equal(getEventListeners(signal, 'abort').length, 0, 'and nothing goes on listening to it');
    }
  }
});

t.test('a call with an aborted signal sends nothing', async (t) => {
  const { client, asked } = await startService(t, [gives]);
  const reason = new Error('Too late.');
  await t.rejects(client.getJob('job_0001', { signal: AbortSignal.abort(reason) }), reason);
  await t.rejects(
    client
      .listJobs({}, { signal: AbortSignal.abort(reason) })
      .pages()
      [Symbol.asyncIterator]()
      .next(),
    reason,
  );
  t.strictSame(asked, []);
  await client.getJob('job_0002');
  t.equal(asked.length, 1, 'and the next call is not held up');
});

function abortable(): { signal: AbortSignal; abort: (reason: Error) => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}

t.test('a proxy that does not reach the service is asked again, as after 502', async (t) => {
  for (const status of [408, 500, 502, 503, 504, 520, 521, 522, 523, 524]) {
    const { client, asked } = await startService(t, [
      (_req, res) => res.writeHead(status).end('<html>'),
      (_req, res) =>
        res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"data":{"id":"job_1"}}'),
    ]);
    t.match(await client.getJob('job_1'), { id: 'job_1' }, `${status}`);
    t.equal(asked.length, 2);
  }
});

t.test('an answer that leads to https names where, and gets the key nowhere else', async (t) => {
  const { client, asked } = await startService(t, [
    (_req, res) => res.writeHead(301, { Location: 'https://api.example/api/v1/jobs/1' }).end(),
  ]);
  await t.rejects(client.getJob('1'), {
    status: 301,
    message: /301 .*; it leads to https:\/\/api\.example/,
  });
  t.equal(asked.length, 1);
});

t.test('100,000 levels of nesting are no answer of the API, and no RangeError', async (t) => {
  const deep = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`;
  for (const value of [deep('[', ']'), deep('{"a":', '}')]) {
    const { client } = await startService(t, [
      (_req, res) =>
        res
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end(`{"data":{"id":"1","customFields":${value}}}`),
    ]);
    await t.rejects(client.getJob('1'), { name: 'ApiError', message: /this is not an answer of the API/ });
  }
  const text = JSON.stringify('[{"\\'.repeat(2_000));
  const { client } = await startService(t, [
    (_req, res) =>
      res.writeHead(200, { 'Content-Type': 'application/json' }).end(`{"data":{"id":"1","notes":${text}}}`),
  ]);
  t.match(await client.getJob('1'), { id: '1' }, 'brackets in a text are no levels');
});
