import { createServer } from 'node:http';

import t from 'tap';

import { listen } from '../src/listen.ts';
import { until } from './_command.ts';
import { connectTo } from './_socket.ts';
import { startEmptyServer } from './_server.ts';

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
