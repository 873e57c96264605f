import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';

import t from 'tap';

import { listen } from '../../../src/server/connections/listen.ts';
import { until } from '../../_command.ts';
import { connectTo } from '../../_socket.ts';
import { startEmptyServer } from '../../_server.ts';

t.test('a port on which another server answers is not shared with it', async (t) => {
  const { server } = await startEmptyServer(t, 'sqlite');
  const port = Number(new URL(server.url).port);
  await t.rejects(listen(createServer(), { host: '127.0.0.1', port }), { code: 'EADDRINUSE', port });
});

t.test('no more connections are open than may be', async (t) => {
  const { server } = await startEmptyServer(t, 'sqlite', { connectionsMax: 20 });
  const port = Number(new URL(server.url).port);
  const ask = async () => {
    const connection = await connectTo(port);
    connection.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until(() => connection.isClosed() || connection.received().endsWith('{"status":"alive"}'));
    return connection;
  };
  const open = [];
  for (let one = 0; one < 20; one += 1) open.push(await ask());
  t.notOk(open.some((connection) => connection.isClosed()));
  t.equal((await ask()).received(), '', 'one too many is closed without an answer');
  open.pop()?.[Symbol.dispose]();
  await until(async () => {
    using connection = await ask();
    return !connection.isClosed();
  });
  for (const connection of open) connection[Symbol.dispose]();
});

t.test('one address may hold so many connections, and a new one for one it gives back', async (t) => {
  let refusedCount = 0;
  const server = createServer((_req, res) => res.end('yes'));
  const metrics = { connectionRefused: () => void (refusedCount += 1) };
  await listen(server, { host: '127.0.0.1', port: 0, connectionsPerNetworkMax: 3, metrics });
  const { port } = server.address() as AddressInfo;
  const ask = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
    let received = '';
    socket.on('data', (part) => (received += String(part))).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => received !== '' || socket.destroyed);
    socket.destroy();
    return received !== '';
  };
  const open = await Promise.all([1, 2, 3].map(() => connectTo(port)));
  await until(async () => !(await ask('127.0.0.1')));
  t.ok(await ask('127.0.0.2'), 'another address is another network');
  t.ok(refusedCount > 0);
  open.pop()?.[Symbol.dispose]();
  await until(() => ask('127.0.0.1'));
  for (const connection of open) connection[Symbol.dispose]();
  server.close();
});

t.test('a trusted proxy may hold any number of connections: all clients have its address', async (t) => {
  const server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0, connectionsPerNetworkMax: 1, trustedProxies: 1 });
  const { port } = server.address() as AddressInfo;
  const open = await Promise.all([1, 2, 3].map(() => connectTo(port)));
  await until(async () => (await promisify(server.getConnections.bind(server))()) === 3);
  t.notOk(open.some((connection) => connection.isClosed()));
  for (const connection of open) connection[Symbol.dispose]();
  server.close();
});
