import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';

import t, { type Test } from 'tap';

import type { SenderOptions } from '../../../src/server/sending/sender.ts';
import { type Dial, watchDials } from './_dialled.ts';
import { authority, HOST, startHttpsReceiver, startTlsReceiver } from './_receivers.ts';
import { DEADLINE_MS, requestTo, senderTo } from './_senders.ts';

const isCallable = (address: string) => address.startsWith('127.') || address === '::1';
const addresses = (count: number) => Array.from({ length: count }, (_value, index) => `127.0.1.${index + 1}`);

/** A receiver that keeps connections, and a sender to it. */
async function start(
  t: Test,
  answer: (response: ServerResponse) => void = (response) => response.end('ok'),
  options: SenderOptions = {},
) {
  const stack = new AsyncDisposableStack();
  t.teardown(() => stack.disposeAsync());
  const receiver = stack.use(await startHttpsReceiver((_request, response) => answer(response)));
  const sender = stack.use(senderTo(receiver, options));
  const send = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => sender.send(requestTo())));
  return { receiver, sender, send, dialled: watchDials(t) };
}

/** The same whose name has these addresses, all of which may be called. */
const startAt = (t: Test, found: readonly string[]) =>
  start(t, undefined, { isCallable, resolve: async () => [...found] });

const done = { status: 200, error: null };

const openCount = (dialled: readonly Dial[]) => dialled.filter(({ socket }) => !socket.destroyed).length;

t.test('an address that refuses is followed by the next', async (t) => {
  const { send, dialled } = await startAt(t, [...addresses(3), '127.0.0.1']);
  t.match(await send(1), [done]);
  t.equal(dialled.length, 4);
});

t.test('at the second address the certificate has to be of the name too', async (t) => {
  const resolve = async () => [...addresses(1), '127.0.0.1'];
  for (const name of [HOST, 'other.example.com']) {
    let received = '';
    await using receiver = await startTlsReceiver(
      (socket) => {
        t.equal(socket.servername, HOST);
        socket.on('data', (part: Buffer) => {
          received += part.toString();
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
        });
      },
      authority.issue({ names: [name] }),
    );
    await using sender = senderTo(receiver, { isCallable, resolve });
    t.match(await sender.send(requestTo()), name === HOST ? done : { status: null, error: 'tls' });
    t.equal(received.startsWith('POST'), name === HOST);
  }
});

t.test('of 100 addresses 16 are tried', async (t) => {
  const { send, dialled } = await startAt(t, [...addresses(99), '127.0.0.1']);
  t.match(await send(1), [{ status: null, error: 'connect', phases: { tls: null } }]);
  t.strictSame([dialled.length, openCount(dialled)], [16, 0]);
  const { send: sendByIpv6 } = await startAt(t, ['::1']);
  t.match(await sendByIpv6(1), [{ status: null, error: 'connect' }], 'one of IPv6 leads nowhere');
});

t.test('a name with more than 128 addresses is not looked at', async (t) => {
  for (const count of [128, 129, 4_000]) {
    let looks = 0;
    const { send, dialled } = await start(t, undefined, {
      isCallable: () => (looks += 1) < count,
      resolve: async () =>
        Array.from({ length: count }, (_value, index) => `127.1.${index >> 8}.${index & 255}`),
    });
    const error = count > 128 ? 'dns' : 'refused';
    t.match(await send(1), [{ status: null, error, phases: { connect: null } }]);
    t.strictSame([looks, dialled.length], [count > 128 ? 0 : count, 0]);
  }
});

t.test('the address is looked at again when the connection stands', async (t) => {
  const looks: string[] = [];
  const { send, dialled } = await start(t, undefined, { isCallable: (address) => looks.push(address) === 1 });
  t.match(await send(1), [{ status: null, error: 'refused', phases: { tls: null } }]);
  t.strictSame(looks, ['127.0.0.1', '127.0.0.1']);
  t.equal(openCount(dialled), 0);
});

