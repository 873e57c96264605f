import { setTimeout as pause } from 'node:timers/promises';

import { sql } from 'kysely';
import pg from 'pg';
import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { describeError } from '../../../../src/command-line/terminal.ts';
import { AppError } from '../../../../src/errors.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../../../src/server/store/migrations/migrate.ts';
import { until } from '../../../_command.ts';
import { createDatabase, startPostgres } from '../../../_postgres.ts';
import { keyFor, openTestDatabase, startTestServer, STORY_NOW } from '../../../_server.ts';

t.test('a PostgreSQL that goes away is 503 until it is back, and the server needs no restart', async (t) => {
  await using postgres = await startPostgres();
  await using engine = await openEngine(await createDatabase(postgres.url));
  await migrate(engine);
  await createCompany(engine, 'acme', {}, STORY_NOW);
  await using server = await startTestServer({ engine });
  const headers = { authorization: `Bearer ${await keyFor(engine, 'acme')}` };
  const ask = () => server.http('api/v1/jobs', { headers });
  t.equal((await ask()).statusCode, 200);
  await postgres.stop();
  for (let round = 0; round < 3; round += 1) {
    const { statusCode, headers: answered, body } = await ask();
    t.equal(statusCode, 503);
    t.equal(answered['retry-after'], '5');
    t.strictSame(JSON.parse(body), {
      error: { code: 'unavailable', message: 'The service is temporarily unavailable. Retry shortly.' },
    });
  }
  t.equal((await server.http('readyz')).statusCode, 503);
  t.equal((await server.http('healthz')).statusCode, 200, 'the process itself is well');
  t.equal((await server.http('openapi.json')).statusCode, 200);
  await postgres.start();
  await until(async () => (await server.http('readyz')).statusCode === 200);
  t.equal((await ask()).statusCode, 200);
});

/** Has the backend of a connection say nothing while something is done. */
async function whileFrozen(pid: unknown, act: () => Promise<void>): Promise<void> {
  process.kill(Number(pid), 'SIGSTOP');
  try {
    await act();
  } finally {
    process.kill(Number(pid), 'SIGCONT');
  }
}

t.test('a PostgreSQL that says nothing is given up on, and no longer listened to', async (t) => {
  await using postgres = await startPostgres();
  const url = await createDatabase(postgres.url);
  await using engine = await openEngine(url, { poolMax: 1, statementMsMax: 300 });
  await migrate(engine);
  const read = () => engine.db.selectFrom('companies').select('id').execute();
  const [own] = await engine.run('SELECT pg_backend_pid() AS pid');
  await whileFrozen(own?.pid, async () => {
    await t.rejects(read(), { code: 'unavailable', cause: { message: 'Query read timeout' } });
    t.strictSame(await read(), [], 'the next read has a connection of its own');
  });
  let newsCount = 0;
  const watch = engine.watchDeliveries(() => (newsCount += 1));
  await until(() => newsCount > 0);
  const named = "WHERE application_name = 'fieldledger-deliveries'";
  const [listening] = await engine.run(`SELECT pid FROM pg_stat_activity ${named}`);
  await whileFrozen(listening?.pid, async () => {
    const hang = pause(3_000, 'it hangs', { ref: false });
    t.equal(await Promise.race([watch[Symbol.asyncDispose](), hang]), undefined);
  });
});

t.test('a statement that takes too long is given up on, and holds up none after it', async (t) => {
  await using database = await openTestDatabase('postgres');
  await using engine = await openEngine(database.url, { poolMax: 1, statementMsMax: 200 });
  const given = { code: 'unavailable', cause: { message: 'Query read timeout' } };
  await t.rejects(engine.run('SELECT pg_sleep(30)'), given);
  const startedAt = performance.now();
  t.strictSame(await engine.run('SELECT 1 AS one'), [{ one: 1 }]);
  t.ok(performance.now() - startedAt < 1_000);
  const slow = engine.transaction((transaction) => sql`SELECT pg_sleep(30)`.execute(transaction));
  await t.rejects(slow, { code: 'unavailable', cause: { code: '57014' } });
  t.strictSame(await engine.run('SHOW statement_timeout'), [{ statement_timeout: '0' }], 'and no other is');
});

t.test('a change that waits for a lock does not hold up the reads', async (t) => {
  await using database = await openTestDatabase('postgres');
  const { engine, url } = database;
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const read = () => engine.db.selectFrom('companies').select('id').execute();
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    await holder.query("SELECT 1 FROM companies WHERE id = 'acme' FOR UPDATE");
    let isDone = false;
    const change = keyFor(engine, 'acme').then(() => {
      isDone = true;
    });
    const waiting =
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await until(async () => (await holder.query(waiting)).rowCount === 1);
    t.strictSame(await read(), [{ id: 'acme' }]);
    t.notOk(isDone);
    await holder.query('COMMIT');
    await change;
  } finally {
    await holder.end();
  }
});

t.test(
  'a connection that breaks within a change fails that change in one sentence, and nothing else',
  async (t) => {
    await using database = await openTestDatabase('postgres');
    await using engine = await openEngine(database.url, { poolMax: 1 });
    const change = engine.transaction(async (transaction) => {
      const pid = sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`;
      const [backend] = (await pid.execute(transaction)).rows;
      await database.engine.run('SELECT pg_terminate_backend($1)', [backend?.pid]);
      // Noticed between two statements or at the next one, whichever comes first.
      for (;;) await pid.execute(transaction);
    });
    const error = await change.catch((thrown: unknown) => thrown);
    t.ok(error instanceof AppError);
    t.match(describeError(error), /^(?:Connection terminated|terminating connection|Client has)[^\n]*$/);
    t.strictSame(
      await engine.run('SELECT 1 AS one'),
      [{ one: 1 }],
      'the next one has a connection of its own',
    );
  },
);

t.test('a pool never opens more connections than it may', async (t) => {
  await using database = await openTestDatabase('postgres');
  await using engine = await openEngine(database.url, { poolMax: 2 });
  const sleep = () => engine.run('SELECT pg_sleep(0.05)');
  const [, count] = await Promise.all([
    Promise.all(Array.from({ length: 10 }, sleep)),
    database.engine.run(
      "SELECT COUNT(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep(0.05)'",
    ),
  ]);
  t.ok(Number(count[0]?.count) <= 2);
});
