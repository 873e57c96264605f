import t from 'tap';

import { startExampleServer } from '../../_server.ts';
import { exchangeRaw } from './_raw.ts';

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

const JOBS = '/api/v1/jobs?limit=1';

/** Requests that a client library would hardly send, and the statuses of their answers in turn. */
function oddRequests(key: string): [name: string, request: string, statuses: number[]][] {
  const own = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
  const get = (more = '', { target = JOBS, method = 'GET', version = 'HTTP/1.1', headers = own } = {}) =>
    `${method} ${target} ${version}\r\n${headers}${more}\r\n`;
  const plain = get();
  return [
    ['HTTP/1.0', get('', { version: 'HTTP/1.0' }), [200]],
    ['HTTP/1.0 without a Host', plain.replace('HTTP/1.1\r\nHost: x', 'HTTP/1.0'), [200]],
    ['HTTP/1.1 without a Host', plain.replace('Host: x\r\n', ''), [400]],
    ['a Host that is none', plain.replace('Host: x', 'Host: a b/\\@'), [400]],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['the hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400]],
    ['an unknown version', get('', { version: 'HTTP/9.9' }), [400]],
    ['Upgrade to a web socket', get('Connection: Upgrade\r\nUpgrade: websocket\r\n'), [200]],
    [
      'Upgrade to HTTP/2',
      get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n'),
      [200],
    ],
    ['a body of which half is missing', `${get('Content-Length: 500\r\n', { method: 'POST' })}hello`, [405]],
    ['a chunk without a length', `${get('Transfer-Encoding: chunked\r\n')}zz\r\nhello\r\n`, [400]],
    [
      'a length beside chunks',
      `${get('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n')}0\r\n\r\n`,
      [400],
    ],
    ['a length below nothing', get('Content-Length: -1\r\n'), [400]],
    ['two lengths', get('Content-Length: 1\r\nContent-Length: 2\r\n'), [400]],
    ['CONNECT', get('', { method: 'CONNECT', target: 'x:443' }), [405]],
    ['TRACE', get('', { method: 'TRACE' }), [405]],
    ['OPTIONS', get('', { method: 'OPTIONS' }), [405]],
    ['OPTIONS *', get('', { method: 'OPTIONS', target: '*' }), [404]],
    ['a method in lower case', get('', { method: 'get' }), [400]],
    ['a method that is none', get('', { method: 'FOO' }), [400]],
    ['a target with a host', get('', { target: `http://elsewhere.example${JOBS}` }), [200]],
    ['a target without a slash', get('', { target: 'api/v1/jobs' }), [400]],
    ['a target that begins with a query', get('', { target: '?limit=1' }), [400]],
    ['a fragment', get('', { target: '/api/v1/jobs#x' }), [404]],
    ['a null byte in the target', get('', { target: '/api/v1/jobs\0' }), [400]],
    ['a control character in the target', get('', { target: '/api/v1/jobs\x01' }), [400]],
    ['bytes beyond ASCII in the target', get('', { target: '/api/v1/jobs/\xff\xfe' }), [400]],
    ['a null byte in a header', get('X: a\0b\r\n'), [400]],
    ['bytes beyond ASCII in a header', get('X: \xff\xfe\r\n'), [200]],
    ['a folded header', get('X: a\r\n b\r\n'), [400]],
    ['a space before the colon', get('X : a\r\n'), [400]],
    ['a header without a colon', get('X\r\n'), [400]],
    ['line feeds alone', plain.replaceAll('\r', ''), [400]],
    ['carriage returns alone', plain.replaceAll('\n', ''), [400]],
    ['empty lines before', `\r\n\r\n${plain}`, [200]],
    ['a header of 20 kB', get(`X: ${'a'.repeat(20_000)}\r\n`), [400]],
    ['5,000 headers', get('x: y\r\n'.repeat(5_000)), [400]],
    ['a query of 12 kB', get('', { target: `/api/v1/jobs?${'a=b&'.repeat(3_000)}` }), [400]],
    ['a value of 15 kB', get('', { target: `/api/v1/jobs?limit=${'1'.repeat(15_000)}` }), [400]],
    ['a target of 1 MB', get('', { target: `/${'a'.repeat(1_000_000)}` }), [400]],
    ['three requests at once', plain.repeat(3), [200, 200, 200]],
    ['a request behind one with a body', `${get('Content-Length: 2\r\n')}{}${plain}`, [200]],
    ['a thousand empty lines', '\r\n'.repeat(1_000) + plain, [200]],
  ];
}

t.test('odd requests are answered in the form of the contract, and the server goes on', async (t) => {
  for (const [name, request, statuses] of oddRequests(server.key)) {
    const startedAt = performance.now();
    const answers = await exchangeRaw(server.url, request, { count: statuses.length });
    t.strictSame(
      answers.map(({ status }) => status),
      statuses,
      name,
    );
    for (const { status, headers, body } of answers) {
      t.equal(headers['content-type'], 'application/json', name);
      const { data, error } = JSON.parse(body) as { data?: unknown; error?: { message: string } };
      t.ok(status === 200 ? Array.isArray(data) : (error?.message.length ?? 0) > 10, `${name}: its body`);
    }
    t.ok(performance.now() - startedAt < 10_000, `${name}: in time`);
  }
  const { statusCode } = await server.http('api/v1/jobs', {
    headers: { authorization: `Bearer ${server.key}` },
  });
  t.equal(statusCode, 200);
});

t.test('bytes in a query that are not UTF-8 are refused by name, and only with a key', async (t) => {
  const ask = async (query: string, key = server.key) => {
    const headers = { authorization: `Bearer ${key}` };
    const { statusCode, body } = await server.http(`api/v1/jobs?${query}`, {
      headers,
      throwHttpErrors: false,
    });
    return [statusCode, (JSON.parse(body) as { error: { message: string } }).error.message];
  };
  t.strictSame(await ask('limit=5&customerId=a%C3'), [
    400,
    'The parameter "customerId=a%C3" has bytes that are not UTF-8.',
  ]);
  t.match(await ask('%ff=1'), [400, /"%ff=1" has bytes/]);
  t.match(await ask('limit=5&x=%C3%BC&y=%zz'), [400, /"x" is not a parameter/], 'others are told as before');
  t.match(await ask('customerId=%ff', 'fl.x'), [401]);
});

t.test('a client that closes its side after the request still gets its answer', async (t) => {
  const request = `GET ${JOBS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
  const [answer] = await exchangeRaw(server.url, request, { halfClose: true });
  t.equal(answer?.status, 200);
});
