import t from 'tap';

import { knownPath, operations } from '../../contract/_contract.ts';
import { until } from '../../_command.ts';
import { startExampleServer } from '../../_server.ts';
import { connectTo } from '../../_socket.ts';

/* What is asked on a connection that is kept, or with a body. HEAD and other methods are the suite's (test/contract). */

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

const connection = () => connectTo(Number(new URL(server.url).port));
const request = (path: string, more = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.key}\r\n${more}\r\n`;
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);

t.test('one connection carries request after request, whatever the answers', async (t) => {
  using kept = await connection();
  const known = operations.map(({ operationId }) => knownPath(operationId));
  const paths = [...known, '/api/v1/jobs?limit=0', '/api/v1/jobs/nobody', '/nowhere'];
  for (const [index, path] of paths.entries()) {
    kept.send(request(path));
    await until(() => statusesIn(kept.received()).length === index + 1);
  }
  t.strictSame(statusesIn(kept.received()), [...known.map(() => '200'), '400', '404', '404']);
  t.notOk(kept.isClosed());
  t.notMatch(kept.received(), /^Connection: close/m);
});

t.test('a request with a body is answered, its body unread, and the connection closed', async (t) => {
  const bodies: [string, string][] = [
    ['Content-Length: 5', 'hello'],
    ['Content-Length: 1000000000', 'the beginning of much more'],
    ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
    ['Transfer-Encoding: chunked', '5\r\nhel'],
    ['Expect: 100-continue\r\nContent-Length: 5', ''],
    ['Expect: a miracle\r\nContent-Length: 5', 'hello'],
  ];
  for (const [header, body] of bodies) {
    using sent = await connection();
    sent.send(`${request('/api/v1/jobs?limit=1', `${header}\r\n`)}${body}`);
    const text = (await sent.closed).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
    t.match(text, /^HTTP\/1\.1 200 OK\r\n/, header);
    t.match(text, /\r\nConnection: close\r\n/, header);
    t.equal(text.match(/HTTP\/1\.1/g)?.length, 1, 'the body is not taken for a second request');
  }
});
