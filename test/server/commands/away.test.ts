// Long: it takes databases away under real processes.
import got from 'got';
import t from 'tap';

import { compareClocks } from '../../../src/server/commands/management.ts';
import { createLogger } from '../../../src/server/process/log.ts';
import { unavailable } from '../../../src/errors.ts';
import { isAway, openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { linesOf, openWorkplace, SECRET_KEY, until, type Workplace } from '../../_command.ts';
import { createDatabase, freePort, startPostgres } from '../../_postgres.ts';
import { feedOf } from '../backoffice/_feed.ts';
import { countJobs, fileOf, jobs, STAFF } from './_apply.ts';

const ask = (port: number, path: string) =>
  got(`http://127.0.0.1:${port}${path}`, { throwHttpErrors: false, retry: { limit: 0 } });

const answers = async (port: number, path: string, status: number) =>
  (await ask(port, path).catch(() => undefined))?.statusCode === status;

/** Asks a port for all that it has while there is no database. */
async function seen(port: number): Promise<unknown[]> {
  const all = ['/healthz', '/readyz', '/api/v1/jobs'].map(async (path) => {
    const { statusCode, body } = await ask(port, path);
    return [statusCode, JSON.parse(body) as unknown];
  });
  return Promise.all(all);
}

const AWAY = [
  [200, { status: 'alive' }],
  [503, { status: 'not ready' }],
  [
    503,
    { error: { code: 'unavailable', message: 'The service is temporarily unavailable. Retry shortly.' } },
  ],
];

/** A PostgreSQL that these tests stop and start. */
const server = await startPostgres();
t.teardown(() => server[Symbol.asyncDispose]());

async function openHere(): Promise<Workplace> {
  const workplace = await openWorkplace('sqlite', { isEmpty: true });
  const databaseUrl = await createDatabase(server.url);
  const settings = { DATABASE_URL: databaseUrl, WEBHOOK_SECRET_KEY: SECRET_KEY };
  await workplace.json('company create acme --api', settings);
  const start: Workplace['start'] = (line, environment, stdin) =>
    workplace.start(line, { ...settings, ...environment }, stdin);
  return { ...workplace, databaseUrl, start };
}

t.test('what starts while PostgreSQL is away waits for it, says so, and may be told to stop', async (t) => {
  await using workplace = await openHere();
  const { start } = workplace;
  await server.stop();
  const [port, management, ofWorker] = [await freePort(), await freePort(), await freePort()];
  const ports = { PORT: String(port), MANAGEMENT_PORT: String(management) };
  const lasting = [start('serve', ports), start('deliver', { MANAGEMENT_PORT: String(ofWorker) })];
  const stopped = start('serve', { PORT: String(await freePort()) });
  const apply = `apply ${fileOf(workplace, feedOf([...STAFF, ...jobs(1)]))}`;
  const [feed, stoppedFeed] = [start(`${apply} --json`), start(apply)];
  for (const one of [port, management, ofWorker]) {
    await until(() => answers(one, '/readyz', 503));
    t.strictSame(await seen(one), AWAY);
  }
  await until(() => stopped.output.stderr.includes('\n'));
  t.strictSame(await stopped.end('SIGTERM'), { exitCode: 0, signal: null });
  t.match(linesOf(stopped.output.stderr), [
    { msg: 'database.away', reason: /^The database postgres:.*can't be used: .*ECONNREFUSED/ },
  ]);
  t.notMatch(stopped.output.stderr, new URL(workplace.databaseUrl).password);
  await until(() => feed.output.stderr.includes('"away"'));
  await until(() => stoppedFeed.output.stderr.includes('Waiting for it.'));
  t.strictSame(await stoppedFeed.end('SIGTERM'), { exitCode: 1, signal: null });
  t.match(stoppedFeed.output.stderr, /\nfieldledger: The database postgres:.*ECONNREFUSED.*\n$/);
  await server.start();
  for (const one of [port, management, ofWorker]) await until(() => answers(one, '/readyz', 200));
  t.equal((await ask(port, '/api/v1/jobs')).statusCode, 401);
  for (const running of lasting) t.strictSame(await running.end('SIGTERM'), { exitCode: 0, signal: null });
  t.strictSame(await feed.ended, { exitCode: 0, signal: null });
  t.match(feed.output.stdout, /^(.*"status":"applied".*\n){3}$/);
  t.equal(await countJobs(workplace), 1);
});

t.test('a feed waits for a restart of PostgreSQL, and applies each of its lines once', async (t) => {
  await using workplace = await openHere();
  const count = 1_500;
  const changes = [...STAFF, ...jobs(count)];
  const running = workplace.start('apply --json', {}, 'pipe');
  const lines = () => running.output.stdout.split('\n').length;
  running.child.stdin?.write(feedOf(changes.slice(0, 1_000)));
  await until(() => lines() > 100);
  await server.stop();
  const before = lines();
  // However quick it was, these find no database.
  running.child.stdin?.end(feedOf(changes.slice(1_000)));
  await until(() => running.output.stderr.includes('"away"'));
  await server.start();
  t.strictSame(await running.ended, { exitCode: 0, signal: null });
  t.ok(before < count, `${before} lines before the restart`);
  const statuses = running.output.stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { status: string }).status);
  t.equal(statuses.length, count + 2);
  const skipped = statuses.filter((status) => status === 'skipped').length;
  t.ok(skipped <= 1, 'at most one whose answer was lost');
  t.equal(statuses.filter((status) => status === 'applied').length, count + 2 - skipped);
  t.equal(await countJobs(workplace), count);
});

