import { execFile } from 'node:child_process';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { TlsOptions } from 'node:tls';
import { promisify } from 'node:util';

import t, { type Test } from 'tap';

import { type AttemptError, attemptErrorTexts } from '../../../src/server/sending/attempt-errors.ts';
import { createWebhookSender } from '../../../src/server/sending/sender.ts';
import { until } from '../../_command.ts';
import { type Behaviour, behaviours, sendHuge } from '../features/webhooks/deliveries/_behaviours.ts';
import { createAuthority } from './_certificates.ts';
import { type Dial, watchDials } from './_dialled.ts';
import type { Errand, Report } from './_lone-sender.ts';
import {
  authority,
  HOST,
  type Receiver,
  startHttpsReceiver,
  startTcpReceiver,
  startTlsReceiver,
} from './_receivers.ts';
import { DEADLINE_MS, requestTo, senderTo } from './_senders.ts';

/** A whole answer without a body. */
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

t.test('the receiver gets exactly what is described', async (t) => {
  let head = '';
  await using receiver = await startTlsReceiver((socket) => {
    socket.on('data', (part: Buffer) => {
      head += part.toString();
      if (head.endsWith('}')) socket.write(EMPTY);
    });
  });
  await using sender = senderTo(receiver);
  await sender.send(
    requestTo({ url: `https://${HOST}/hook/a%20b?c=d&e=%C3%A9`, body: '{"title":"Größe 🔧"}' }),
  );
  t.strictSame(head.split('\r\n'), [
    'POST /hook/a%20b?c=d&e=%C3%A9 HTTP/1.1',
    `Host: ${HOST}`,
    'Content-Type: application/json',
    'User-Agent: Fieldledger-Webhooks/1',
    'Service-Event: ping',
    'Content-Length: 24',
    'Connection: keep-alive',
    '',
    '{"title":"Größe 🔧"}',
  ]);
});

t.test('redirects are not followed, and no header of an answer is heeded', async (t) => {
  for (const status of [200, 301, 302, 303, 307, 308]) {
    const dialled = watchDials(t);
    const seen: IncomingHttpHeaders[] = [];
    await using receiver = await startHttpsReceiver((request, response) => {
      seen.push(request.headers);
      const elsewhere = 'https://169.254.169.254/';
      response
        .writeHead(status, {
          'Content-Length': 0,
          Location: elsewhere,
          Refresh: `0; url=${elsewhere}`,
          'Alt-Svc': 'h3="169.254.169.254:443"',
          'Set-Cookie': 'a=b; Domain=example.com',
        })
        .end();
    });
    await using sender = senderTo(receiver);
    const result = await sender.send(requestTo());
    t.equal(result.status, status);
    await sender.send(requestTo());
    t.equal(dialled.length, 1);
    t.strictSame(
      seen.map(({ cookie }) => cookie),
      [undefined, undefined],
    );
  }
});

t.test('a request that can’t be sent is a failed attempt, never an exception', async (t) => {
  const dialled = watchDials(t);
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await using sender = senderTo(receiver);
  const addresses = [`http://${HOST}/`, `https://${HOST}:8443/`, `https://a:b@${HOST}/`];
  for (const url of ['', 'hook', ...addresses, 'https://localhost/'])
    t.match(await sender.send(requestTo({ url })), { status: null, error: 'refused' }, url);
  const request = requestTo();
  t.match(await sender.send({ ...request, headers: { 'Service-Event': 'a\r\nb: c' } }), {
    error: 'protocol',
  });
  t.equal(dialled.length, 0);
  await using broken = senderTo(receiver, {
    isCallable: () => {
      throw new Error('The rule fails.');
    },
  });
  t.match(await broken.send(request), { status: null, error: 'protocol' });
});

t.test('a sender without a name server of a test doesn’t call this machine', async (t) => {
  const dialled = watchDials(t);
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await using sender = createWebhookSender({
    resolve: async () => ['127.0.0.1'],
    ca: authority.ca,
    port: receiver.port,
  });
  t.match(await sender.send(requestTo()), { status: null, error: 'refused' });
  t.equal(dialled.length, 0);
});

