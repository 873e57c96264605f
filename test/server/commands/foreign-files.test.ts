import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'better-sqlite3';
import pg from 'pg';
import t from 'tap';

import { openWorkplace } from '../../_command.ts';
import { digestOf } from './_backups.ts';

/** All that somebody else could notice of a folder: names, modes, times of change and contents. */
function stateOf(folder: string): unknown[] {
  const names = readdirSync(folder).sort();
  return names.map((name) => {
    const { mode, mtimeMs, size } = statSync(join(folder, name));
    return { name, mode: mode & 0o777, mtimeMs, size, digest: digestOf(join(folder, name)) };
  });
}

/** Databases of another program, each in the state in which that program may leave it. */
const STATES: Record<string, (path: string) => void> = {
  'with a rollback journal': (path) => fill(path, 'DELETE'),
  'in write-ahead mode, closed': (path) => fill(path, 'WAL'),
  'in write-ahead mode, killed': (path) => abandon(path, 'WAL', ['-wal']),
  'with a journal to play back, killed': (path) => abandon(path, 'DELETE', ['-journal']),
  'with a table "migrations" of its own': (path) =>
    fill(path, 'DELETE', 'CREATE TABLE migrations (id INTEGER, migration TEXT, batch INTEGER)'),
  'with a table "migrations" that has names': (path) =>
    fill(
      path,
      'DELETE',
      "CREATE TABLE migrations (name TEXT); INSERT INTO migrations VALUES ('1700000000-init')",
    ),
  'that has only a view': (path) => fill(path, 'DELETE', 'DROP TABLE notes; CREATE VIEW v AS SELECT 1'),
  'that is no database': (path) => writeFileSync(path, 'root:x:0:0:root:/root:/bin/sh\n'.repeat(200)),
};

function fill(path: string, mode: string, more = ''): void {
  const database = new Database(path);
  database.pragma(`journal_mode = ${mode}`);
  database.exec(`CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine'); ${more}`);
  database.close();
}

/** Leaves what a killed program leaves: the files as they are while it writes. */
function abandon(path: string, mode: string, companions: string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-foreign-'));
  const made = join(folder, 'made.db');
  fill(made, mode);
  const database = new Database(made);
  database.pragma('cache_size = 1');
  database.exec('BEGIN IMMEDIATE');
  const insert = database.prepare('INSERT INTO notes VALUES (?)');
  for (let row = 0; row < 500; row += 1) insert.run('x'.repeat(1_000));
  if (mode === 'WAL') database.exec('COMMIT');
  for (const companion of ['', ...companions]) copyFileSync(`${made}${companion}`, `${path}${companion}`);
  database.close();
  rmSync(folder, { recursive: true });
}

for (const [state, make] of Object.entries(STATES)) {
  t.test(`a database of another program ${state} is refused by every command, untouched`, async (t) => {
    await using workplace = await openWorkplace('sqlite');
    const folder = mkdtempSync(join(tmpdir(), 'fieldledger-foreign-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'other.db');
    make(path);
    writeFileSync(`${path}-secret-key`, 'mine');
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
    const before = stateOf(folder);
    const here = { DATABASE_URL: `sqlite:${path}` };
    const own = (name: string) => join(workplace.folder, name);
    const commands: [line: string, environment?: Record<string, string>][] = [
      ...['company list', 'serve', 'deliver', 'migrate', 'migrate --check', 'verify', 'demo'].map(
        (line): [string, typeof here] => [line, here],
      ),
      [`backup ${own('backup.db')}`, here],
      [`backup ${path}`],
      [`backup ${path} --with-secret-key`],
      [`restore ${path}`, { DATABASE_URL: `sqlite:${own('restored.db')}` }],
      [`copy --from sqlite:${path} --to sqlite:${own('to.db')}`],
      [`copy --from ${workplace.databaseUrl} --to sqlite:${path}`],
      [`pull --url http://127.0.0.1:9 --into ${path}`, { API_KEY: 'fl.acme.0123456789ab.secret' }],
    ];
    for (const [line, environment] of commands) {
      const { exitCode, stdout, stderr } = await workplace.call(line, environment);
      t.strictSame([exitCode, stdout], [1, ''], line);
      t.match(stderr, /^fieldledger: [^\n]+\n$/, line);
      t.strictSame(stateOf(folder), before, line);
    }
    t.notOk(readdirSync(workplace.folder).includes('restored.db'));
  });
}

t.test('a PostgreSQL of another program is refused in a sentence, and gets no table of ours', async (t) => {
  await using workplace = await openWorkplace('postgres', { isEmpty: true });
  await using source = await openWorkplace('sqlite');
  const client = new pg.Client({ connectionString: workplace.databaseUrl });
  await client.connect();
  client.on('error', () => undefined);
  t.teardown(() => client.end());
  const tables = async () =>
    (await client.query<object>("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"))
      .rows;
  const kinds = [
    'CREATE TABLE notes (text TEXT)',
    'CREATE TABLE migrations (id INTEGER, migration TEXT)',
    "CREATE TABLE migrations (name TEXT); INSERT INTO migrations VALUES ('1700000000-init')",
  ];
  const from = new URL(workplace.databaseUrl);
  const PGPASSWORD = from.password;
  from.password = '';
  const copy = `copy --from ${source.databaseUrl} --to ${from.href}`;
  for (const sql of kinds) {
    await client.query(sql);
    const before = await tables();
    for (const command of ['company list', 'serve', 'verify', 'migrate --check', copy])
      t.match(
        await workplace.call(command, { PGPASSWORD }),
        {
          exitCode: 1,
          stderr: /^fieldledger: The database isn't one of Fieldledger: it has the table \w+\. /,
        },
        command,
      );
    t.strictSame(await tables(), before);
    await client.query('DROP TABLE IF EXISTS notes, migrations');
  }
});
