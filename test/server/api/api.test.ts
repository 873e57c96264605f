import type { Response } from 'got';
import t from 'tap';

import { contractOperations } from '../../../src/contract/document.ts';
import { loadGeneratedCompany } from '../../../src/demo/load.ts';
import { until } from '../../_command.ts';
import { keyFor, openTestDatabase, startTestServer, type TestServer } from '../../_server.ts';
import { connectTo } from '../../_socket.ts';

const COMPANY = 'demo-150';

interface Asked extends AsyncDisposable {
  server: TestServer;
  key: string;
  /** A path of each operation that has something to answer. */
  paths: Map<string, string>;
  ask: (path: string, headers?: Record<string, string>) => Promise<Response<string>>;
}

/** A server with a generated company, and a path for each operation. */
async function startAsked(): Promise<Asked> {
  const database = await openTestDatabase('sqlite');
  await loadGeneratedCompany(database.engine, 150, () => undefined);
  const server = await startTestServer({ engine: database.engine });
  const key = await keyFor(database.engine, COMPANY);
  const headers = { authorization: `Bearer ${key}` };
  const firstId = async (path: string) =>
    (await server.http(path, { headers }).json<{ data: [{ id: string }] }>()).data[0].id;
  const paths = new Map<string, string>();
  for (const { operationId, path } of contractOperations()) {
    const [list = '', rest] = path.slice(1).split(/\/\{\w+\}/);
    paths.set(operationId, rest === undefined ? list : `${list}/${await firstId(list)}${rest}`);
  }
  return {
    server,
    key,
    paths,
    ask: (path, more = {}) => server.http(path, { headers: { ...headers, ...more }, decompress: false }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The headers that must be the same for GET and HEAD: all but those that count or name the request. */
function steadyHeaders({ headers }: Response): Record<string, unknown> {
  const changing = ['date', 'x-request-id', 'ratelimit', 'keep-alive'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.includes(name)));
}

t.test('HEAD answers what GET does, for every operation', async (t) => {
  await using asked = await startAsked();
  const { server, key, paths, ask } = asked;
  for (const [operationId, path] of paths) {
    for (const more of [
      {},
      { 'accept-encoding': 'gzip' },
      { 'if-none-match': '*' },
      { authorization: 'Bearer x' },
    ]) {
      const get = await ask(path, more);
      const headers = { authorization: `Bearer ${key}`, ...more };
      const head = await server.http.head(path, { headers, decompress: false });
      t.equal(head.statusCode, get.statusCode, operationId);
      t.strictSame(steadyHeaders(head), steadyHeaders(get), operationId);
      t.equal(head.rawBody.length, 0, operationId);
      const length = get.statusCode === 304 ? undefined : String(get.rawBody.length);
      t.equal(head.headers['content-length'], length, operationId);
    }
    t.equal((await ask(path)).statusCode, 200, operationId);
  }
});

t.test(
  'every other method of a known path answers 405 and says which are allowed, before it asks for a key',
  async (t) => {
    await using asked = await startAsked();
    const { server, key, paths } = asked;
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'] as const;
    for (const [operationId, path] of paths) {
      const method =
        methods[contractOperations().findIndex((operation) => operation.operationId === operationId) % 8];
      for (const oneMethod of operationId === 'listJobs' ? methods : [method ?? 'POST']) {
        const url = `${server.url}/${path}`;
        const answers = [{}, { Authorization: `Bearer ${key}` }].map((headers) =>
          fetchRaw(url, oneMethod, headers as Record<string, string>),
        );
        for (const answer of await Promise.all(answers)) {
          t.match(answer, /^HTTP\/1\.1 405 Method Not Allowed\r\n/, `${oneMethod} ${path}`);
          t.match(answer, /\r\nAllow: GET, HEAD\r\n/);
          const message = `This path answers GET and HEAD, not ${oneMethod}.`;
          t.ok(answer.endsWith(JSON.stringify({ error: { code: 'method_not_allowed', message } })), answer);
        }
      }
    }
  },
);

/** Sends a request of any method and gives the whole answer; the connection is closed after it. */
async function fetchRaw(url: string, method: string, headers: Record<string, string>): Promise<string> {
  const { port, pathname } = new URL(url);
  using connection = await connectTo(Number(port));
  const lines = Object.entries({ Host: 'localhost', Connection: 'close', ...headers });
  connection.send(
    `${method} ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  return await connection.closed;
}

t.test('one connection carries request after request, whatever the answers', async (t) => {
  await using asked = await startAsked();
  using connection = await connectTo(Number(new URL(asked.server.url).port));
  const paths = [...asked.paths.values(), 'api/v1/jobs?limit=0', 'api/v1/jobs/nobody', 'nowhere'];
  const statuses = () =>
    [...connection.received().matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  for (const [index, path] of paths.entries()) {
    connection.send(`GET /${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${asked.key}\r\n\r\n`);
    await until(() => statuses().length === index + 1);
  }
  t.strictSame(statuses().slice(-3), ['400', '404', '404']);
  t.notOk(connection.isClosed());
  t.notMatch(connection.received(), /^Connection: close/m);
});

t.test('two requests sent at once on one connection are answered in turn', async (t) => {
  await using asked = await startAsked();
  using connection = await connectTo(Number(new URL(asked.server.url).port));
  const request = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${asked.key}\r\n${more}\r\n`;
  connection.send(
    request('/api/v1/people?limit=1') + request('/api/v1/jobs/nobody', 'Connection: close\r\n'),
  );
  const text = await connection.closed;
  t.strictSame(
    [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status),
    ['200', '404'],
  );
});

t.test('a request with a body is answered, its body unread, and the connection closed', async (t) => {
  await using asked = await startAsked();
  const port = Number(new URL(asked.server.url).port);
  const bodies: [string, string][] = [
    ['Content-Length: 5', 'hello'],
    ['Content-Length: 1000000000', 'the beginning of much more'],
    ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
    ['Transfer-Encoding: chunked', '5\r\nhel'],
    ['Expect: 100-continue\r\nContent-Length: 5', ''],
    ['Expect: a miracle\r\nContent-Length: 5', 'hello'],
  ];
  for (const [header, body] of bodies) {
    using connection = await connectTo(port);
    connection.send(
      `GET /api/v1/jobs?limit=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${asked.key}\r\n${header}\r\n\r\n${body}`,
    );
    const text = (await connection.closed).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
    t.match(text, /^HTTP\/1\.1 200 OK\r\n/, header);
    t.match(text, /\r\nConnection: close\r\n/, header);
    t.equal(text.match(/HTTP\/1\.1/g)?.length, 1, 'the body is not taken for a second request');
  }
});

t.test('a fault of ours is 503 with a fixed sentence, its cause kept for the log', async (t) => {
  await using asked = await startAsked();
  await asked.server.engine.run('DROP TABLE jobs');
  for (const path of ['api/v1/jobs', 'api/v1/jobs/x']) {
    const { statusCode, headers, body } = await asked.ask(path);
    t.equal(statusCode, 503, path);
    t.equal(headers['retry-after'], '5');
    t.match(headers['x-request-id'], /^[0-9a-f-]{36}$/);
    t.strictSame(JSON.parse(body), {
      error: { code: 'unavailable', message: 'The service is temporarily unavailable. Retry shortly.' },
    });
  }
  t.equal((await asked.ask('api/v1/customers')).statusCode, 200, 'the rest goes on');
});
