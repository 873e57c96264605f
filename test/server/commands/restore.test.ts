import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import got from 'got';
import t from 'tap';

import { openWorkplace, SECRET_KEY, until } from '../../_command.ts';
import { changeLine, digestOf, execute, filesIn, openBackupPlace, unfinishedBeside } from './_backups.ts';

t.test("a file that isn't a backup is refused, and nothing is made of it", async (t) => {
  await using place = await openBackupPlace({ ballastBytes: 0 });
  await using other = await openWorkplace('sqlite', { isEmpty: true });
  const { file } = place;
  await place.call(`backup ${file}`);
  const path = other.databaseUrl.slice('sqlite:'.length);
  const bad = join(place.folder, 'bad.db');
  const copied = (change: () => void) => () => {
    copyFileSync(file, bad);
    change();
  };
  /** Writes what isn't a page over some pages. */
  const overwrite = () => {
    const handle = openSync(bad, 'r+');
    writeSync(handle, Buffer.alloc(40_960, 0xa5), 0, 40_960, 40_960);
    closeSync(handle);
  };
  const made = (statements: string) => () => execute(bad, statements);
  const noSqlite = /bad\.db isn't a backup: it isn't a SQLite database\./;
  const noLedger = /bad\.db isn't a database of Fieldledger\./;
  const refusals: [RegExp, () => void][] = [
    [/There is no backup .*bad\.db\./, () => undefined],
    [noSqlite, () => mkdirSync(bad)],
    [noSqlite, () => writeFileSync(bad, '')],
    [noSqlite, () => writeFileSync(bad, 'x'.repeat(9_000))],
    [/bad\.db is damaged: /, () => writeFileSync(bad, `SQLite format 3\0${'x'.repeat(9_000)}`)],
    [/bad\.db is damaged: /, copied(() => truncateSync(bad, Math.floor(statSync(bad).size / 8_192) * 4_096))],
    [/bad\.db is damaged: /, copied(overwrite)],
    [noLedger, made('CREATE TABLE notes (text TEXT)')],
    [noLedger, made("CREATE TABLE migrations (name TEXT); INSERT INTO migrations VALUES ('1_users')")],
    [
      /bad\.db has the migration 9999-later, which this version of Fieldledger doesn't know; run a later one\./,
      copied(made("INSERT INTO migrations VALUES ('9999-later')")),
    ],
    [
      /bad\.db has records of the contract 1\.999\.0, and this version of Fieldledger has the contract/,
      copied(made("UPDATE record_contracts SET contract_version = '1.999.0', digest = 'later'")),
    ],
    [
      /bad\.db isn't a backup: a part of it is in .*bad\.db-wal/,
      copied(() => writeFileSync(`${bad}-wal`, 'A log.')),
    ],
  ];
  for (const [sentence, make] of refusals) {
    make();
    t.match(await other.call(`restore ${bad}`), { exitCode: 1, stdout: /^$/, stderr: sentence });
    t.throws(() => statSync(path), { code: 'ENOENT' });
    t.strictSame(filesIn(dirname(path)), []);
    t.notOk(existsSync(`${path}-serving`), 'nor the file of a lock');
    for (const name of [bad, `${bad}-wal`]) rmSync(name, { recursive: true, force: true });
  }
  t.equal((await other.call(`restore ${file}`)).exitCode, 0, 'and a good one is taken after that');
});

t.test('nothing is replaced: neither a database, nor its log, nor another key', async (t) => {
  await using place = await openBackupPlace({ ballastBytes: 0 });
  const { file, path } = place;
  await place.call(`backup ${file}`);
  const before = digestOf(path);
  const refused = await place.call(`restore ${file}`);
  t.equal(
    refused.stderr,
    `fieldledger: ${path} already exists, and nothing is replaced. Stop what uses the database, and move it away with its -wal and -shm files.\n`,
  );
  t.equal(digestOf(path), before);
  renameSync(path, `${path}-old`);
  // SQLite would add it to the new database.
  writeFileSync(`${path}-wal`, 'The log of another database.');
  t.match((await place.call(`restore ${file}`)).stderr, `${path}-wal already exists`);
  rmSync(`${path}-wal`);
  writeFileSync(`${file}-secret-key`, 'one');
  t.match((await place.call(`restore ${file}`)).stderr, `${file}-secret-key isn't a key of signing secrets`);
  writeFileSync(`${file}-secret-key`, SECRET_KEY);
  writeFileSync(`${path}-secret-key`, 'another');
  t.match(
    (await place.call(`restore ${file}`)).stderr,
    `${path}-secret-key holds another key than ${file}-secret-key, and nothing is replaced.`,
  );
  t.throws(() => statSync(path), { code: 'ENOENT' });
  writeFileSync(`${path}-secret-key`, SECRET_KEY);
  t.match(await place.call(`restore ${file}`), { exitCode: 0, stderr: '' });
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.strictSame(unfinishedBeside(path), []);
});

t.test('what still has a database open that was moved away changes and tells nothing any more', async (t) => {
  await using place = await openBackupPlace({ ballastBytes: 0 });
  const { file, path } = place;
  const { key } = await place.json<{ key: string }>('key create brennan --scopes jobs:read');
  const feed = place.start('apply --json', {}, 'pipe');
  feed.child.stdin?.write(changeLine(1));
  await until(() => feed.output.stdout.includes('\n'));
  const served = await place.serve();
  await place.call(`backup ${file}`);
  // With the lock of the server, which restore would find.
  for (const end of ['', '-wal', '-shm', '-serving']) renameSync(`${path}${end}`, `${path}-old${end}`);
  t.match(await place.call(`restore ${file}`), { exitCode: 0, stderr: '' });
  feed.child.stdin?.end(changeLine(2));
  t.strictSame(await feed.ended, { exitCode: 1, signal: null });
  t.match(JSON.parse(feed.output.stdout.split('\n')[1] ?? ''), {
    status: 'refused',
    error: {
      code: 'unavailable',
      message: /moved away or replaced while it was open; start this process again/,
    },
  });
  const headers = { authorization: `Bearer ${key}` };
  const statusOf = async (address: string) =>
    (await got(address, { headers, throwHttpErrors: false, retry: { limit: 0 } })).statusCode;
  t.equal(await statusOf(`${served.greeting.management}/readyz`), 503);
  await until(async () => (await statusOf(`${served.greeting.address}/api/v1/jobs`)) === 503);
});

t.test('a server whose database was moved away has to be stopped first', async (t) => {
  await using place = await openBackupPlace({ ballastBytes: 0 });
  const { file, path } = place;
  const served = await place.serve();
  await place.call(`backup ${file}`);
  for (const companion of ['', '-wal', '-shm']) renameSync(`${path}${companion}`, `${path}-old${companion}`);
  t.match(
    (await place.call(`restore ${file}`)).stderr,
    /^fieldledger: Another process serves, copies or restores the database /,
  );
  t.throws(() => statSync(path), { code: 'ENOENT' });
  await served.end('SIGTERM');
  t.match(await place.call(`restore ${file}`), { exitCode: 0, stderr: '' });
});
