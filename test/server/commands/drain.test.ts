import { existsSync, readFileSync } from 'node:fs';

import got, { RequestError } from 'got';
import pg from 'pg';
import t from 'tap';

import { openWorkplace, type Served, until } from '../../_command.ts';
import { connectTo } from '../../_socket.ts';

/** Long enough that no test ends because the time is up, unless it wants that. */
const PATIENT = { SHUTDOWN_SECONDS: '60' };
const HALF_A_REQUEST = 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n';

/** Both take seconds in which hardly anything is done; they wait side by side. */
const WAITING = { buffered: true };
t.jobs = 2;

/** Whether a server still takes new connections. */
async function isRefused({ greeting }: Served): Promise<boolean> {
  try {
    await got(`${greeting.address}/healthz`, { retry: { limit: 0 } });
    return false;
  } catch (error) {
    // One that was made in the very moment of closing is reset.
    if (error instanceof RequestError && error.code === 'ECONNRESET') return false;
    if (error instanceof RequestError && error.code === 'ECONNREFUSED') return true;
    throw error;
  }
}

/** Sends a signal, and waits until it has been noticed. */
async function tell(served: Served, signal: NodeJS.Signals): Promise<void> {
  served.child.kill(signal);
  await until(() => isRefused(served));
}

/** Sends the first half of a request, and waits until the server has begun to read it. */
async function halfRequest(served: Served) {
  const connection = await connectTo(served.port);
  // Two requests in one go: the answer to the first shows that the beginning of the second was read.
  connection.send(`GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n${HALF_A_REQUEST}`);
  await until(() => connection.received().endsWith('{"status":"alive"}'));
  return connection;
}

t.test('SIGTERM lets a request under way finish, refuses new ones, and exits with 0', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve([], PATIENT);
  using connection = await halfRequest(served);
  await tell(served, 'SIGTERM');
  t.notOk(connection.isClosed(), 'the request under way is waited for');
  connection.send('\r\n');
  const [, second = ''] = (await connection.closed).split('{"status":"alive"}');
  t.match(second, /^HTTP\/1\.1 503 Service Unavailable\r\n/, '/readyz says that it is stopping');
  t.match(second, /\r\nConnection: close\r\n/);
  t.match(second, /\r\n\r\n\{"status":"not ready"\}$/);
  t.strictSame(await served.ended, { exitCode: 0, signal: null });
  const messages = served.logs().map(({ msg }) => msg);
  t.strictSame(messages.at(0), 'server.started');
  t.strictSame(messages.at(-1), 'server.stopped', 'the last line is in the log');
  t.notOk(messages.includes('server.cut-off'), 'nothing had to be cut off');
});

t.test(
  'a stop waits for a process of PDFs that is slow to end, and closes the database after it',
  WAITING,
  async (t) => {
    await using workplace = await openWorkplace('sqlite', { contents: 'example' });
    const { key } = await workplace.json<{ key: string }>('key create brennan --scopes all');
    const served = await workplace.serve();
    const path = '/api/v1/invoices/01a0a486-e8e0-7076-ace5-e31611d48e0a/pdf';
    const headers = { authorization: `Bearer ${key}` };
    await got(`${served.greeting.address}${path}`, { headers }).buffer();
    const { pid } = served.child;
    const printing = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    process.kill(Number(printing), 'SIGSTOP');
    t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
    const log = `${workplace.databaseUrl.slice('sqlite:'.length)}-wal`;
    t.notOk(existsSync(log), 'SQLite removes its log when the last connection is closed');
  },
);

t.test('with a delay, a load balancer is told before anybody is refused', WAITING, async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve([], { ...PATIENT, SHUTDOWN_DELAY_SECONDS: '3' });
  const { address, management } = served.greeting;
  const ask = (url: string) => got(url, { retry: { limit: 0 }, throwHttpErrors: false });
  const askedAt = performance.now();
  served.child.kill('SIGTERM');
  for (const base of [address, management])
    await until(async () => (await ask(`${base}/readyz`)).statusCode === 503);
  const { statusCode, headers } = await ask(`${address}/api/v1/jobs`);
  t.equal(statusCode, 401, 'a new connection is still answered');
  t.equal(headers.connection, 'close', 'and asked to go');
  t.equal((await ask(`${address}/healthz`)).statusCode, 200, 'and the process lives');
  t.strictSame(await served.ended, { exitCode: 0, signal: null });
  t.ok(performance.now() - askedAt >= 2_990);
  const warnings = served.logs().filter(({ level }) => Number(level) >= 40);
  t.strictSame(warnings, [], 'a stop is no trouble');
});

t.test('SIGINT stops a server as well, and connections that nobody uses do not hold it up', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve([], PATIENT);
  using silent = await connectTo(served.port);
  using kept = await connectTo(served.port);
  kept.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => kept.received().endsWith('{"status":"alive"}'));
  const askedAt = performance.now();
  t.strictSame(await served.end('SIGINT'), { exitCode: 0, signal: null });
  t.ok(performance.now() - askedAt < 10_000, 'long before the time is up');
  t.equal(await silent.closed, '');
  await kept.closed;
});

t.test('a request that waits for the database is answered and closed before the server ends', async (t) => {
  await using workplace = await openWorkplace('postgres');
  await workplace.json('company create acme --api --invoicing');
  const { key } = await workplace.json<{ key: string }>('key create acme --scopes all');
  const served = await workplace.serve([], PATIENT);
  const holder = new pg.Client({ connectionString: workplace.databaseUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE');
    // The connection of a client that means to keep it.
    using connection = await connectTo(served.port);
    connection.send(`GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    const isWaiting = async () =>
      (await holder.query("SELECT 1 FROM pg_locks WHERE relation = 'jobs'::regclass AND NOT granted"))
        .rowCount === 1;
    await until(isWaiting);
    await tell(served, 'SIGTERM');
    await holder.query('COMMIT');
    t.match(await connection.closed, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{"data":\[\],"nextCursor":null\}$/);
    t.strictSame(await served.ended, { exitCode: 0, signal: null });
    t.notOk(served.logs().some(({ msg }) => msg === 'server.cut-off'));
  } finally {
    await holder.end();
  }
});

t.test('SIGHUP does too, and a request that never ends is cut off when the time is up', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve([], { SHUTDOWN_SECONDS: '1' });
  using connection = await halfRequest(served);
  const askedAt = performance.now();
  t.strictSame(await served.end('SIGHUP'), { exitCode: 0, signal: null });
  const elapsedMs = performance.now() - askedAt;
  t.ok(elapsedMs >= 900 && elapsedMs < 10_000, `${Math.round(elapsedMs)} ms`);
  t.match(served.logs(), [
    { msg: 'server.started' },
    {},
    { msg: 'server.cut-off', seconds: 1 },
    { msg: 'server.stopped' },
  ]);
  await connection.closed;
});

t.test('a second signal ends the process at once', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve([], PATIENT);
  using connection = await halfRequest(served);
  await tell(served, 'SIGTERM');
  const askedAt = performance.now();
  t.strictSame(await served.end('SIGINT'), { exitCode: 1, signal: null });
  t.ok(performance.now() - askedAt < 10_000);
  await connection.closed;
});