t.test('a wrong password, a missing database and a foreign certificate still end at once', async (t) => {
  await using workplace = await openWorkplace('postgres', { isEmpty: true });
  const wrong = (change: (url: URL) => void) => {
    const url = new URL(workplace.databaseUrl);
    change(url);
    return { DATABASE_URL: url.href };
  };
  const settings = [
    wrong((url) => (url.password = 'wrong')),
    wrong((url) => (url.pathname = '/nothing')),
    wrong((url) => url.searchParams.set('sslmode', 'verify-full')),
  ];
  for (const environment of settings)
    for (const command of ['serve', 'deliver', 'apply'])
      t.match(await workplace.call(command, environment), { exitCode: 1, stderr: /^fieldledger: .+\n$/ });
});

t.test('what may come back is told apart from what somebody has to mend', (t) => {
  const fault = (code?: string, message = '', syscall?: string) =>
    unavailable({ cause: Object.assign(new Error(message), { code, syscall }) });
  const away = [
    ...['ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', '57P01', '25006', '53300', 'SQLITE_BUSY'].map((code) =>
      fault(code),
    ),
    fault('ENOENT', '', 'connect'),
    fault('57P03', 'the database system is starting up'),
    fault('08P01', 'server login has been failing, try again later (server_login_retry)'),
    fault(undefined, 'Connection terminated unexpectedly'),
    fault(undefined, 'Client has encountered a connection error and is not queryable'),
    fault(undefined, 'timeout exceeded when trying to connect'),
  ];
  const here = [
    ...['28P01', '3D000', '57014', '57P04', 'SQLITE_FULL', 'DEPTH_ZERO_SELF_SIGNED_CERT'].map((code) =>
      fault(code),
    ),
    fault('08P01', 'password authentication failed'),
    fault('ENOENT', '', 'open'),
    fault(undefined, 'The server does not support SSL connections'),
    new Error('Any.'),
  ];
  t.strictSame(new Set(away.map(isAway)), new Set([true]));
  t.strictSame(new Set(here.map(isAway)), new Set([false]));
  t.end();
});

t.test('a clock that differs from the one of PostgreSQL is told to the log', async (t) => {
  await using workplace = await openWorkplace('postgres');
  await using engine = await openEngine(workplace.databaseUrl);
  const log = createLogger('silent');
  const told: unknown[] = [];
  log.warn = (...line: unknown[]) => void told.push(line);
  await compareClocks(engine, log);
  t.strictSame(told, [], 'not the same clock');
  const aheadMs = 20_000;
  const { now } = Date;
  t.teardown(() => (Date.now = now));
  Date.now = () => now() + aheadMs;
  await compareClocks(engine, log);
  t.strictSame(told, [[{ secondsAheadOfDatabase: 20 }, 'clock.differs']]);
});
