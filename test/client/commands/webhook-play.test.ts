import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { exampleSecret } from '../../../src/contract/examples.ts';
import { deliveryBytesMax } from '../../../src/contract/events.ts';
import { recordDay } from '../../../src/demo/day.ts';
import { playDay } from '../../../src/client/webhooks/played-day.ts';
import { recordedDay } from '../../../src/client/webhooks/recorded-day.ts';
import { callCommand } from '../../_command.ts';
import { openTestDatabase } from '../../_server.ts';
import { closed, eventBodyOf, events, strictAjv } from '../../contract/_contract.ts';
import { listen } from '../_service.ts';
import { receive, receiver } from './_receiver.ts';

const secret = exampleSecret();
const recording = join(import.meta.dirname, '../../../generated/recorded-day.json');

const database = await openTestDatabase('sqlite');
t.teardown(() => database[Symbol.asyncDispose]());
const day = await recordDay(database.engine, new Date('2026-11-23T08:00:00.000Z'));

/** Without its form, after which the largest delivery comes, the day takes a tenth of the time. */
const smallDay = day.filter(({ event }) => event !== 'form.submitted');

const play = (to: string, others: Partial<Parameters<typeof playDay>[1]> = {}, story = smallDay) =>
  playDay(story, { to, serviceName: 'Acme', secret, ...others });
const problemsOf = (played: Awaited<ReturnType<typeof play>>) =>
  played.flatMap(({ problem }) => problem ?? []);

t.test('a day arrives as webhooks.yaml says, and a right receiver is told so', async (t) => {
  const { received, url } = await receive(t);
  const { exitCode, stdout } = await callCommand(['webhook', 'play', 'day', '--to', url]);
  t.equal(exitCode, 0, stdout);
  // Beside the day: a ping, six forgeries, a duplicate, and the largest delivery there is.
  const sent = `^\n${day.length + 9} requests were sent; the slowest was answered after \\d+ ms`;
  t.match(stdout, new RegExp(`${sent}\\. The receiver answered all of them right\\.\n`));
  const again = received.find(({ id }, index) => received.findIndex((one) => one.id === id) < index);
  t.match(
    stdout,
    `Answers don’t show what it did:\n- payment.recorded came twice, as ${again?.id}: it must have had its effect once.`,
    'whether it worked twice isn’t seen here',
  );
  t.match(stdout, /^ {2}invoice\.paid +2\d{3}-\S+Z {2}[0-9a-f-]{36}$/m);
  const ajv = strictAjv();
  for (const { event, id, body } of received) {
    const schema = events.find(({ kind }) => kind === event);
    t.ok(
      schema && ajv.validate(closed(eventBodyOf(schema).schema), JSON.parse(body)),
      `${event} ${ajv.errorsText()}`,
    );
    t.match(JSON.parse(body), { id, event });
  }
  t.equal(
    Math.max(...received.map(({ body }) => Buffer.byteLength(body))),
    deliveryBytesMax,
    'one is as large as any can be',
  );
  t.strictSame(
    [...new Set(received.map(({ event }) => event))].sort(),
    events.map(({ kind }) => kind).sort(),
    'every event there is',
  );
  t.equal(received.length, new Set(received.map(({ id }) => id)).size + 1, 'one of them twice');
  const updates = received.flatMap(({ event, body }) =>
    event === 'job.updated' ? [(JSON.parse(body) as { data: { updatedAt: string } }).data.updatedAt] : [],
  );
  const isOld = updates.some((updatedAt, index) => updatedAt < (updates[index - 1] ?? ''));
  t.ok(isOld, 'an old state after a new one');
});

t.test('the recorded day is what the back office records today', (t) => {
  const recorded = JSON.parse(readFileSync(recording, 'utf8')) as object[];
  const written = day.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) as object }));
  t.strictSame(recorded, written, '"npm run generate:day" writes it');
  t.end();
});

