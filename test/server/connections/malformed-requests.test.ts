import t from 'tap';

import { exchangeRaw } from '../api/_raw.ts';
import { until } from '../../_command.ts';
import { startExampleServer } from '../../_server.ts';
import { connectTo } from '../../_socket.ts';

const JOBS = 'GET /api/v1/jobs?limit=1 HTTP/1.1\r\n';

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);

const server = await startExampleServer('sqlite');
const port = Number(new URL(server.url).port);
t.teardown(() => server[Symbol.asyncDispose]());

t.test('a bad chunk gets one answer on its connection, and the connection ends', async (t) => {
  const chunked = 'Host: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  const heads: [name: string, head: string, status: string][] = [
    ['the portal refuses a form', `POST /portal/sign-in HTTP/1.1\r\n${chunked}`, '403'],
    ['a page for operators', `GET /healthz HTTP/1.1\r\n${chunked}`, '200'],
    ['the contract', `GET /openapi.json HTTP/1.1\r\n${chunked}`, '200'],
    ['an unknown path', `POST /nowhere HTTP/1.1\r\n${chunked}`, '404'],
    ['the API', `${JOBS}Authorization: Bearer ${server.key}\r\n${chunked}`, '200'],
  ];
  for (const [name, head, status] of heads) {
    using late = await connectTo(port);
    late.send(head);
    await until(() => statusesOf(late.received()).length > 0);
    late.send('zz\r\nhello\r\n');
    t.strictSame(statusesOf(await late.closed), [status], `${name}: the bad chunk comes after its answer`);
    using together = await connectTo(port);
    together.send(`${head}zz\r\nhello\r\n`);
    t.equal(statusesOf(await together.closed).length, 1, `${name}: the bad chunk comes with its head`);
  }
});

t.test('a request keeps its answer when the next one on its connection is malformed', async (t) => {
  using connection = await connectTo(port);
  const good = `${JOBS}Host: x\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
  connection.send(`${good}${good}nonsense\r\n\r\n`);
  t.strictSame(statusesOf(await connection.closed), ['200', '200', '400']);
});

t.test('two Host headers, an invalid one and two Authorization headers get 400', async (t) => {
  const authorization = `Authorization: Bearer ${server.key}\r\n`;
  const right = 'a a,b A.example:8080 a.example: 127.0.0.1:80 [::1]:8080 [::ffff:127.0.0.1]'.split(' ');
  const wrong = ['', 'a b', 'a/b', 'a@b', 'a:b', 'a:1:2', '%zz', '"a"', '[::1', '[1.2]x', 'http://a'];
  type Request = [name: string, request: string, status: number];
  const toHost =
    (status: number) =>
    (host: string): Request => [`Host: ${host}`, `${JOBS}Host: ${host}\r\n${authorization}\r\n`, status];
  const requests: Request[] = [
    ...[...right, 'a_b.example', '%41'].map(toHost(200)),
    ...wrong.map(toHost(400)),
    ['two Hosts', `${JOBS}Host: a\r\nHost: b\r\n${authorization}\r\n`, 400],
    ['a Host twice', `${JOBS}Host: a\r\n${authorization}host: a\r\n\r\n`, 400],
    ['two Hosts of HTTP/1.0', `GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n`, 400],
    ['two Hosts on the portal', `GET /portal HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`, 400],
    ['two Authorizations', `${JOBS}Host: a\r\n${authorization}AUTHORIZATION: Bearer x\r\n\r\n`, 400],
    ['an Authorization twice', `${JOBS}Host: a\r\n${authorization}${authorization}\r\n`, 400],
  ];
  for (const [name, request, status] of requests) {
    const [answer] = await exchangeRaw(server.url, request);
    t.equal(answer?.status, status, name);
    if (status !== 400) continue;
    t.equal(answer?.headers['content-type'], 'application/json', name);
    const { error } = JSON.parse(answer?.body ?? '') as { error: { code: string; message: string } };
    t.equal(error.code, 'invalid_request', name);
    t.match(error.message, name.includes('Authorization') ? /Authorization/ : /Host/, name);
    t.notOk(error.message.includes(server.key), 'and no key in it');
  }
});
