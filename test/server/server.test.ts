import got, { type Response } from 'got';
import pg from 'pg';
import t from 'tap';

import { openWorkplace, type Served, until } from '../_command.ts';
import { connectTo } from '../_socket.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Asks without retries, leaves the body as it came, and takes every status. */
const client = got.extend({
  retry: { limit: 0 },
  throwHttpErrors: false,
  decompress: false,
  followRedirect: false,
});

/** The log's lines about requests, once there are so many. */
async function requestLines(served: Served, count: number): Promise<Record<string, unknown>[]> {
  const lines = () => served.logs().filter(({ msg }) => msg === 'request.answered');
  await until(() => lines().length >= count);
  return lines();
}

t.test('each request leaves one wide line in the log', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.json(['demo', '--records', '200']);
  const served = await workplace.serve();
  const [, { key }] = await workplace.json<[unknown, { key: string }]>(['demo', '--records', '200']);
  const authorization = `Bearer ${key}`;
  const { address } = served.greeting;
  const known = {
    path: '/api/v1/jobs',
    operation: 'listJobs',
    company: 'demo-200',
    keyId: key.split('.')[2],
  };
  const first = await client(`${address}/api/v1/jobs`, { headers: { authorization } });
  const etag = first.headers.etag ?? '';
  const answers: [string, Record<string, unknown>, Response<string>][] = [
    ['a page', { method: 'GET', status: 200, ...known }, first],
    [
      'a compressed page',
      { method: 'GET', status: 200, ...known },
      await client(`${address}/api/v1/jobs`, { headers: { authorization, 'accept-encoding': 'gzip' } }),
    ],
    [
      'HEAD',
      { method: 'HEAD', status: 200, ...known },
      await client.head(`${address}/api/v1/jobs`, { headers: { authorization } }),
    ],
    [
      'nothing new',
      { method: 'GET', status: 304, ...known },
      await client(`${address}/api/v1/jobs`, { headers: { authorization, 'if-none-match': etag } }),
    ],
    [
      'a wrong parameter',
      { method: 'GET', status: 400, code: 'invalid_parameter', ...known },
      await client(`${address}/api/v1/jobs?limit=0`, { headers: { authorization } }),
    ],
    [
      'no key',
      { method: 'GET', status: 401, code: 'invalid_key', path: known.path, operation: known.operation },
      await client(`${address}/api/v1/jobs`),
    ],
    [
      'a traced request',
      { method: 'GET', status: 200, traceId: TRACE_ID, ...known },
      await client(`${address}/api/v1/jobs`, {
        headers: { authorization, traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` },
      }),
    ],
    [
      'a traceparent that is not valid',
      { method: 'GET', status: 200 },
      await client(`${address}/healthz`, {
        headers: { traceparent: `00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01` },
      }),
    ],
    [
      'no such record',
      {
        method: 'GET',
        status: 404,
        code: 'not_found',
        ...known,
        path: '/api/v1/jobs/{jobId}',
        operation: 'getJob',
      },
      await client(`${address}/api/v1/jobs/nobody`, { headers: { authorization } }),
    ],
    [
      'another method',
      { method: 'DELETE', status: 405, code: 'method_not_allowed' },
      await client.delete(`${address}/api/v1/jobs`, { headers: { authorization } }),
    ],
    [
      'an unknown path',
      { method: 'GET', status: 404, code: 'not_found' },
      await client(`${address}/nowhere`),
    ],
    ['a page for operators', { method: 'GET', status: 200 }, await client(`${address}/healthz`)],
    ['HEAD of such a page', { method: 'HEAD', status: 200 }, await client.head(`${address}/healthz`)],
    ['the contract', { method: 'GET', status: 200 }, await client(`${address}/openapi.json`)],
    ['the redirection', { method: 'GET', status: 302 }, await client(`${address}/`)],
  ];
  const lines = await requestLines(served, answers.length);
  t.equal(lines.length, answers.length);
  for (const [index, [what, expected, answer]] of answers.entries()) {
    const { level, time, requestId, ms, ...rest } = lines[index] ?? {};
    const bytes = answer.rawBody.length;
    t.strictSame(rest, { ...expected, address: '127.0.0.1', bytes, msg: 'request.answered' }, what);
    t.equal(answer.statusCode, expected.status, what);
    t.equal(level, 30);
    t.match(time, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    t.match(requestId, UUID, what);
    t.equal(answer.headers['x-request-id'], requestId, what);
    t.ok(
      typeof ms === 'number' && ms > 0 && ms < (answer.timings?.phases.total ?? 0) + 100,
      `${what}: ${String(ms)} ms`,
    );
  }
  t.equal(new Set(lines.map(({ requestId }) => requestId)).size, lines.length);
});

t.test('nothing that a client sends as a value is logged', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve(['--demo'], { LOG_LEVEL: 'trace' });
  const { address, demo } = served.greeting;
  const secrets = [
    's3cretHeader',
    's3cretQuery',
    's3cretPath',
    's3cretBody',
    's3cretCookie',
    demo?.key.slice(-20) ?? '',
  ];
  const right = { authorization: `Bearer ${demo?.key}`, cookie: 's3cretCookie=1', 'x-trace': 's3cretHeader' };
  const wrong = { authorization: 'Bearer fl.brennan.0.s3cretHeader' };
  for (const headers of [right, wrong]) {
    await client(`${address}/api/v1/jobs?limit=s3cretQuery`, { headers });
    await client(`${address}/api/v1/jobs?s3cretQuery=1&cursor=s3cretQuery`, { headers });
    await client(`${address}/api/v1/jobs/s3cretPath?s3cretQuery`, { headers });
    await client(`${address}/s3cretPath`, { headers });
    await client.post(`${address}/api/v1/jobs`, { headers, body: 's3cretBody' });
  }
  using connection = await connectTo(served.port);
  connection.send('GET /s3cretPath HTTP/9.9\r\nAuthorization: s3cretHeader\r\n\r\n');
  t.match(await connection.closed, /^HTTP\/1\.1 400 Bad Request\r\n/);
  await requestLines(served, 10);
  await served.end('SIGTERM');
  t.equal(served.logs().filter(({ msg }) => msg === 'request.answered').length, 10);
  for (const secret of secrets) t.notOk(served.output.stderr.includes(secret), secret);
});

t.test('a client that goes away before its answer leaves one line that says so', async (t) => {
  await using workplace = await openWorkplace('postgres');
  await workplace.json(['company', 'create', 'acme', '--api', '--invoicing']);
  const { key } = await workplace.json<{ key: string }>(['key', 'create', 'acme']);
  const served = await workplace.serve();
  const holder = new pg.Client({ connectionString: workplace.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE');
    const connection = await connectTo(served.port);
    connection.send(`GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    const waiting = "SELECT 1 FROM pg_locks WHERE relation = 'jobs'::regclass AND NOT granted";
    await until(async () => (await holder.query(waiting)).rowCount === 1);
    connection[Symbol.dispose]();
    const [line] = await requestLines(served, 1);
    t.match(line, { path: '/api/v1/jobs', company: 'acme', bytes: 0, aborted: true });
    t.equal(line?.status, undefined, 'there was no answer, so it has no status');
    await holder.query('COMMIT');
  } finally {
    await holder.end();
  }
  const { body } = await client(`${served.greeting.management}/metrics`);
  t.notMatch(body, 'fieldledger_requests_total{operation="listJobs"', 'and it is not counted as answered');
  await served.end('SIGTERM');
  const lines = served.logs().filter(({ msg }) => msg !== 'server.started' && msg !== 'server.stopped');
  t.equal(lines.length, 1, 'one line: the late answer adds none');
});

t.test('an unknown path answers 404 with the body of every error', async (t) => {
  await using workplace = await openWorkplace();
  const { address } = (await workplace.serve()).greeting;
  const outside = 'There is nothing at this path; the description of the API is at /.';
  const inside = 'There is nothing at this path; the reference lists the paths of the API.';
  const paths: [string, string][] = [
    ['/nowhere', outside],
    ['/%zz', outside],
    ['/%00', outside],
    ['/openapi.json.bak', outside],
    ['/.git/config', outside],
    ['//healthz', outside],
    ['/api', inside],
    ['/api/', inside],
    ['/api/v1', inside],
    ['/api/v2/jobs', inside],
    ['/api/v1/jobs/', inside],
    ['/api/v1//jobs', inside],
    ['/api/v1/Jobs', inside],
    ['/API/v1/jobs', outside],
    ['/api/v1/jobs/a/b', inside],
    ['/api/v1/../v1/jobs%2F', inside],
    ['/api/%zz', inside],
  ];
  for (const [path, message] of paths) {
    const { statusCode, headers, body } = await client(address + path, { headers: { accept: 'text/html' } });
    t.equal(statusCode, 404, path);
    t.strictSame(JSON.parse(body), { error: { code: 'not_found', message } }, path);
    t.equal(headers['content-type'], 'application/json', path);
    t.equal(headers['cache-control'], 'private, no-cache', path);
    t.match(headers['x-request-id'], UUID, path);
    t.equal(headers['x-powered-by'], undefined);
    t.equal(headers['access-control-allow-origin'], undefined, 'no browser of another site may read it');
  }
});

t.test('a malformed request gets an answer in the form of an error, and the connection ends', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve();
  const malformed: [string, number, string][] = [
    ['nonsense\r\n\r\n', 400, 'invalid_request'],
    ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
    ['GET / HTTP/1.1\r\nHost: a\r\nBad Header: 1\r\n\r\n', 400, 'invalid_request'],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`, 400, 'invalid_request'],
    [`GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 400, 'invalid_request'],
    [
      'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'invalid_request',
    ],
    ['CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
  ];
  for (const [text, status, code] of malformed) {
    using connection = await connectTo(served.port);
    connection.send(text);
    const [head = '', body = ''] = (await connection.closed).split('\r\n\r\n');
    t.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), text.slice(0, 40));
    t.match(head, /^Connection: close$/m);
    t.match(head, /^X-Request-Id: [0-9a-f-]{36}$/m);
    t.equal((JSON.parse(body) as { error: { code: string } }).error.code, code);
  }
});