t.test('a day is played as the last one that is over, each time with other ids and numbers', (t) => {
  const NEW = /INV-[\d-]+|[0-9a-f]{8}-[0-9a-f-]{27}/g;
  const [first, second] = ['2027-01-03T16:59:59.999Z', '2027-01-03T17:00:01.000Z'].map((now) =>
    JSON.stringify(recordedDay(new Date(now))),
  );
  t.strictSame(
    first?.match(NEW)?.filter((id) => second?.includes(id)),
    [],
  );
  t.equal(first?.match(NEW)?.length, JSON.stringify(day).match(NEW)?.length);
  t.match(first, /"issueDate\\":\\"2027-01-02\\".*"dueDate\\":\\"2027-02-01\\"/);
  t.match(second, /"issuedAt\\":\\"2027-01-03T12:55:00\.000Z\\"/);
  t.match(second, /"number\\":\\"INV-2027-\d+\\"/);
  const ids = recordedDay(new Date()).map(({ id }) => id);
  t.strictSame(ids, ids.toSorted());
  t.end();
});

const wrongReceivers: [fault: string, instead: Parameters<typeof receiver>[0], problem: string][] = [
  [
    'refuses what it has seen',
    ({ id }, received) => (received.some((earlier) => earlier.id === id) ? 409 : undefined),
    'It answered a second delivery of a payment.recorded with 409. A delivery can come twice: answer an id that you have kept with a 2xx status, and do nothing else.',
  ],
  [
    'refuses what is older than what it has',
    ({ event, body }) => (event === 'job.updated' && !body.includes('label_done') ? 422 : undefined),
    'It answered a job.updated that came after a newer one with 422. Order isn’t kept: answer with a 2xx status, and keep the state with the later updatedAt.',
  ],
  [
    'fails',
    ({ event }) => (event === 'quote.accepted' ? 500 : undefined),
    'It answered quote.accepted with 500. Only a 2xx status counts as received: the service would send it again, seven times in all.',
  ],
  [
    'redirects',
    ({ event }) => (event === 'invoice.paid' ? 308 : undefined),
    'It answered invoice.paid with 308. Redirects aren’t followed: give the address to which they lead.',
  ],
  [
    'stops at a megabyte',
    ({ body }) => (body.length > 1_048_576 ? 413 : undefined),
    'It answered a form.submitted of 10,000,000 bytes with 413. A delivery has up to 10,000,000 bytes: set the limit of the receiver, and of any proxy in front of it, to that.',
  ],
];

for (const [fault, instead, problem] of wrongReceivers) {
  t.test(`a receiver that ${fault} is told so in a sentence`, async (t) => {
    const { url } = await receive(t, instead);
    t.strictSame(problemsOf(await play(url, {}, problem.includes('form.submitted') ? day : smallDay)), [
      problem,
    ]);
  });
}

t.test('a receiver that takes everything is told which forgeries it took', async (t) => {
  const { url } = await listen(t, (_req, res) => res.end());
  const problems = problemsOf(await play(url));
  t.equal(problems.length, 6);
  t.match(problems, [
    'It took a job.created that has no signature, with 200. Refuse whatever has no Service-Signature, and answer 401.',
    /^It took a job\.created that is signed with another secret, with 200\. /,
    /^It took a job\.created that has one wrong digit in the middle of its signature, with 200\. /,
    /^It took a job\.created that has one space more than was signed, with 200\. /,
    /^It took a job\.created that was signed ten minutes ago, with 200\. /,
    /^It took a job\.created that is signed as if in ten minutes, with 200\. /,
  ]);
});

t.test('a receiver that looks at a part of the signature, or at the past alone, is told so', async (t) => {
  const clock = 'Refuse a t that is more than five minutes from your clock, on either side, and answer 401.';
  const digits = 'Compare all 64 digits of v1, in constant time, and answer 401.';
  const careless: [looksAt: (v1: string) => string, secondsAhead: number, problem: string][] = [
    [(v1) => v1.slice(0, 8), 300, `has one wrong digit in the middle of its signature, with 204. ${digits}`],
    [(v1) => v1.slice(0, 32), 300, `has one wrong digit in the middle of its signature, with 204. ${digits}`],
    [(v1) => v1.slice(-8), 300, `has one wrong digit in the middle of its signature, with 204. ${digits}`],
    [(v1) => v1, Infinity, `is signed as if in ten minutes, with 204. ${clock}`],
  ];
  for (const [looksAt, secondsAhead, problem] of careless) {
    const answer = async (req: IncomingMessage, res: ServerResponse) => {
      const [, time = '', v1 = ''] = /^t=(\d+),v1=(.*)/.exec(String(req.headers['service-signature'])) ?? [];
      const expected = createHmac('sha256', secret)
        .update(`${time}.${await text(req)}`)
        .digest('hex');
      const ahead = Number(time) - Date.now() / 1000;
      const isTaken = looksAt(v1) === looksAt(expected) && ahead > -300 && ahead < secondsAhead;
      res.writeHead(isTaken ? 204 : 401).end();
    };
    const { url } = await listen(t, (req, res) => void answer(req, res));
    t.strictSame(problemsOf(await play(url)), [`It took a job.created that ${problem}`]);
  }
});

