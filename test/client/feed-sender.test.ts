import { text } from 'node:stream/consumers';

import t, { type Test } from 'tap';

import { createFeedSender, type FeedSenderOptions } from '../../src/client/feed/feed-sender.ts';
import { NoAnswerError } from '../../src/client/index.ts';
import { openTestDatabase } from '../_server.ts';
import { createTestBackoffice } from '../server/backoffice/_backoffice.ts';
import { jobCreate, openStaffedCompany } from '../server/backoffice/_changes.ts';
import { openDoor, tokenFor } from '../server/feed/_door.ts';
import { allOf, answers, type Behaviour, createMockClock, refuses, startService } from './_service.ts';

const changes = (count: number, company = 'acme') =>
  Array.from({ length: count }, (_, number) => {
    const id = `c${number}`;
    return { id, company, ...jobCreate({ id: `job_${number}` }) };
  });

type Answer = (change: { id: string }, place: number) => object;
const applied: Answer = ({ id }, place) => ({ line: place + 1, id, status: 'applied', record: null });

/** Answers each change of a request. */
const gives =
  (answer: Answer, sent: string[] = []): Behaviour =>
  (req, res) => {
    void text(req).then((body) => {
      const given = body.split('\n').map((line) => JSON.parse(line) as { id: string });
      sent.push(given.map(({ id }) => id).join());
      const lines = given.map((change, place) => `${JSON.stringify(answer(change, place))}\n`);
      res.writeHead(200, { 'Content-Type': 'application/x-ndjson' }).end(lines.join(''));
    });
  };

async function start(t: Test, behaviours: Behaviour[], options: Partial<FeedSenderOptions> = {}) {
  const { url, asked, keys } = await startService(t, behaviours);
  const clock = createMockClock();
  const retried: string[] = [];
  const onRetry = ({ message }: Error) => void retried.push(message);
  const sender = createFeedSender({ url, token: 'fl-feed.1.x', onRetry, ...options }, clock);
  const statuses = async (count: number) =>
    (await allOf(sender.send(changes(count)))).map(({ change, answer }) => `${change.id} ${answer.status}`);
  return { sender, asked, keys, clock, retried, statuses };
}

t.test('a change is sent when it comes, and waits for no others', async (t) => {
  const { sender } = await start(t, [gives(applied)]);
  const heard = Promise.withResolvers<undefined>();
  // Its second change comes only when the first is answered.
  async function* live() {
    const [first, second] = changes(2);
    if (first) yield first;
    await heard.promise;
    if (second) yield second;
  }
  const answered: (string | undefined)[] = [];
  for await (const { change } of sender.send(live())) {
    answered.push(change.id);
    heard.resolve(undefined);
  }
  t.strictSame(answered, ['c0', 'c1']);
});

t.test('changes are sent in batches and answered in their order', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { id: company } = await openStaffedCompany(createTestBackoffice(database).openCompany);
  const { token } = await tokenFor(database.engine);
  await using door = await openDoor(database.engine, token);
  const bodies: number[] = [];
  const counted: typeof fetch = async (url, init) => {
    bodies.push((init?.body as Uint8Array).length);
    return fetch(url, init);
  };
  const sender = createFeedSender({ url: door.url, token, fetch: counted });
  const all = changes(250, company);
  for (const status of ['applied', 'skipped']) {
    const answered = await allOf(sender.send(all));
    t.strictSame(
      answered.map(({ change }) => change),
      all,
    );
    t.ok(answered.every(({ change, answer }) => answer.status === status && answer.id === change.id));
    const [first] = answered;
    t.match(first?.answer, { record: { id: 'job_0' } });
  }
  t.equal(bodies.splice(0).length, 6);
  const longest = JSON.stringify(all[0]).padEnd(8 * 1024 * 1024, ' ');
  const texts = [...Array<string>(9).fill(JSON.stringify(all[1]).padEnd(400_000, ' ')), longest, longest];
  t.equal(
    (await allOf(sender.sendTexts(texts))).filter(({ answer }) => answer.status === 'skipped').length,
    11,
  );
  t.strictSame(
    bodies.map((size) => Math.round(size / 100_000)),
    [8, 8, 8, 8, 4, 84, 84],
    'none is too long',
  );
});

