// Long: clients that take nothing have to be waited for.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import t, { type Test } from 'tap';

import { createHttpServer } from '../../../src/server/connections/http-server.ts';
import { until } from '../../_command.ts';

/** As large as the reference, so that the kernel of this machine takes all of it. */
const LARGE_BYTES = 3_000_000;
const HEAD = 'HTTP/1.1\r\nHost: a\r\n';

/** A server whose answers are large, but for `/small`, and which cuts clients off after so long. */
async function answering(t: Test, stalledMsMax: number, host = '127.0.0.1', lookMs = 20) {
  const large = Buffer.alloc(LARGE_BYTES, 'x');
  const app = (req: { url?: string | undefined }, res: { end: (body: unknown) => void }) =>
    res.end(req.url === '/small' ? 'small' : large);
  const server = createHttpServer(app, () => ({}), { stalledMsMax, lookMs });
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The bytes that clients of a port on this machine haven't taken, closed connections included. */
function unreadBytes(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/self/net/${table}`, 'latin1').split('\n'))
    .map((row) => row.trim().split(/\s+/))
    .filter(([, address, , state]) => address?.endsWith(local) && state !== '0A')
    .reduce((sum, [, , , , queues = '']) => sum + parseInt(queues, 16), 0);
}

/** Asks, and reads nothing. */
async function ignore(t: Test, port: number, request: string, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect(port, host).on('error', () => undefined);
  t.teardown(() => socket.destroy());
  await once(socket.pause(), 'connect');
  socket.write(request);
  return socket;
}

const requests: [name: string, request: string, isHalfClosed?: boolean][] = [
  ['a connection that is kept', `GET / ${HEAD}\r\n`],
  ['a connection that is to be closed', `GET / ${HEAD}Connection: close\r\n\r\n`],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
  ['twenty requests at once', `GET / ${HEAD}\r\n`.repeat(20)],
  ['a client that has closed its side', `GET / ${HEAD}\r\n`, true],
  ['a request with a body', `POST / ${HEAD}Content-Length: 2\r\n\r\n{}`],
  ['nonsense after the request', `GET / ${HEAD}\r\nnonsense\r\n\r\n`],
];

for (const host of ['127.0.0.1', '::1']) {
  t.test(`answers that nobody reads are not kept by the kernel, asked from ${host}`, async (t) => {
    const port = await answering(t, 200, host);
    // The kernel keeps a table for each family; what clients do is the same in both.
    for (const [name, request, isHalfClosed = false] of requests.slice(0, host === '::1' ? 2 : undefined)) {
      const socket = await ignore(t, port, request, host);
      if (isHalfClosed) socket.end();
      await until(() => unreadBytes(port) > 1_000_000);
      await until(() => unreadBytes(port) === 0);
      t.pass(name);
      socket.destroy();
    }
  });
}

t.test('a client that reads nothing is cut off even if it keeps asking', async (t) => {
  const port = await answering(t, 300);
  const socket = await ignore(t, port, `GET / ${HEAD}\r\n`);
  await until(() => unreadBytes(port) > 1_000_000);
  // As often as it can, so that an answer is also written while the kernel's table is read.
  const asking = setInterval(() => socket.write(`GET /small ${HEAD}\r\n`), 1);
  t.teardown(() => clearInterval(asking));
  const startedAt = performance.now();
  await until(() => unreadBytes(port) === 0);
  t.ok(performance.now() - startedAt < 5_000, 'long before its answers fill what the kernel keeps');
  await until(() => socket.destroyed);
});

t.test('a slow client that takes something gets all of its answer', async (t) => {
  const port = await answering(t, 1_500);
  for (const connection of ['keep-alive', 'close']) {
    const socket = await ignore(t, port, `GET / ${HEAD}Connection: ${connection}\r\n\r\n`);
    const startedAt = performance.now();
    let byteCount = 0;
    while (byteCount < LARGE_BYTES) {
      const part = socket.read() as Buffer | null;
      byteCount += part?.length ?? 0;
      if (socket.destroyed) break;
      await pause(50);
    }
    t.ok(byteCount > LARGE_BYTES, `${connection}: ${byteCount} bytes`);
    t.ok(performance.now() - startedAt > 1_500, 'which took longer than a client may take nothing');
    socket.destroy();
  }
});

t.test('a client that has just come is not taken for one that takes nothing', async (t) => {
  // The process has run for longer than that, which a busy machine doesn't make a client wait.
  await until(() => process.uptime() > 5);
  const port = await answering(t, 5_000, '127.0.0.1', 1);
  const answers = [];
  for (let round = 0; round < 30; round += 1) {
    const asked = Array.from({ length: 10 }, () =>
      fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } }),
    );
    for (const answer of await Promise.all(asked)) answers.push((await answer.arrayBuffer()).byteLength);
  }
  t.strictSame(new Set(answers), new Set([LARGE_BYTES]));
});

t.test('a connection that is to be closed ends soon after its client has everything', async (t) => {
  const port = await answering(t, 60_000);
  for (const request of [`GET / ${HEAD}Connection: close\r\n\r\n`, 'GET / HTTP/1.0\r\n\r\n']) {
    const socket = await ignore(t, port, request);
    const startedAt = performance.now();
    socket.resume();
    await once(socket, 'end');
    t.ok(performance.now() - startedAt < 5_000);
  }
});

t.test('a client that doesn’t close its side does not keep the connection', async (t) => {
  const port = await answering(t, 60_000);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
  socket.resume().write(`GET / ${HEAD}Connection: close\r\n\r\n`);
  await once(socket, 'end');
  // The system resets a connection on which something is sent to a socket that is gone.
  await until(() => {
    if (!socket.destroyed) socket.write('x');
    return socket.destroyed;
  });
  t.pass('it is closed');
});
