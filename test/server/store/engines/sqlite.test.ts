import { once } from 'node:events';
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { AppError } from '../../../../src/errors.ts';
import { listCompanies } from '../../../../src/server/store/records/companies.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { makePrivately } from '../../../../src/server/store/engines/sqlite-file.ts';
import { callCommand, until } from '../../../_command.ts';
import { keyFor, openTestDatabase, startTestServer, STORY_NOW } from '../../../_server.ts';
import { holdLock, startScript } from './_scripts.ts';

t.test("another process's lock is waited for without holding up anything else", async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine, url } = database;
  await createCompany(engine, 'acme', {}, STORY_NOW);
  await using server = await startTestServer({ engine });
  const headers = { authorization: `Bearer ${await keyFor(engine, 'acme')}` };
  await using holder = await holdLock(url);
  let isDone = false;
  const change = createCompany(engine, 'second', {}, STORY_NOW).then(() => {
    isDone = true;
  });
  for (let round = 0; round < 20; round += 1) {
    t.equal((await server.http('api/v1/jobs', { headers })).statusCode, 200, 'reads go on');
  }
  t.equal((await server.http('readyz')).statusCode, 200);
  t.notOk(isDone, 'the change waits');
  holder.letGo();
  await change;
  t.match(await listCompanies(engine), [{ id: 'acme' }, { id: 'second' }]);
});

t.test('a lock that is not let go of is given up on, and the event loop turns all the while', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine, url } = database;
  await using holder = await holdLock(url);
  const gaps: number[] = [];
  let turnedAt = performance.now();
  const timer = setInterval(() => {
    gaps.push(performance.now() - turnedAt);
    turnedAt = performance.now();
  }, 10);
  t.teardown(() => clearInterval(timer));
  const startedAt = performance.now();
  const command = callCommand(['company', 'create', 'other'], { DATABASE_URL: url });
  const error = await createCompany(engine, 'acme', {}, STORY_NOW).catch((thrown: unknown) => thrown);
  const waitedMs = performance.now() - startedAt;
  t.ok(error instanceof AppError);
  t.match(error, { code: 'unavailable', message: 'The service is temporarily unavailable. Retry shortly.' });
  t.ok(waitedMs >= 5_000 && waitedMs < 15_000, `${Math.round(waitedMs)} ms`);
  const longest = Math.max(...gaps);
  t.ok(gaps.length > 50 && longest < 2_000, `${gaps.length} turns, the longest of ${Math.round(longest)} ms`);
  const stderr = `fieldledger: The database ${url} can't be used: database is locked\n`;
  t.strictSame(await command, { exitCode: 1, stdout: '', stderr }, 'a command tells which, and why');
  holder.letGo();
  await once(holder.child, 'exit');
  await createCompany(engine, 'acme', {}, STORY_NOW);
  t.equal((await listCompanies(engine)).length, 1, 'the next change is made');
});

const READER_PAUSE_MS = 1_000;

t.test('a kill of the process loses nothing that was committed', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine, url } = database;
  // The last ones while the log, whose thousand pages a few hundred fill, is carried into the file by a thread.
  for (const enough of [1, 60, 600]) {
    const told: string[] = [];
    {
      await using writer = startScript('_writer.ts', url);
      await until(() => writer.output().split('\n').length > enough);
      // A busy machine gives the reader no turn for a while, in which the writer gets as far as it is let.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, READER_PAUSE_MS);
      writer.child.kill('SIGKILL');
      await once(writer.child, 'close');
      told.push(...writer.output().split('\n').slice(0, -1));
    }
    const kept = new Set((await listCompanies(engine)).map(({ id }) => id));
    t.ok(told.length >= enough && told.every((id) => kept.has(id)));
    // At most the one that it had no time to tell of.
    t.ok(kept.size <= told.length + 1, `${kept.size} kept, ${told.length} told of`);
    t.strictSame(await engine.run('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    for (const table of ['company_clocks', 'companies']) await engine.run(`DELETE FROM ${table}`);
  }
});

t.test('a unit of work is all or nothing, and the next one is not disturbed', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await createCompany(engine, 'before', {}, STORY_NOW);
  const failing = engine.transaction(async (transaction) => {
    await transaction.updateTable('companies').set({ currency: 'XXX' }).execute();
    throw new Error('No.');
  });
  const following = createCompany(engine, 'whole', {}, STORY_NOW);
  await t.rejects(failing, new Error('No.'));
  await following;
  const left = (await listCompanies(engine)).map(({ id, currency }) => `${id} ${currency}`);
  t.strictSame(left, ['before EUR', 'whole EUR']);
});

t.test('its version changes with every commit, of whatever process', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine, url } = database;
  await using other = await openEngine(url);
  const before = engine.version();
  t.type(before, 'number');
  await createCompany(engine, 'own', {}, STORY_NOW);
  const own = engine.version();
  t.not(own, before);
  await createCompany(other, 'other', {}, STORY_NOW);
  t.not(engine.version(), own);
});

t.test('a file that can not be looked at for news ends nothing', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const engine = await openEngine(database.url);
  await using watch = engine.watchDeliveries(() => undefined);
  t.ok(watch);
  // Its handles are closed: each look fails.
  await engine[Symbol.asyncDispose]();
  await pause(250);
  t.pass('no look has thrown');
});

t.test('the file is in write-ahead mode, and closing leaves one file', async (t) => {
  const path = join(t.testdir({}), 'deep', 'er', 'x.db');
  {
    await using engine = await openEngine(`sqlite:${path}`);
    t.strictSame(await engine.run('PRAGMA journal_mode'), [{ journal_mode: 'wal' }]);
    t.strictSame(await engine.run('PRAGMA foreign_keys'), [{ foreign_keys: 1 }]);
    t.strictSame(await engine.run('PRAGMA busy_timeout'), [{ timeout: 0 }], 'the driver never blocks');
    await engine.run('CREATE TABLE x (y) STRICT').catch(() => undefined);
  }
  t.ok(existsSync(path));
  t.notOk(existsSync(`${path}-wal`));
  {
    await using engine = await openEngine(`sqlite:${path}`);
    await engine.run('SELECT id FROM companies').catch(() => undefined);
  }
  t.notOk(existsSync(`${path}-wal`), 'nor does one that was only read');
});

t.test('a database that others could read and write is its owner’s alone once it is opened', async (t) => {
  const path = join(t.testdir({}), 'work.db');
  const modeOf = (name: string) => statSync(name).mode & 0o777;
  writeFileSync(path, '');
  chmodSync(path, 0o666);
  {
    await using engine = await openEngine(`sqlite:${path}`);
    t.equal(engine.dialect.name, 'sqlite');
    for (const name of [path, `${path}-wal`, `${path}-shm`]) t.equal(modeOf(name), 0o600, name);
  }
  // A server that was killed leaves its log behind.
  for (const [name, before, after] of [
    [path, 0o644, 0o600],
    [`${path}-wal`, 0o660, 0o600],
    [`${path}-shm`, 0o604, 0o600],
    [path, 0o440, 0o400],
  ] as const) {
    writeFileSync(name, '');
    chmodSync(name, before);
    makePrivately(path);
    t.equal(modeOf(name), after, name);
  }
});
