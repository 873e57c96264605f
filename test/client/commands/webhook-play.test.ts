import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';
import type { Test } from 'tap';

import { exampleSecret } from '../../../src/contract/examples.ts';
import { deliveryBytesMax } from '../../../src/contract/events.ts';
import { recordDay } from '../../../src/demo/day.ts';
import { signatureOf } from '../../../src/contract/delivery-request.ts';
import { playDay } from '../../../src/client/webhooks/played-day.ts';
import { recordedDay } from '../../../src/client/webhooks/recorded-day.ts';
import { callCommand } from '../../_command.ts';
import { openTestDatabase } from '../../_server.ts';
import { closed, eventBodyOf, events, strictAjv } from '../../contract/_contract.ts';

const secret = exampleSecret();
const recording = join(import.meta.dirname, '../../../generated/recorded-day.json');

interface Received {
  event: string;
  id: string;
  body: string;
}

/** A request that is genuine, by the rules of the contract; undefined for one that isn't. */
async function genuine(req: IncomingMessage, by = secret): Promise<Received | undefined> {
  let body = '';
  for await (const text of req.setEncoding('utf8') as AsyncIterable<string>) body += text;
  const signature = String(req.headers['service-signature']);
  const at = new Date(Number(/^t=(\d+)/.exec(signature)?.[1]) * 1000);
  const isRecent = Math.abs(Date.now() - at.getTime()) <= 300_000;
  if (!isRecent || signature !== signatureOf(by, body, at)) return undefined;
  return { event: String(req.headers['service-event']), id: String(req.headers['service-delivery']), body };
}

/** Listens until the test ends. */
async function listen(t: Test, answer: RequestListener, port = 0) {
  const server = createServer(answer).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  t.teardown(stop);
  // A server that listens on a port has an address of this shape.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, stop };
}

/** A receiver that does everything right unless `instead` gives another answer to a genuine delivery. */
function receiver(instead: (received: Received, seen: Set<string>) => number | undefined = () => undefined) {
  const received: Received[] = [];
  const seen = new Set<string>();
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const delivery = await genuine(req);
    const status = delivery && (instead(delivery, seen) ?? 204);
    if (delivery) {
      received.push(delivery);
      seen.add(delivery.id);
    }
    res.writeHead(status ?? 401).end();
  };
  return { received, answer: (req: IncomingMessage, res: ServerResponse) => void answer(req, res) };
}

const database = await openTestDatabase('sqlite');
t.teardown(() => database[Symbol.asyncDispose]());
const day = await recordDay(database.engine, new Date('2026-11-23T08:00:00.000Z'));

const play = (to: string, others: Partial<Parameters<typeof playDay>[1]> = {}) =>
  playDay(day, { to, serviceName: 'Acme', secret, ...others });
const problemsOf = (played: Awaited<ReturnType<typeof play>>) =>
  played.flatMap(({ problem }) => problem ?? []);