t.test('an address that says nothing', async (t) => {
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await startBlackHole(t, '127.0.0.2', receiver.port);

  await t.test('costs the deadline when it is the only one', async (t) => {
    const dialled = watchDials(t);
    const resolve = async () => ['127.0.0.2'];
    await using sender = senderTo(receiver, { isCallable, resolve, deadlineMs: DEADLINE_MS });
    t.match(await sender.send(requestTo()), { error: 'timeout', phases: { connect: Number, tls: null } });
    t.ok(dialled.every(({ socket }) => socket.destroyed));
  });

  await t.test('is followed by the next while there is time', async (t) => {
    const resolve = async () => ['127.0.0.2', '127.0.0.1'];
    await using sender = senderTo(receiver, { isCallable, resolve });
    t.match(await sender.send(requestTo()), { status: 200 });
  });
});

/** An address that drops whatever asks for a connection: a thread that listens there never accepts one. */
async function startBlackHole(t: Test, host: string, port: number): Promise<void> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const server = require('node:net').createServer().listen({ ...workerData, backlog: 1 }, () => {
      parentPort.postMessage('listening');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20_000);
    });`;
  const thread = new Worker(code, { eval: true, workerData: { host, port } });
  await once(thread, 'message');
  const waiting: Socket[] = [];
  t.teardown(async () => {
    for (const socket of waiting) socket.destroy();
    await thread.terminate();
  });
  // Until the queue of those that wait to be accepted is full, and drops the next.
  for (let isFull = false; !isFull; isFull = waiting.at(-1)?.connecting === true) {
    t.ok(waiting.length < 20, 'the queue fills');
    waiting.push(connect(port, host).on('error', () => undefined));
    await wait(100);
  }
}

t.test('a second delivery goes over the same connection, and has no phase but the last', async (t) => {
  const { receiver, send } = await start(t);
  t.match(await send(1), [{ ...done, phases: { connect: Number, tls: Number } }]);
  t.match(await send(1), [{ ...done, phases: { dns: null, connect: null, tls: null, firstByte: Number } }]);
  t.equal(receiver.connectionCount(), 1);
});

t.test('a connection is kept when the length of the answer is known and short', async (t) => {
  const answers: [status: number, length: number | undefined, isKept: boolean][] = [
    [500, 2, true],
    [200, 16_384, true],
    [200, 16_385, false],
    [200, undefined, false],
  ];
  for (const [status, length, isKept] of answers) {
    const { receiver, send } = await start(t, (response) => {
      response.writeHead(status, length === undefined ? {} : { 'Content-Length': length });
      response.end('x'.repeat(length ?? 2));
    });
    await send(1);
    t.match(await send(1), [{ status, error: null }]);
    t.equal(receiver.connectionCount(), isKept ? 1 : 2, `${status} with ${length} bytes`);
  }
});

t.test('connections belong to a host name, even where two names share an address', async (t) => {
  const { receiver, sender } = await start(t);
  for (const name of ['a', 'b', 'a', 'b']) {
    t.match(await sender.send(requestTo({ url: `https://${name}.example.net/` })), done);
  }
  t.equal(receiver.connectionCount(), 2);
});

t.test('64 connections are kept for a host', async (t) => {
  const { receiver, send, dialled } = await start(t);
  await send(80);
  t.equal(openCount(dialled), 64, 'the others are closed at once');
  await send(64);
  t.equal(receiver.connectionCount(), 80);
});

t.test('a receiver that answers at once is called over one connection a slot', async (t) => {
  const { receiver, sender } = await start(t);
  const slot = async () => {
    for (let count = 0; count < 100; count += 1) await sender.send(requestTo());
  };
  await Promise.all([slot(), slot(), slot(), slot()]);
  t.equal(receiver.connectionCount(), 4);
});

t.test('256 connections are kept in all', async (t) => {
  const hosts = Array.from({ length: 40 * 8 }, (_value, index) => `h${index % 40}.example.net`);
  const waiting: ServerResponse[] = [];
  // All are answered at once: on a slow machine the first would otherwise be idle for too long before the last is open.
  const { sender, dialled } = await start(t, (response) => {
    waiting.push(response);
    if (waiting.length === hosts.length) for (const one of waiting) one.end('ok');
  });
  const attempts = hosts.map(async (host) => sender.send(requestTo({ url: `https://${host}/` })));
  for (const result of await Promise.all(attempts)) t.match(result, done);
  t.equal(openCount(dialled), 256, 'the others are closed at once');
});

