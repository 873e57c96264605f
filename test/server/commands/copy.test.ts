import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { STORED_TABLES } from '../../../src/server/store/stored-tables.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { openWorkplace } from '../../_command.ts';
import { createDatabase } from '../../_postgres.ts';
import { STORY_NOW } from '../../_server.ts';
import { openFullStore } from './_full-store.ts';

const KILLS = Number(process.env.COPY_KILLS ?? 2);

/** A workplace on the PostgreSQL of these tests, whose databases its address leads to. */
const place = await openWorkplace('postgres', { isEmpty: true });
t.teardown(() => place[Symbol.asyncDispose]());
/** A command line that holds a password is refused. */
const env = { PGPASSWORD: new URL(place.databaseUrl).password };

async function emptyPostgres(): Promise<string> {
  const url = new URL(await createDatabase(place.databaseUrl));
  url.password = '';
  return url.href;
}

/** Every row of every table, as text. */
async function readAll(url: string): Promise<Map<string, string[]>> {
  const address = url.replace('postgres@', `postgres:${env.PGPASSWORD}@`);
  await using engine = await openEngine(address);
  const contents = new Map<string, string[]>();
  for (const { name } of STORED_TABLES) {
    const rows = await engine.db
      .selectFrom(name as 'companies')
      .selectAll()
      .execute();
    const texts = rows.map((row) =>
      JSON.stringify(
        Object.entries(row)
          .map(([column, value]) => [column, Buffer.isBuffer(value) ? value.toString('hex') : String(value)])
          .sort(),
      ),
    );
    contents.set(name, texts.sort());
  }
  return contents;
}

t.test('a store goes from SQLite to PostgreSQL and back, whole', async (t) => {
  await using workplace = await openFullStore();
  const { databaseUrl, folder, call } = workplace;
  {
    await using engine = await openEngine(databaseUrl);
    const at = STORY_NOW.toISOString();
    await engine.run(`INSERT INTO erasures VALUES ('ers_1', 'sha', '${at}', '${at}', 12, '${at}')`);
  }
  const original = await readAll(databaseUrl);
  for (const [name, rows] of original) t.ok(rows.length > 0, `${name} has rows to copy`);
  const postgres = await emptyPostgres();
  const there = await call(`copy --from ${databaseUrl} --to ${postgres}`, env);
  t.match(there, { exitCode: 0, stderr: '', stdout: /rows, compared, in/ });
  t.match(
    there.stdout,
    /Signing secrets of webhooks stay encrypted with the key in .*work\.db-secret-key: name it by/,
  );
  t.strictSame(await readAll(postgres), original);
  const back = `sqlite:${join(folder, 'back.db')}`;
  t.match(await call(`copy --from ${postgres} --to ${back} --json`, env), { exitCode: 0, stderr: '' });
  t.strictSame(await readAll(back), original);
  const list = await call('company list', { ...env, DATABASE_URL: postgres });
  t.match(list, { exitCode: 0, stdout: /zenith/ }, 'the copy is a store like another');
});

t.test('all tables are copied but those that a migration fills, and the generation', async (t) => {
  await using workplace = await openWorkplace();
  await using engine = await openEngine(workplace.databaseUrl);
  const tables = await engine.run(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  );
  t.strictSame(
    tables.map(({ name }) => String(name)).sort(),
    [...STORED_TABLES.map(({ name }) => name), 'migrations', 'record_contracts', 'store_generation'].sort(),
  );
});

t.test('a copy that is killed goes on when it is asked for again', async (t) => {
  await using workplace = await openFullStore();
  const { databaseUrl, call, start } = workplace;
  const to = await emptyPostgres();
  const line = `copy --from ${databaseUrl} --to ${to}`;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const copy = start(line, env);
    await Promise.race([pause(500 + Math.random() * 1_500), copy.ended]);
    await copy.end('SIGKILL');
  }
  const ended = await call(line, env);
  // One that was not killed in time has made the target whole.
  t.match(ended.exitCode === 0 ? 'whole' : ended.stderr, /whole|The target is not empty/);
  t.strictSame(await readAll(to), await readAll(databaseUrl));
});

t.test('a copy that was broken off goes on with its own source only', async (t) => {
  await using workplace = await openWorkplace();
  const { databaseUrl, folder, call } = workplace;
  const fresh = `sqlite:${join(folder, 'fresh.db')}`;
  await call('migrate', { DATABASE_URL: fresh });
  {
    await using engine = await openEngine(fresh);
    await engine.run("INSERT INTO migrations VALUES ('unfinished-copy-0123456789abcdef')");
  }
  t.match(await call(`copy --from ${databaseUrl} --to ${fresh}`), {
    exitCode: 1,
    stderr: /The target has a part of a copy that was broken off, of another source, .* copy again\./,
  });
});

t.test('a database is not copied onto itself by another name', async (t) => {
  await using workplace = await openWorkplace();
  const postgres = await emptyPostgres();
  const here = { ...env, DATABASE_URL: postgres };
  await workplace.call('migrate', here);
  const other = new URL(postgres);
  other.hostname = other.hostname === '127.0.0.1' ? 'localhost' : '127.0.0.1';
  const before = await readAll(postgres);
  t.match(await workplace.call(`copy --from ${postgres} --to ${other.href}`, env), {
    exitCode: 1,
    stderr: 'The source and the target are the same database.',
  });
  t.strictSame(await readAll(postgres), before);
  t.match(await workplace.call('migrate --check', here), { exitCode: 0 });
});

t.test('a copy is refused where it would lose or leak something', async (t) => {
  await using workplace = await openWorkplace();
  const { databaseUrl: own, folder, call } = workplace;
  await call('company create acme');
  const here = `sqlite:${folder}`;
  const [full, fresh, notes] = [`${here}/full.db`, `${here}/fresh.db`, `${here}/notes.txt`];
  await call('migrate', { DATABASE_URL: full });
  await call('company create other', { DATABASE_URL: full });
  writeFileSync(join(folder, 'notes.txt'), 'Not a database.');
  const noDatabase =
    /^fieldledger: The database sqlite:.*notes\.txt can't be used: file is not a database\n$/;
  const refusals: [from: string, to: string, message: string | RegExp][] = [
    [own, full, 'The target is not empty: its table companies has rows. Name an empty database.'],
    [own, own, '--from and --to are the same database: sqlite:'],
    [`${here}/none.db`, fresh, 'There is no database sqlite:'],
    [
      'postgres://jane:secret@127.0.0.1/x',
      fresh,
      '--from must be without a password: PostgreSQL takes it from ~/.pgpass or PGPASSWORD.',
    ],
    ['mysql://127.0.0.1/x', fresh, '--from must be sqlite:PATH, or postgres://'],
    [own, 'postgres://jane@127.0.0.1:1/x', "The database postgres://jane@127.0.0.1:1/x can't be used: "],
    [notes, fresh, noDatabase],
    [own, notes, noDatabase],
  ];
  for (const [from, to, message] of refusals) {
    const refused = await call(`copy --from ${from} --to ${to}`);
    t.match(refused, { exitCode: 1, stderr: message });
    t.notMatch(refused.stdout + refused.stderr, 'secret@');
  }
  t.notOk(existsSync(join(folder, 'none.db')));
  await workplace.serve();
  const served = await call(`copy --from ${own} --to ${fresh}`);
  t.match(served, { exitCode: 1, stderr: /Another process serves, copies or restores the database/ });
});
