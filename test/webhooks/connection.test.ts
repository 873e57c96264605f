import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import t from 'tap';
import type { Test } from 'tap';

import { watchDials } from './_dialled.ts';
import { startHttpsReceiver } from './_receivers.ts';
import { DEADLINE_MS, requestTo, senderTo } from './_senders.ts';

const isCallable = (address: string) => address.startsWith('127.') || address === '::1';
const addresses = (count: number) => Array.from({ length: count }, (_value, index) => `127.0.1.${index + 1}`);

t.test('an address that refuses is followed by the next', async (t) => {
  const dialled = watchDials(t);
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await using sender = senderTo(receiver, {
    isCallable,
    resolve: async () => [...addresses(3), '127.0.0.1'],
  });
  t.match(await sender.send(requestTo()), { status: 200 });
  t.equal(dialled.length, 4);
});

t.test('of 100 addresses 16 are tried', async (t) => {
  const dialled = watchDials(t);
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await using sender = senderTo(receiver, {
    isCallable,
    resolve: async () => [...addresses(99), '127.0.0.1'],
  });
  t.match(await sender.send(requestTo()), { status: null, error: 'connect', phases: { tls: null } });
  t.equal(dialled.length, 16);
  t.ok(dialled.every(({ destroyed }) => destroyed));
});

t.test('a name with thousands of addresses is not looked at', async (t) => {
  const dialled = watchDials(t);
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  let looks = 0;
  await using sender = senderTo(receiver, {
    isCallable: (address) => (looks += 1) > 0 && isCallable(address),
    resolve: async () =>
      Array.from({ length: 4_000 }, (_value, index) => `127.1.${index >> 8}.${index & 255}`),
  });
  t.match(await sender.send(requestTo()), { status: null, error: 'dns', phases: { connect: null } });
  t.strictSame([looks, dialled.length], [0, 0]);
});

t.test('connect when the only address is one of IPv6 that leads nowhere', async (t) => {
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await using sender = senderTo(receiver, { isCallable, resolve: async () => ['::1'] });
  t.match(await sender.send(requestTo()), { status: null, error: 'connect' });
});

t.test('the address is looked at again when the connection stands', async (t) => {
  const dialled = watchDials(t);
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  const looks: string[] = [];
  await using sender = senderTo(receiver, {
    isCallable: (address) => looks.push(address) === 1,
  });
  t.match(await sender.send(requestTo()), { status: null, error: 'refused', phases: { tls: null } });
  t.strictSame(looks, ['127.0.0.1', '127.0.0.1']);
  t.ok(dialled.every(({ destroyed }) => destroyed));
});

t.test('an address that says nothing', async (t) => {
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await startBlackHole(t, '127.0.0.2', receiver.port);

  await t.test('costs the deadline when it is the only one', async (t) => {
    const dialled = watchDials(t);
    await using sender = senderTo(receiver, { isCallable, resolve: async () => ['127.0.0.2'] });
    const result = await sender.send(requestTo());
    t.match(result, { status: null, error: 'timeout', phases: { connect: Number, tls: null } });
    t.ok(result.totalMs < DEADLINE_MS + 300, `${result.totalMs} ms`);
    t.ok(dialled.every(({ destroyed }) => destroyed));
  });

  await t.test('is followed by the next while there is time', async (t) => {
    const resolve = async () => ['127.0.0.2', '127.0.0.1'];
    await using sender = senderTo(receiver, { isCallable, resolve, deadlineMs: 10_000 });
    const result = await sender.send(requestTo());
    t.match(result, { status: 200 });
    t.ok(result.totalMs < 3_000, `${result.totalMs} ms`);
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