t.test('every class of error has one text, which names nothing', async (t) => {
  t.equal(new Set(Object.values(attemptErrorTexts)).size, 9);
  for (const text of Object.values(attemptErrorTexts)) t.match(text, /^[A-Z][\w ,:/.]+\.$/);
});

t.test('an attempt ends after 10 seconds', async (t) => {
  await using receiver = await startTcpReceiver((socket) => socket.resume());
  await using sender = createWebhookSender({
    resolve: async () => ['127.0.0.1'],
    isCallable: () => true,
    port: receiver.port,
  });
  const dialled = watchDials(t);
  const timers: { act: () => void; ms: number }[] = [];
  const undo = t.intercept(globalThis, 'setTimeout', {
    value: (act: () => void, ms: number) => void timers.push({ act, ms }),
  });
  const sent = sender.send(requestTo());
  undo.restore();
  t.match(timers, [{ ms: 10_000 }]);
  await until(() => dialled.some(({ socket }) => !socket.connecting));
  timers[0]?.act();
  t.match(await sent, { error: 'timeout', phases: { tls: Number } });
});

t.test('neither the environment nor the command line of Node has a say', async (t) => {
  await using proxy = await startTcpReceiver((socket) => socket.destroy());
  const address = `http://127.0.0.1:${proxy.port}`;
  const environment = {
    HTTPS_PROXY: address,
    https_proxy: address,
    HTTP_PROXY: address,
    ALL_PROXY: address,
    NODE_USE_ENV_PROXY: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_OPTIONS:
      '--tls-min-v1.0 --tls-cipher-list=DEFAULT:@SECLEVEL=0 --max-http-header-size=200000 --insecure-http-parser --no-warnings',
  };
  await using stack = new AsyncDisposableStack();
  const say = async (text: string, options: TlsOptions = {}) =>
    stack.use(await startTlsReceiver((socket) => void socket.once('data', () => socket.end(text)), options));
  const healthy = await say(EMPTY);
  // Options of Node would change the answer from each of them.
  const receivers = [
    await say(EMPTY, createAuthority().issue({ names: [HOST] })),
    await say(EMPTY, { ...old, minVersion: 'TLSv1', maxVersion: 'TLSv1' }),
    await say(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`),
    await say('HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n'),
  ];
  const { results } = await sendAlone(healthy, [healthy, ...receivers], { count: 1, environment });
  t.strictSame(results, [200, 'tls', 'tls', 'protocol', 'protocol']);
  t.equal(proxy.connectionCount(), 0);
});

t.test('64 answers without an end at once cost no memory', async (t) => {
  await using healthy = await startHttpsReceiver((_request, response) => response.end('ok'));
  await using receiver = await startTlsReceiver(sendHuge);
  const { results, grownBytes } = await sendAlone(healthy, [receiver], { count: 64 });
  t.strictSame([...new Set(results)], [200]);
  t.ok(grownBytes < 20_000_000, `${grownBytes} bytes`);
});

/** Makes attempts from a process of their own. */
async function sendAlone(
  healthy: Receiver,
  receivers: readonly Receiver[],
  { count, environment = {} }: { count: number; environment?: Record<string, string> },
): Promise<Report> {
  const ports = receivers.map(({ port }) => port);
  const errand: Errand = { ca: authority.ca, warmUpPort: healthy.port, ports, count };
  const program = join(import.meta.dirname, '_lone-sender.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(errand)], {
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    timeout: 60_000,
  });
  return JSON.parse(stdout) as Report;
}

/** OpenSSL speaks versions as old as these at this level only. */
const old: TlsOptions = { ciphers: 'DEFAULT:@SECLEVEL=0' };
const other = authority.issue({ names: ['other.example.com'] });
const expired = authority.issue({ names: [HOST], notAfter: new Date(Date.now() - 60_000) });
const unknown = createAuthority().issue({ names: [HOST] });
const wildcard = authority.issue({ names: ['*.example.com'] });
const bare = authority.issue({ names: [] });

const cases: readonly [name: string, options: TlsOptions, expected: number | AttemptError][] = [
  ['a certificate of its name', {}, 200],
  ['a certificate of all names beside it', wildcard, 200],
  ['TLS 1.2 only', { maxVersion: 'TLSv1.2' }, 200],
  ['TLS 1.3 only', { minVersion: 'TLSv1.3' }, 200],
  ['a certificate of another name', other, 'tls'],
  ['a certificate of no name', bare, 'tls'],
  ['a certificate that has expired', expired, 'tls'],
  ['a certificate of an unknown authority', unknown, 'tls'],
  ['TLS 1.1 only', { ...old, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }, 'tls'],
  ['TLS 1.0 only', { ...old, minVersion: 'TLSv1', maxVersion: 'TLSv1' }, 'tls'],
  ['HTTP/2 only', { ALPNProtocols: ['h2'] }, 'protocol'],
  ['HTTP/2 and HTTP/1.1', { ALPNProtocols: ['h2', 'http/1.1'] }, 200],
];

for (const [name, options, expected] of cases) {
  t.test(`${expected} from a receiver with ${name}`, async (t) => {
    let received = '';
    await using receiver = await startTlsReceiver((socket) => {
      t.equal(socket.servername, HOST);
      socket.on('data', (part: Buffer) => {
        received += part.toString();
        if (received.endsWith('}')) socket.write(EMPTY);
      });
    }, options);
    await using sender = senderTo(receiver);
    const result = await sender.send(requestTo());
    if (typeof expected === 'number') t.match(result, { status: expected, error: null });
    else t.match(result, { status: null, error: expected, phases: { tls: Number, firstByte: null } });
    t.equal(received.startsWith('POST'), expected === 200, 'who isn’t trusted gets no byte of the request');
    await sender[Symbol.asyncDispose]();
    await receiver.deserted();
  });
}

t.test('tls from a receiver that speaks HTTP without TLS, or hangs up instead of a handshake', async (t) => {
  for (const behave of [
    (socket: Socket) => socket.resume().write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    (socket: Socket) => socket.once('data', () => socket.destroy()),
  ]) {
    await using receiver = await startTcpReceiver(behave);
    await using sender = senderTo(receiver);
    t.match(await sender.send(requestTo()), { status: null, error: 'tls' });
    await receiver.deserted();
  }
});

t.test('timeout from a receiver that never begins its handshake', async (t) => {
  await using receiver = await startTcpReceiver((socket) => socket.resume());
  await using sender = senderTo(receiver, { deadlineMs: DEADLINE_MS });
  const result = await sender.send(requestTo());
  t.match(result, { status: null, error: 'timeout', phases: { tls: Number, firstByte: null } });
  t.ok(result.totalMs >= DEADLINE_MS - 5, `after ${result.totalMs} ms`);
  await receiver.deserted();
});

/** Makes so many attempts at once, and looks at what comes of each, and whether it leaves a connection behind. */
async function attempt(
  t: Test,
  [name, behave, expected]: Behaviour,
  { body, count, dialled }: { body: string; count: number; dialled: Dial[] },
): Promise<void> {
  await using receiver = await startTlsReceiver(behave);
  await using sender = senderTo(receiver, expected === 'timeout' ? { deadlineMs: DEADLINE_MS } : {});
  const send = async () => {
    const startedAt = performance.now();
    const result = await sender.send(requestTo({ body }));
    const heldMs = performance.now() - startedAt;
    // The slow body would take 50 seconds.
    t.ok(heldMs < result.totalMs + 5_000, `${name}: its slot was free after ${heldMs} ms`);
    const [status, error] = typeof expected === 'number' ? [expected, null] : [null, expected];
    t.match(result, { status, error }, `a receiver that ${name}`);
  };
  await Promise.all(Array.from({ length: count }, send));
  await closed(dialled);
}

/** More than the system takes before the receiver reads. */
const LONG_BODY = 'x'.repeat(8_000_000);

t.test('whatever receivers do, an attempt has a status or an error, and leaves nothing', async (t) => {
  const dialled = watchDials(t);
  await Promise.all(behaviours.map((one) => attempt(t, one, { body: '{}', count: 4, dialled })));
  t.equal(dialled.length, 4 * behaviours.length);
  for (const one of behaviours) await attempt(t, one, { body: LONG_BODY, count: 1, dialled });
});

/** None of the receivers leaves a connection that can be kept. */
const closed = (dialled: readonly Dial[]) => until(() => dialled.every(({ socket }) => socket.destroyed));