t.test('a receiver that hangs up on what is large is told so', async (t) => {
  const { listener } = receiver();
  const { url } = await listen(t, (req, res) => {
    if (Number(req.headers['content-length']) > 1_048_576) req.destroy();
    else listener(req, res);
  });
  const problems = problemsOf(await play(url, {}, day));
  t.equal(problems.length, 1);
  t.match(problems[0], /^It gave no answer to a form\.submitted of 10,000,000 bytes: /);
});

t.test('a receiver that works before it answers is told so', async (t) => {
  const { listener } = receiver();
  const { url } = await listen(t, (req, res) => {
    if (req.headers['service-event'] !== 'invoice.issued') listener(req, res);
  });
  t.strictSame(problemsOf(await play(url, { answerMsMax: 1_500 })), [
    'It didn’t answer invoice.issued in time: keep the delivery, answer within 10 seconds, and work on it later.',
  ]);
});

t.test('a receiver may start again in the middle, and gets what it missed', async (t) => {
  const { received, listener, url, port, stop } = await receive(t);
  let isRestarted = false;
  const onPlayed = ({ event }: { event: string }) => {
    if (event !== 'quote.accepted' || isRestarted) return;
    isRestarted = true;
    stop();
    void pause(400).then(() => listen(t, listener, port));
  };
  const played = await play(url, { onPlayed });
  t.strictSame(problemsOf(played), []);
  t.ok(played.some(({ attempts }) => attempts > 1));
  t.equal(received.length, smallDay.length + 2, 'with a ping and a duplicate');
});

t.test('one that stays away ends the day', async (t) => {
  const { url, stop } = await receive(t);
  const onPlayed = ({ event }: { event: string }) => {
    if (event === 'form.submitted') stop();
  };
  const played = await play(url, { awayMsMax: 300, onPlayed }, day);
  t.strictSame(problemsOf(played), [
    'It gave no answer to job.updated: nothing listens there (ECONNREFUSED).',
  ]);
  t.equal(played.at(-1)?.status, null);
});

t.test('speed decides how long the day takes', async (t) => {
  const { url } = await receive(t);
  const begun = performance.now();
  // Nine hours.
  await play(url, { speed: 64_800 });
  t.ok(performance.now() - begun >= 490);
});

t.test('bad input is told in a sentence, and with --json the outcome is one value', async (t) => {
  const to = ['--to', 'http://127.0.0.1:9/'];
  const cases: [args: string[], exitCode: number, message: RegExp][] = [
    [
      ['day', ...to],
      1,
      /Nothing can be delivered to "http:\/\/127\.0\.0\.1:9\/": nothing listens there \(ECONNREFUSED\)\./,
    ],
    [['day', ...to, '--speed', '0'], 2, /It must be a number from 0\.1 to 1000000\./],
    [['night', ...to], 2, /Allowed choices are day\./],
  ];
  for (const [args, exitCode, stderr] of cases)
    t.match(await callCommand(['webhook', 'play', ...args]), { exitCode, stderr }, args.join(' '));
  const { url } = await receive(t);
  const { stdout } = await callCommand(['webhook', 'play', 'day', '--to', url, '--json']);
  t.match(JSON.parse(stdout), {
    deliveries: [{ event: 'ping', status: 204, problem: null }],
    problems: [],
    newest: [{ event: /^job\./ }],
  });
});
