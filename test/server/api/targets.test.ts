import { once } from 'node:events';
import { connect } from 'node:net';

import t from 'tap';

import { until } from '../../_command.ts';
import { startExampleServer } from '../../_server.ts';
import { exchangeRaw } from './_raw.ts';

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

t.test('a target with scheme and host means the path in it, whatever the host', async (t) => {
  const statusOf = async (target: string, isJson = true) => {
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
    const [answer] = await exchangeRaw(server.url, request);
    if (isJson) t.match(answer?.headers['content-type'], /^application\/json/, target);
    return answer?.status;
  };
  for (const origin of [
    server.url,
    'HTTPS://api.example',
    'http://',
    'http://[::1',
    'http://a:b:c',
    'http://u:p@x:1',
  ])
    t.equal(await statusOf(`${origin}/api/v1/jobs?limit=1`), 200, origin);
  t.equal(await statusOf(`${server.url}?limit=1`, false), 302, 'no path is the path /');
  for (const target of ['*', '/*', 'http:/api/v1/jobs', 'ftp://x/api/v1/jobs', '//api/v1/jobs'])
    t.ok([400, 404].includes((await statusOf(target)) ?? 0), target);
});

t.test('a client that resets its connection leaves the server running', async (t) => {
  const { port } = new URL(server.url);
  const key = `Authorization: Bearer ${server.key}`;
  const starts = [
    `CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`,
    `GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`,
    `GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\n${key}\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n`,
    `POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx`,
    'GET /',
    '\0',
  ];
  let resets = 0;
  for (const start of starts) {
    for (let round = 0; round < 10; round += 1) {
      const socket = connect(Number(port), '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => undefined);
      socket.write(start);
      // Some are reset before the server has read anything, some after it has answered.
      if (round % 2 === 0)
        await Promise.race([once(socket, 'data'), new Promise((resolve) => setImmediate(resolve))]);
      socket.resetAndDestroy();
      resets += 1;
    }
  }
  t.equal(resets, 60);
  await until(async () => (await server.http('healthz')).statusCode === 200);
  const { statusCode } = await server.http('api/v1/jobs', {
    headers: { authorization: `Bearer ${server.key}` },
  });
  t.equal(statusCode, 200);
});

t.test('a condition on the reference that does not hold is no fault of ours', async (t) => {
  const conditions = {
    'if-match': '"another"',
    'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT',
    range: 'bytes=999999999-',
  };
  for (const [name, value] of Object.entries(conditions)) {
    const { statusCode } = await server.http('reference', { headers: { [name]: value } });
    // Without the built reference each is 404.
    t.ok([200, 400, 404].includes(statusCode), `${name}: ${statusCode}`);
  }
});
