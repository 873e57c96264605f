import { once } from 'node:events';
import { connect } from 'node:net';

import got from 'got';
import t from 'tap';

import { serveManagement } from '../../src/server/commands/management.ts';
import { createLogger } from '../../src/server/process/log.ts';
import {
  openTestDatabase,
  startExampleServer,
  startTestServer,
  STORY_NOW,
  type TestServer,
} from '../_server.ts';
import { exchangeRaw } from './api/_raw.ts';
import { until } from '../_command.ts';
import { connectTo } from '../_socket.ts';

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)$/;

/** The samples of a page in Prometheus' text format, by name and labels; a line that isn't of it throws. */
function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const typed = new Set<string>();
  for (const line of text.split('\n').filter((candidate) => candidate !== '')) {
    const [, typedName] = /^# TYPE (\S+) (?:counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (typedName !== undefined) typed.add(typedName);
    if (line.startsWith('#')) continue;
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const family = name.replace(/_(?:bucket|sum|count)$/, '');
    if (!typed.has(name) && !typed.has(family))
      throw new Error(`It is not a sample of a known type: ${line}`);
    samples.set(labels === '' ? name : `${name}{${labels}}`, Number(value));
  }
  return samples;
}

t.test('/healthz says that the process lives, and /readyz whether its database can be used', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await using server = await startTestServer({ engine });
  const ask = async (path: string) => {
    const { statusCode, headers, body } = await server.http(path);
    t.match(headers['content-type'], /^application\/json/);
    return [statusCode, body];
  };
  const [alive, ready] = [
    [200, '{"status":"alive"}'],
    [200, '{"status":"ready"}'],
  ];
  const notReady = [503, '{"status":"not ready"}'];
  t.strictSame([await ask('healthz'), await ask('readyz')], [alive, ready]);
  await engine.run('ALTER TABLE companies RENAME TO elsewhere');
  t.strictSame(await ask('readyz'), notReady, 'without its tables');
  await engine.run('ALTER TABLE elsewhere RENAME TO companies');
  t.strictSame(await ask('readyz'), ready, 'and as soon as they are there');
  await engine[Symbol.asyncDispose]();
  t.strictSame([await ask('healthz'), await ask('readyz')], [alive, notReady], 'the reason is for the log');
});

/** Serves the management pages of a test server on a port of their own. */
async function openManagement({ engine, metrics }: TestServer) {
  const config = { managementHost: '127.0.0.1', managementPort: 0, managementNames: ['node1.acme.example'] };
  const log = createLogger('silent');
  const options = { engine, metrics, log, now: () => STORY_NOW, isReady: () => true };
  const management = await serveManagement(config, options);
  const url = management.address ?? '';
  const http = got.extend({
    prefixUrl: url,
    retry: { limit: 0 },
    throwHttpErrors: false,
  });
  return { http, url, [Symbol.asyncDispose]: management[Symbol.asyncDispose] };
}