t.test('what is temporary is tried again with the same changes, until it works', async (t) => {
  const temporary: [name: string, behaviour: Behaviour, leastMs: number, told: RegExp][] = [
    ['503', refuses(503, 'unavailable', { 'Retry-After': '7' }), 7_000, /: 503 unavailable: In words\.$/],
    ['429', refuses(429, 'rate_limited', { 'Retry-After': '3' }), 3_000, /: 429 rate_limited: In words\.$/],
    ['a proxy', answers(502, '<h1>Bad Gateway</h1>'), 500, /: 502 this is not an answer of the feed$/],
    ['no answer', (req) => req.socket.destroy(), 500, /: no answer came \(.+\)\.$/],
    [
      'too few answers',
      answers(200, '{"line":1,"status":"applied"}\n'),
      500,
      /^The feed answered 1 of 3 changes\.$/,
    ],
    ['other answers', answers(200, '<\n<\n<\n'), 500, /: no answer came \(.+\)\.$/],
    ['answers that are none', gives(() => ({})), 500, /this is not an answer of the feed/],
  ];
  for (const [name, behaviour, leastMs, told] of temporary) {
    const sent: string[] = [];
    const { statuses, clock, retried, keys } = await start(t, [behaviour, behaviour, gives(applied, sent)]);
    t.strictSame(await statuses(3), ['c0 applied', 'c1 applied', 'c2 applied'], name);
    t.strictSame(sent, ['c0,c1,c2']);
    t.strictSame(clock.waits, [leastMs, Math.max(leastMs, 1_000)]);
    t.match(retried, [told, told]);
    t.strictSame(new Set(keys), new Set(['Bearer fl-feed.1.x']));
  }
});

t.test('only what was not tried is sent again, whatever the records say', async (t) => {
  const deceptive = { customFields: { status: 'not_tried' }, error: { code: 'unavailable' } };
  const record = { ...deceptive, notes: '"status":"not_tried"' };
  const refused = (code: string) => ({ status: 'refused', error: { code, message: 'So.', path: '' } });
  const away: Answer = (change, place) =>
    [
      { ...applied(change, place), record },
      { line: 2, ...refused('wrong_state') },
      { line: 3, ...refused('unavailable') },
    ][place] ?? { line: place + 1, status: 'not_tried' };
  const full: Answer = (change, place) =>
    place === 0 ? applied(change, place) : { line: place + 1, id: change.id, status: 'not_tried' };
  const sent: string[] = [];
  const { statuses, clock, retried } = await start(t, [
    gives(away, sent),
    gives(full, sent),
    gives(applied, sent),
  ]);
  const wanted = ['c0 applied', 'c1 refused', 'c2 applied', 'c3 applied', 'c4 applied'];
  t.strictSame(await statuses(5), wanted);
  t.strictSame(sent, ['c0,c1,c2,c3,c4', 'c2,c3,c4', 'c3,c4']);
  t.strictSame(
    [clock.waits, retried],
    [[500], ['The database of the feed is away.']],
    'answers that were too long need no wait',
  );
});

t.test('what sending again does not change ends it at once, and the token goes nowhere else', async (t) => {
  const other = await startService(t, [answers(200, '')]);
  const forged = { error: { code: 'x\ny', message: 'a\nfieldledger: all is well' } };
  const behaviours: [behaviour: Behaviour, status: number, message?: string][] = [
    [refuses(400, 'invalid_request'), 400],
    [refuses(401, 'revoked_key'), 401],
    [answers(404, 'Nothing.'), 404],
    [answers(307, '', { Location: other.url }), 307],
    // What a server says of an error stays in one line.
    [answers(403, forged), 403, 'POST /feed/v1/changes: 403 x y: a fieldledger: all is well'],
  ];
  for (const [behaviour, status, message] of behaviours) {
    const { statuses, asked } = await start(t, [behaviour]);
    await t.rejects(statuses(1), { name: 'ApiError', status, ...(message && { message }) });
    t.strictSame(asked, ['/feed/v1/changes']);
  }
  t.strictSame(other.asked, []);
});

t.test('it gives up after a while without an answer, and at once when it is told to', async (t) => {
  const { statuses, clock } = await start(t, [(req) => req.socket.destroy()], { retryTimeMs: 60_000 });
  await t.rejects(statuses(1), NoAnswerError);
  t.strictSame(clock.waits, [500, 1_000, 2_000, 4_000, 8_000, 16_000]);
  const ending = new AbortController();
  const silent: Behaviour = () => ending.abort(new Error('Enough.'));
  const { statuses: ended } = await start(t, [silent], { signal: ending.signal });
  await t.rejects(ended(1), { message: 'Enough.' });
  const slow = await start(t, [() => undefined, gives(applied)], { timeoutMs: 50 });
  t.strictSame(await slow.statuses(1), ['c0 applied'], 'a request that takes too long is sent again');
  for (const url of ['feed.example.com', 'ftp://feed.example.com', 'http://'])
    t.throws(() => createFeedSender({ url, token: 'x' }), TypeError);
});

t.test('a change that no request can have is refused here, and those behind it go on', async (t) => {
  const sent: string[] = [];
  const { sender } = await start(t, [gives(applied, sent)]);
  const [first, long, last] = changes(3);
  if (!first || !long || !last) throw new Error('There are three.');
  const notes = 'x'.repeat(8 * 1024 * 1024);
  const answered = await allOf(sender.send([first, { ...long, with: { ...long.with, notes } }, last]));
  t.strictSame(
    answered.map(({ change, answer }) => `${change.id} ${answer.status}`),
    ['c0 applied', 'c1 refused', 'c2 applied'],
  );
  t.match(answered[1]?.answer, { error: { code: 'malformed_line', message: /more than 8388608 bytes/ } });
  t.strictSame(sent, ['c0', 'c2']);
});