t.test('an idle connection is closed after 4 seconds, or sooner if the receiver says so', async (t) => {
  for (const [keepAlive, idleMs] of [
    [{}, 4_000],
    [{ 'Keep-Alive': 'timeout=2' }, 1_000],
    [{ 'Keep-Alive': 'timeout=1' }, undefined],
  ] as const) {
    const { receiver, send, dialled } = await start(t, (response) => {
      response.writeHead(200, { 'Content-Length': 0, ...keepAlive }).end();
    });
    await send(1);
    const [kept] = dialled.map(({ socket }) => socket);
    t.equal(kept?.destroyed ? undefined : kept?.timeout, idleMs);
    kept?.emit('timeout');
    await receiver.deserted();
  }
});

t.test('a connection is given up after a minute, however busy it is', async (t) => {
  const { receiver, send, dialled } = await start(t);
  let nowMs = 0;
  t.intercept(performance, 'now', { value: () => nowMs });
  await send(1);
  for (nowMs of [60_000, 60_001]) {
    t.match(await send(1), [{ ...done, phases: { connect: null } }]);
    t.equal(openCount(dialled), nowMs > 60_000 ? 0 : 1, 'and then it is closed at once');
  }
  await receiver.deserted();
  t.match(await send(1), [{ ...done, phases: { connect: Number } }]);
});

t.test('a kept connection that the receiver has closed is no failed attempt', async (t) => {
  const { receiver, send } = await start(t);
  await send(4);
  // The sender can't know it yet: this process hasn't listened to the network since.
  receiver.hangUp();
  t.match(await send(1), [done]);
  t.equal(receiver.connectionCount(), 5);
});

t.test('a kept connection whose end is noticed while it is chosen is no failed attempt', async (t) => {
  const { receiver, send } = await start(t);
  const kept: TLSSocket[] = [];
  // Node's agent asks this of every connection that it keeps.
  t.intercept(TLSSocket.prototype, 'setKeepAlive', {
    value(this: TLSSocket) {
      kept.push(this);
    },
  });
  await send(2);
  // As Node does it when the end arrives, in the turn in which the connection is chosen: the pool is told after it.
  setImmediate(() => setImmediate(() => kept.at(-1)?.destroy()));
  t.match(await send(1), [{ ...done, phases: { connect: null } }]);
  t.equal(receiver.connectionCount(), 2, 'the other one that is kept was taken');
});

t.test('a kept connection that says nothing more costs the deadline, and is closed', async (t) => {
  let answers = 1;
  const answerOnce = (response: ServerResponse) => {
    if (answers > 0) response.end();
    answers -= 1;
  };
  const { receiver, send, dialled } = await start(t, answerOnce, { deadlineMs: DEADLINE_MS });
  t.match(await send(1), [done]);
  t.match(await send(1), [{ error: 'timeout', phases: { connect: null, firstByte: Number } }]);
  t.equal(openCount(dialled), 0, 'at once');
  await receiver.deserted();
});

t.test('an unasked answer of a receiver is no answer to the next delivery', async (t) => {
  const answer = (status: number) => `HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`;
  for (const isAtOnce of [true, false]) {
    await using receiver = await startTlsReceiver((socket) => {
      socket.once('data', () => {
        socket.write(isAtOnce ? answer(500) + answer(200) : answer(500));
        if (!isAtOnce) setTimeout(() => socket.write(answer(200)), 20);
      });
    });
    await using sender = senderTo(receiver);
    t.match(await sender.send(requestTo()), { status: 500 });
    await receiver.deserted();
    t.match(await sender.send(requestTo()), { status: 500 });
    t.equal(receiver.connectionCount(), 2);
  }
});

t.test('disposing waits for what is under way, and closes what is kept', async (t) => {
  const responses: ServerResponse[] = [];
  const { receiver, sender, dialled } = await start(t, (response) => void responses.push(response));
  const attempt = sender.send(requestTo());
  while (responses.length === 0) await wait(1);
  const disposed = sender[Symbol.asyncDispose]();
  responses[0]?.end();
  t.match(await attempt, done);
  await disposed;
  t.equal(openCount(dialled), 0, 'at once');
  await receiver.deserted();
});
