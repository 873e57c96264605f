import got, { type Headers, type Response } from 'got';
import pg from 'pg';
import t from 'tap';

import { openWorkplace, type Served, until } from '../_command.ts';
import { startEmptyServer } from '../_server.ts';
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

const workplace = await openWorkplace();
const served = await workplace.serve(['--demo'], { LOG_LEVEL: 'trace' });
const { address, demo: { company, key } = { company: '', key: '' } } = served.greeting;
t.teardown(() => workplace[Symbol.asyncDispose]());

t.test('each request leaves one wide line in the log', async (t) => {
  const signed = { authorization: `Bearer ${key}` };
  const JOBS = '/api/v1/jobs';
  const listing = { path: JOBS, operation: 'listJobs' };
  const known = { ...listing, company, keyId: key.split('.')[2] };
  const traced = (traceId: string) => ({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  const notFound = { status: 404, code: 'not_found' };
  const missing = { ...notFound, ...known, path: `${JOBS}/{jobId}`, operation: 'getJob' };
  const requests: [what: string, request: string, headers: Headers, line: Record<string, unknown>][] = [
    ['a page', JOBS, signed, { status: 200, ...known }],
    ['a compressed page', JOBS, { ...signed, 'accept-encoding': 'gzip' }, { status: 200, ...known }],
    ['HEAD', `HEAD ${JOBS}`, signed, { status: 200, ...known }],
    ['nothing new', JOBS, { ...signed, 'if-none-match': '*' }, { status: 304, ...known }],
    ['a wrong parameter', `${JOBS}?limit=0`, signed, { status: 400, code: 'invalid_parameter', ...known }],
    ['no key', JOBS, {}, { status: 401, code: 'invalid_key', ...listing }],
    [
      'a traced request',
      JOBS,
      { ...signed, ...traced(TRACE_ID) },
      { status: 200, traceId: TRACE_ID, ...known },
    ],
    ['a traceparent that is not valid', '/healthz', traced(TRACE_ID.toUpperCase()), { status: 200 }],
    ['no such record', `${JOBS}/nobody`, signed, missing],
    ['another method', `DELETE ${JOBS}`, signed, { status: 405, code: 'method_not_allowed' }],
    ['an unknown path', '/nowhere', {}, notFound],
    ['a page for operators', '/healthz', {}, { status: 200 }],
    ['HEAD of such a page', 'HEAD /healthz', {}, { status: 200 }],
    ['the contract', '/openapi.json', {}, { status: 200 }],
    ['the redirection', '/', {}, { status: 302 }],
  ];
  const answers: Response<string>[] = [];
  for (const [, request, headers] of requests) {
    const [path = '', method = 'GET'] = request.split(' ').reverse();
    answers.push(await client(address + path, { method, headers }));
  }
  const lines = await requestLines(served, requests.length);
  t.equal(lines.length, requests.length);
  for (const [index, [what, request, , expected]] of requests.entries()) {
    const { level, time, requestId, ms, ...rest } = lines[index] ?? {};
    const { rawBody, statusCode, headers, timings } = answers[index] ?? ({} as Response<string>);
    const [, method = 'GET'] = request.split(' ').reverse();
    const given = { method, address: '127.0.0.1', bytes: rawBody.length, msg: 'request.answered' };
    t.strictSame(rest, { ...given, ...expected }, what);
    t.equal(statusCode, expected.status, what);
    t.equal(level, 30);
    t.match(time, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    t.match(requestId, UUID, what);
    t.equal(headers['x-request-id'], requestId, what);
    const isLikely = typeof ms === 'number' && ms > 0 && ms < (timings?.phases.total ?? 0) + 100;
    t.ok(isLikely, `${what}: ${String(ms)} ms`);
  }
  t.equal(new Set(lines.map(({ requestId }) => requestId)).size, lines.length);
});

t.test('nothing that a client sends as a value is logged', async (t) => {
  const before = (await requestLines(served, 0)).length;
  const names = ['Header', 'Query', 'Path', 'Body', 'Cookie'];
  const secrets = [...names.map((name) => `s3cret${name}`), key.slice(-20)];
  const right = { authorization: `Bearer ${key}`, cookie: 's3cretCookie=1', 'x-trace': 's3cretHeader' };
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
  await requestLines(served, before + 10);
  await served.end('SIGTERM');
  t.equal((await requestLines(served, 0)).length, before + 10);
  for (const secret of secrets) t.notOk(served.output.stderr.includes(secret), secret);
});

t.test('a client that goes away before its answer leaves one line that says so', async (t) => {
  await using workplace = await openWorkplace('postgres');
  await workplace.json(['company', 'create', 'acme', '--api', '--invoicing']);
  const { key } = await workplace.json<{ key: string }>('key create acme --scopes all');
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
  const { server } = await startEmptyServer(t, 'sqlite');
  const outside = 'There is nothing at this path; the description of the API is at /.';
  const inside = 'There is nothing at this path; the reference lists the paths of the API.';
  const paths = {
    [outside]: '/nowhere /%zz /%00 /openapi.json.bak /.git/config //healthz /API/v1/jobs',
    [inside]: `/api /api/ /api/v1 /api/v2/jobs /api/v1/jobs/ /api/v1//jobs /api/v1/Jobs /api/v1/jobs/a/b
      /api/v1/../v1/jobs%2F /api/%zz`,
  };
  for (const [message, texts] of Object.entries(paths))
    for (const path of texts.split(/\s+/)) {
      const { statusCode, headers, body } = await client(server.url + path, {
        headers: { accept: 'text/html' },
      });
      t.equal(statusCode, 404, path);
      t.strictSame(JSON.parse(body), { error: { code: 'not_found', message } }, path);
      t.equal(headers['content-type'], 'application/json', path);
      t.equal(headers['cache-control'], 'private, no-cache', path);
      t.match(headers['x-request-id'], UUID, path);
      t.equal(headers['x-powered-by'], undefined);
      t.equal(headers['access-control-allow-origin'], undefined, 'no browser of another site may read it');
    }
});
