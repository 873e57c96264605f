import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
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
  const temporary: [name: string, behaviour: Behaviour][] = [
    ['503 unavailable', unavailable],
    ['429', refuses(429, 'rate_limited', { 'Retry-After': '3' })],
    ['502 of a proxy', answers(502, '<h1>Bad Gateway</h1>', { 'Content-Type': 'text/html' })],
    ...[408, 500, 503, 504, 520, 521, 522, 523, 524].map((status): [string, Behaviour] => [
      `${status} of a proxy`,
      (_req, res) => res.writeHead(status).end('<html>'),
    ]),
    ['a connection that ends before the answer', cutsHead],
    ['a connection that ends in the middle of the answer', cutsBody],
    ['a connection that ends in the middle of an answer without a length', cutsUnmeasuredBody],
  ];
  for (const [name, behaviour] of temporary) {
    const { client, asked } = await startService(t, [behaviour, behaviour, gives]);
    t.strictSame(await client.getJob('job_0001'), { id: 'job_0001' }, name);
    t.equal(asked.length, 3, name);
  }
});

t.test('the README names the statuses that are tried again, and no other', async (t) => {
  const readme = readFileSync(new URL('../../src/client/README.md', import.meta.url), 'utf8');
  const [, told = ''] = /sent again after ([^a-z]+(?:(?:and|to) [^a-z]+)*)/.exec(readme) ?? [];
  const named = [...told.matchAll(/(\d+)(?: to (\d+))?/g)].flatMap(([, first, last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index),
  );
  for (const status of [
    400, 404, 408, 409, 422, 425, 429, 500, 501, 502, 503, 504, 505, 520, 521, 524, 525,
  ]) {
    const { client, asked } = await startService(t, [answers(status, '<html>'), gives]);
    await client.getJob('job_0001').catch(() => undefined);
    t.equal(asked.length === 2, named.includes(status), String(status));
  }
});

t.test('a try waits as Retry-After says, or half a second, and twice as long each time', async (t) => {
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
  const twice = (first: number) => [first, 2 * first, 4 * first].map((least) => [least, least * 1.5]);
  const cases: [status: number, retryAfter: string | undefined, bounds: number[][]][] = [
    [503, '2', twice(2_000)],
    // As a proxy writes it.
    [503, inSeconds(20), [[18_000, 26_000]]],
    // It is over already, which says nothing about how long to wait.
    [503, inSeconds(-20), [[500, 750]]],
    // No date, so the client waits as long as it does without one.
    [503, 'soon GMT', [[500, 750]]],
    [503, '-1', [[500, 750]]],
    [503, undefined, twice(500)],
    [503, '0', twice(500)],
    [429, undefined, twice(500)],
    [429, '0', twice(500)],
  ];
  for (const [status, retryAfter, bounds] of cases) {
    const code = status === 503 ? 'unavailable' : 'rate_limited';
    const refusal = refuses(status, code, retryAfter === undefined ? {} : { 'Retry-After': retryAfter });
    const { client, clock } = await startService(t, [...bounds.map(() => refusal), gives]);
    await client.getJob('job_0001');
    t.equal(clock.waits.length, bounds.length);
    for (const [index, [least = 0, most = 0]] of bounds.entries()) {
      const waited = clock.waits[index] ?? 0;
      t.ok(waited >= least && waited <= most, `${status} with ${retryAfter}: ${waited} ms`);
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

t.test('tries are bounded in number', async (t) => {
  const { client, asked } = await startService(t, [unavailable], { maxRetries: 2 });
  await t.rejects(client.getJob('job_0001'), { status: 503, code: 'unavailable', retryAfter: 2 });
  t.equal(asked.length, 3);
});

t.test('what waiting can’t help is not tried again, and its error says what it is', async (t) => {
  const refused = (
    [
      [400, 'invalid_parameter'],
      [401, 'revoked_key'],
      [403, 'missing_scope'],
      [404, 'not_found'],
      [503, 'invoicing_not_enabled'],
    ] as const
  ).map(([status, code]): [string, Behaviour, object] => {
    const message = `GET /api/v1/jobs/{jobId}: ${status} ${code}: In words.`;
    return [
      code,
      refuses(status, code),
      { status, code, message, requestId: 'req-1', retryAfter: undefined },
    ];
  });
  const none = { code: undefined };
  const isNone = { code: undefined, message: /this is not an answer of the API/ };
  const deep = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`;
  const record = (member: string) => answers(200, `{"data":{"id":"1",${member}}}`);
  const elsewhere = { status: 301, message: /301 .*; it leads to https:\/\/api\.example/ };
  const useless: [name: string, behaviour: Behaviour, error: object][] = [
    ...refused,
    // An hour is not waited for.
    [
      'an hour',
      refuses(503, 'unavailable', { 'Retry-After': '3600' }),
      { code: 'unavailable', retryAfter: 3600 },
    ],
    ['a page', answers(200, '<h1>Sign in</h1>', { 'Content-Type': 'text/html' }), none],
    [
      'a whole page that is called JSON',
      answers(200, '<!doctype html>', { 'Content-Length': '15' }),
      { ...none, status: 200 },
    ],
    ['nothing', answers(200, '', { 'Content-Length': '0' }), none],
    [
      'a redirect, which would take the key along',
      answers(302, '', { Location: 'http://127.0.0.1:1/' }),
      none,
    ],
    ['a redirect to https', answers(301, '', { Location: 'https://api.example/api/v1/jobs/1' }), elsewhere],
    ['a page that says that something is missing', answers(404, 'null'), none],
    ['a record that is none', answers(200, { data: null }), none],
    ['a record without an id', answers(200, { data: {} }), none],
    ['100,000 levels of lists, and no RangeError', record(`"customFields":${deep('[', ']')}`), isNone],
    ['100,000 levels of objects', record(`"customFields":${deep('{"a":', '}')}`), isNone],
  ];
  for (const [name, behaviour, error] of useless) {
    const { client, asked, clock } = await startService(t, [behaviour]);
    const caught: unknown = await client.getJob('job_0001').catch((reason: unknown) => reason);
    t.ok(caught instanceof ApiError, name);
    t.match(caught, { name: 'ApiError', ...error }, name);
    t.equal(asked.length, 1, name);
    t.strictSame(clock.waits, [], name);
  }
  const { client } = await startService(t, [record(`"notes":${JSON.stringify('[{"\\'.repeat(2_000))}`)]);
  t.match(await client.getJob('1'), { id: '1' }, 'brackets in a text are no levels');
});

t.test('a list that can’t be read to its end is an error', async (t) => {
  const page = (nextCursor: string | null, item: unknown = { id: 'job_0001' }) =>
    answers(200, { data: [item], nextCursor });
  const isNone = 'GET /api/v1/jobs: 200, but this is not an answer of the API';
  const cases: [message: string, pages: Behaviour[]][] = [
    ['The cursor 1abc leads back to itself.', [page('1abc')]],
    ['The cursor c1 leads back to itself.', ['c1', 'c2', 'c3', 'c1'].map((cursor) => page(cursor))],
    ...[null, 'job_0001', {}, { id: 1 }].map((item): [string, Behaviour[]] => [isNone, [page(null, item)]]),
  ];
  for (const [message, pages] of cases) {
    const { client, asked } = await startService(t, pages);
    const requestId = message === isNone ? 'req-1' : undefined;
    const error = { name: 'ApiError', status: 200, code: undefined, requestId, message };
    await t.rejects(allOf(client.listJobs()), error);
    t.equal(asked.length, message.includes('1abc') ? 2 : pages.length);
  }
});

t.test('a service that can’t be reached, or is late, gives a sentence without the key', async (t) => {
  const { client } = await startService(t, [staysSilent], { timeoutMs: 50, maxRetries: 1 });
  // No program gets this port by chance.
  const baseUrl = 'http://127.0.0.1:65535';
  const nobody = createClient({ baseUrl, key: 'fl.test.1.secret', maxRetries: 0 });
  for (const [asked, message] of [
    [client, /^GET \/api\/v1\/jobs\/\{jobId\}: no answer came \(.*timeout.*\)\.$/],
    [nobody, /^GET \/api\S+: no answer came \(fetch failed: connect ECONNREFUSED 127\.0\.0\.1:65535\)\.$/],
  ] as const) {
    const error: unknown = await asked.getJob('job_0001').catch((caught: unknown) => caught);
    t.ok(error instanceof NoAnswerError);
    t.match(error, { message });
  }
});

t.test('a service that repeats the key does not bring it into an error', async (t) => {
  let key = '';
  const echoes: Behaviour = (req, res) => {
    key = String(req.headers.authorization).replace('Bearer ', '');
    const code = req.url?.endsWith('1') ? 'invalid_key' : key;
    answers(
      401,
      { error: { code, message: `The key ${key} is unknown.` } },
      { 'X-Request-Id': key },
    )(req, res);
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

t.test('a signal ends a call wherever it is', async (t) => {
  const reason = new Error('The user left.');
  const usedUp = { 'RateLimit-Policy': '"default";q=1;w=60', RateLimit: '"default";r=0;t=60' };
  for (const [name, behaviours] of [
    ['while it waits for the answer', [gives, staysSilent]],
    ['while it waits for another try', [gives, refuses(503, 'unavailable', { 'Retry-After': '60' })]],
    ['while it waits for the rate limit', [answers(200, { data: { id: 'job_0001' } }, usedUp)]],
  ] as const) {
    for (const place of ['call', 'client'] as const) {
      const ending = new AbortController();
      const { signal } = ending;
      // These wait by the machine's clock.
      const { url } = await startService(t, behaviours);
      const client = createClient({ baseUrl: url, key: 'k', ...(place === 'client' && { signal }) });
      await client.getJob('job_0001');
      const options = place === 'call' ? { signal } : undefined;
      const calls = ['job_0002', 'job_0003'].map((id) => client.getJob(id, options));
      const outcomes = Promise.allSettled(calls);
      setTimeout(() => ending.abort(reason), 50);
      const rejected = { status: 'rejected', reason };
      t.strictSame(await outcomes, [rejected, rejected], `${name}, of the ${place}`);
      t.equal(getEventListeners(signal, 'abort').length, 0, 'and nothing goes on listening to it');
    }
  }
});

t.test('a call with an aborted signal sends nothing, and does not hold up the next', async (t) => {
  const { client, asked } = await startService(t, [gives]);
  const reason = new Error('Too late.');
  const options = { signal: AbortSignal.abort(reason) };
  await t.rejects(client.getJob('job_0001', options), reason);
  await t.rejects(allOf(client.listJobs({}, options).pages()), reason);
  t.strictSame(asked, []);
  await client.getJob('job_0002');
  t.equal(asked.length, 1);
});