const server = await startExampleServer('sqlite');
const management = await openManagement(server);
t.teardown(async () => {
  await management[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

t.test('probes are short, and never kept: each is asked anew', async (t) => {
  for (const http of [server.http, management.http])
    for (const path of ['healthz', 'readyz']) {
      const asked = { 'if-none-match': '*', 'accept-encoding': 'gzip' };
      const { headers, rawBody } = await http(path, { headers: asked });
      t.equal(headers['cache-control'], 'no-store', path);
      t.equal(headers.etag, undefined, path);
      t.equal(headers['content-encoding'], undefined, path);
      t.ok(rawBody.length < 25, path);
    }
});

t.test('HEAD works wherever GET does', async (t) => {
  for (const http of [server.http, management.http])
    for (const path of ['healthz', 'readyz', ...(http === server.http ? [] : ['metrics'])]) {
      const { statusCode, headers, rawBody } = await http.head(path);
      t.strictSame([statusCode, rawBody.length], [200, 0], path);
      t.ok(Number(headers['content-length']) > 0, path);
    }
});

t.test('the port for operators answers what is malformed as the public port does', async (t) => {
  const get = (headers: string) => `GET /healthz HTTP/1.1\r\n${headers}\r\n`;
  const long = 'x'.repeat(17_000);
  type Request = [name: string, request: string, status?: number, code?: string];
  /** After these a server can't know where the next request begins. */
  const broken: Request[] = [
    ['what is not HTTP', 'nonsense\r\n\r\n'],
    ['a long header', get(`Host: a\r\nX: ${long}\r\n`)],
    ['a long path', `GET /${long} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a length and chunks', get('Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n')],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
  ];
  const whole: Request[] = [
    ['two Hosts', get('Host: a\r\nHost: b\r\n')],
    ['no Host', get('')],
    ['a path of nothing', 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'not_found'],
    ['a Host', get('Host: a\r\n'), 200, ''],
    ['an expectation', get('Host: a\r\nExpect: foo\r\n'), 200, ''],
  ];
  for (const url of [management.url, server.url])
    for (const [name, request, status = 400, code = 'invalid_request'] of [...broken, ...whole]) {
      const [answer] = await exchangeRaw(url, request);
      const what = `${name} at ${url}`;
      t.equal(answer?.status, status, what);
      t.equal(answer?.headers['x-content-type-options'], 'nosniff', what);
      if (code !== '') t.match(JSON.parse(answer?.body ?? ''), { error: { code } }, what);
      if (!broken.some(([one]) => one === name)) continue;
      t.equal(answer?.headers.connection, 'close', what);
      if (url === server.url) t.match(answer?.headers['x-request-id'], /^[0-9a-f-]{36}$/, what);
    }
});

t.test('a bad chunk gets one answer on the port for operators', async (t) => {
  using connection = await connectTo(Number(new URL(management.url).port));
  connection.send('GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n');
  const text = await connection.closed;
  t.equal([...text.matchAll(/HTTP\/1\.1 \d{3} /g)].length, 1);
  t.match(text, /^X-Content-Type-Options: nosniff\r$/m);
});

t.test('a client that asked to CONNECT and stays does not keep the port for operators open', async (t) => {
  const closing = await openManagement(server);
  const { port, hostname } = new URL(closing.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on('error', () => undefined).write('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  await t.resolves(async () => closing[Symbol.asyncDispose]());
  socket.destroy();
});

t.test("/metrics counts requests by operation and status, in Prometheus' text format", async (t) => {
  await using counting = await startExampleServer('sqlite');
  await using management = await openManagement(counting);
  const { http, key } = counting;
  const authorization = { headers: { authorization: `Bearer ${key}` } };
  await http('api/v1/jobs', authorization);
  await http('api/v1/jobs?limit=1', authorization);
  await http('api/v1/jobs?limit=0', authorization);
  await http('api/v1/jobs');
  await http('api/v1/customers/nobody', authorization);
  await http('nowhere');
  // A request is counted when its answer has left, which its client may notice sooner.
  const last = 'fieldledger_requests_total{operation="none",status="404"}';
  await until(async () => samplesOf((await management.http('metrics')).body).has(last));
  const page = await management.http('metrics');
  t.equal(page.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const samples = samplesOf(page.body);
  const counted = [...samples].filter(([name]) => name.startsWith('fieldledger_requests_total'));
  t.strictSame(Object.fromEntries(counted), {
    'fieldledger_requests_total{operation="listJobs",status="200"}': 2,
    'fieldledger_requests_total{operation="listJobs",status="400"}': 1,
    'fieldledger_requests_total{operation="listJobs",status="401"}': 1,
    'fieldledger_requests_total{operation="getCustomer",status="404"}': 1,
    'fieldledger_requests_total{operation="none",status="404"}': 1,
  });
  t.equal(samples.get('fieldledger_request_seconds_count{operation="listJobs"}'), 4);
  t.equal(samples.get('fieldledger_request_seconds_bucket{le="+Inf",operation="listJobs"}'), 4);
  t.ok((samples.get('fieldledger_request_seconds_sum{operation="listJobs"}') ?? 0) > 0);
  t.ok((samples.get('process_resident_memory_bytes') ?? 0) > 10_000_000, 'the process itself is in it too');
  t.notMatch(page.body, /nobody|brennan|fl\./, 'no id, company or key is a label');
  t.notMatch(page.body, '127.0.0.1');
});

t.test('two servers in one process count for themselves', async (t) => {
  const [first, second] = [server, await startExampleServer('sqlite')];
  t.teardown(() => second[Symbol.asyncDispose]());
  await first.http('nowhere');
  const counted = async ({ metrics }: typeof first) =>
    samplesOf(await metrics.text()).get('fieldledger_requests_total{operation="none",status="404"}');
  await until(async () => ((await counted(first)) ?? 0) > 0);
  t.equal(await counted(second), undefined);
});

t.test('/metrics isn’t shown under a name that somebody else may lead to this machine', async (t) => {
  const own = ['127.0.0.1:9464', '[::1]:9464', '10.0.0.7', 'localhost:9464', 'fieldledger:9464'];
  const named = ['node1.acme.example', 'NODE1.acme.example:9464'];
  const others = [
    'evil.example:9464',
    'node1.acme.example.evil.example',
    '127.0.0.1.evil.example',
    'localhost.',
  ];
  for (const host of [...own, ...named])
    t.equal((await management.http('metrics', { headers: { host } })).statusCode, 200, host);
  for (const host of others) {
    const { statusCode, body } = await management.http('metrics', { headers: { host } });
    t.equal(statusCode, 400, host);
    t.match(body, 'add it to MANAGEMENT_NAMES');
  }
  const [answer] = await exchangeRaw(management.url, 'GET /metrics HTTP/1.0\r\n\r\n');
  t.equal(answer?.status, 200, 'no browser asks without a Host');
  t.equal((await server.http('metrics')).statusCode, 404, 'and the public has none');
});

t.test('a rule of a proxy for /readyz isn’t passed by another way of writing it', async (t) => {
  const paths = ['healthz', 'readyz', 'metrics', 'openapi.json', 'llms.txt', 'portal/sign-in', 'changelog'];
  for (const path of paths) {
    const escaped = `%${path.charCodeAt(0).toString(16)}${path.slice(1)}`;
    const appended = [`${path}/`, `${path};`, `${path}%2f`];
    const others = [path.toUpperCase(), escaped, `/${path}`, `./${path}`, ...appended];
    for (const url of [server.url, management.url])
      for (const other of others) {
        const [answer] = await exchangeRaw(url, `GET /${other} HTTP/1.1\r\nHost: a\r\n\r\n`);
        t.equal(answer?.status, 404, other);
      }
  }
});