t.test('a day arrives as webhooks.yaml says, and a right receiver is told so', async (t) => {
  const { received, answer } = receiver();
  const { url } = await listen(t, answer);
  const { exitCode, stdout } = await callCommand(['webhook', 'play', 'day', '--to', url]);
  t.equal(exitCode, 0, stdout);
  // Beside the day: a ping, four forgeries, a duplicate, and the largest delivery there is.
  const sent = `^\n${day.length + 7} requests were sent; the slowest was answered after \\d+ ms`;
  t.match(stdout, new RegExp(`${sent}\\. The receiver did everything right\\.\n`));
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

const wrongReceivers: [fault: string, answer: RequestListener, problems: (string | RegExp)[]][] = [
  [
    'takes everything',
    (_req, res) => res.end(),
    [
      'It took a job.created that has no signature, with 200. Refuse whatever has no Service-Signature, and answer 401.',
      /^It took a job\.created that is signed with another secret, with 200\. /,
      /^It took a job\.created that has one space more than was signed, with 200\. /,
      /^It took a job\.created that was signed ten minutes ago, with 200\. /,
    ],
  ],
  [
    'refuses what it has seen',
    receiver(({ id }, seen) => (seen.has(id) ? 409 : undefined)).answer,
    [
      'It answered a second delivery of a payment.recorded with 409. A delivery can come twice: answer an id that you have kept with a 2xx status, and do nothing else.',
    ],
  ],
  [
    'refuses what is older than what it has',
    receiver(({ event, body }) => (event === 'job.updated' && !body.includes('label_done') ? 422 : undefined))
      .answer,
    [
      'It answered a job.updated that came after a newer one with 422. Order isn’t kept: answer with a 2xx status, and keep the state with the later updatedAt.',
    ],
  ],
  [
    'fails',
    receiver(({ event }) => (event === 'quote.accepted' ? 500 : undefined)).answer,
    [
      'It answered quote.accepted with 500. Only a 2xx status counts as received: the service would send it again, seven times in all.',
    ],
  ],
  [
    'stops at a megabyte',
    receiver(({ body }) => (body.length > 1_048_576 ? 413 : undefined)).answer,
    [
      'It answered a form.submitted of 10,000,000 bytes with 413. A delivery has up to 10,000,000 bytes: set the limit of the receiver, and of what stands before it, to that.',
    ],
  ],
  [
    'hangs up on what is large',
    (req, res) =>
      Number(req.headers['content-length']) > 1_048_576 ? req.destroy() : receiver().answer(req, res),
    [/^It gave no answer to a form\.submitted of 10,000,000 bytes: /],
  ],
  [
    'redirects',
    receiver(({ event }) => (event === 'invoice.paid' ? 308 : undefined)).answer,
    ['It answered invoice.paid with 308. Redirects aren’t followed: give the address to which they lead.'],
  ],
];

for (const [fault, answer, problems] of wrongReceivers) {
  t.test(`a receiver that ${fault} is told so in a sentence`, async (t) => {
    const { url } = await listen(t, answer);
    const found = problemsOf(await play(url));
    t.equal(found.length, problems.length);
    t.match(found, problems);
  });
}

t.test('a receiver that works before it answers is told so', async (t) => {
  const { answer } = receiver();
  const { url } = await listen(t, (req, res) => {
    if (req.headers['service-event'] !== 'invoice.issued') answer(req, res);
  });
  t.strictSame(problemsOf(await play(url, { answerMsMax: 3_000 })), [
    'It didn’t answer invoice.issued in time: keep the delivery, answer within 10 seconds, and work on it later.',
  ]);
});

t.test('a receiver may start again in the middle, and gets what it missed', async (t) => {
  const { received, answer } = receiver();
  const first = await listen(t, answer);
  const port = Number(new URL(first.url).port);
  let isRestarted = false;
  const played = await play(first.url, {
    onPlayed: ({ event }) => {
      if (event !== 'form.submitted' || isRestarted) return;
      isRestarted = true;
      first.stop();
      void pause(400).then(() => listen(t, answer, port));
    },
  });
  t.strictSame(problemsOf(played), []);
  t.ok(played.some(({ attempts }) => attempts > 1));
  t.equal(received.length, day.length + 3);
});

t.test('one that stays away ends the day', async (t) => {
  const { answer } = receiver();
  const { url, stop } = await listen(t, answer);
  const played = await play(url, {
    awayMsMax: 300,
    onPlayed: ({ event }) => {
      if (event === 'form.submitted') stop();
    },
  });
  t.strictSame(problemsOf(played), [
    'It gave no answer to job.updated: nothing listens there (ECONNREFUSED).',
  ]);
  t.equal(played.at(-1)?.status, null);
});

t.test('speed decides how long the day takes', async (t) => {
  const { url } = await listen(t, receiver().answer);
  const begun = performance.now();
  // Nine hours.
  await play(url, { speed: 32_400 });
  t.ok(performance.now() - begun >= 990);
});

t.test('a secret from a file signs, and is never shown', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-secret-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'secret');
  const own = 'whsec_c2VjcmV0IG9mIG15IG93bg==';
  // As an editor on Windows may keep it.
  writeFileSync(file, `\ufeff${own} \r\n\r\n`);
  chmodSync(file, 0o600);
  const { url } = await listen(t, (req, res) => {
    void genuine(req, own).then((delivery) => res.writeHead(delivery ? 204 : 403).end());
  });
  const { exitCode, stdout, stderr } = await callCommand([
    'webhook',
    'play',
    'day',
    '--to',
    url,
    '--secret-file',
    file,
    '--json',
  ]);
  t.equal(exitCode, 0, stderr);
  t.notOk(`${stdout}${stderr}`.includes('c2VjcmV0'));
  t.match(JSON.parse(stdout), {
    deliveries: [{ event: 'ping', status: 204, problem: null }],
    problems: [],
    newest: [{ event: /^job\./ }],
  });
});

t.test('bad input is told in a sentence', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-secret-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'secret');
  writeFileSync(file, 'ZmllbGRsZWRnZXI=');
  const large = join(folder, 'large');
  writeFileSync(large, secret.repeat(2_000));
  const to = ['--to', 'http://127.0.0.1:9/'];
  const cases: [args: string[], exitCode: number, message: RegExp][] = [
    [
      ['day', '--to', 'localhost:3000'],
      1,
      /"localhost:3000" is not an address such as http:\/\/localhost:3000\/hook\./,
    ],
    [
      ['day', ...to],
      1,
      /Nothing can be delivered to "http:\/\/127\.0\.0\.1:9\/": nothing listens there \(ECONNREFUSED\)\./,
    ],
    [
      ['day', ...to, '--secret-file', file],
      1,
      /The secret must be complete, as it was shown: it begins with whsec_\./,
    ],
    [
      ['day', ...to, '--secret-file', join(folder, 'none')],
      1,
      /--secret-file names ".*none", which can't be read \(ENOENT\)\.$/m,
    ],
    [['day', ...to, '--secret-file', folder], 1, /--secret-file names ".*", which is no file\.$/m],
    [
      ['day', ...to, '--secret-file', large],
      1,
      /--secret-file names ".*large", which has more than 65536 bytes\.$/m,
    ],
    [['day', ...to, '--speed', '0'], 2, /It must be a number from 0\.1 to 1000000\./],
    [['night', ...to], 2, /Allowed choices are day\./],
    [['day'], 2, /Required option '--to <url>' not specified/],
  ];
  for (const [args, code, message] of cases) {
    const { exitCode, stderr } = await callCommand(['webhook', 'play', ...args]);
    t.equal(exitCode, code, args.join(' '));
    t.match(stderr, message);
  }
});
