// Long: it kills real backups.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import Database from 'better-sqlite3';
import got from 'got';
import t from 'tap';

import { callCommand, openWorkplace, SECRET_KEY, until } from '../../_command.ts';
import { changeLine, digestOf, filesIn, openBackupPlace, unfinishedBeside } from './_backups.ts';
import { runOnFullDisk } from './_full-disk.ts';

/** It runs a program on a terminal of its own. */
const SCRIPT = '/usr/bin/script';
/** How often a backup is killed; `make backups` asks for more. */
const KILLS = Number(process.env.BACKUP_KILLS ?? 3);

/** The rows that a backup holds: each customer of the feed has a noted change, whatever moment it is of. */
function changesIn(file: string): { noted: number; customers: number } {
  const database = new Database(file, { readonly: true });
  try {
    const count = (sql: string) => database.prepare(sql).pluck().get() as number;
    return {
      noted: count("SELECT count(*) FROM applied_changes WHERE id LIKE 'c-%'"),
      customers: count("SELECT count(*) FROM customers WHERE id LIKE 'cus-%'"),
    };
  } finally {
    database.close();
  }
}

t.test('a backup is of one moment while a server serves and a feed comes in', async (t) => {
  await using place = await openBackupPlace();
  await place.serve();
  const feed = place.start('apply', {}, 'pipe');
  let number = 0;
  const timer = setInterval(() => feed.child.stdin?.write(changeLine((number += 1))), 20);
  t.teardown(() => clearInterval(timer));
  await until(() => feed.output.stdout.includes('"status":"applied"'));
  const { byteCount } = await place.json<{ byteCount: number }>(`backup ${place.file}`);
  t.equal(statSync(place.file).size, byteCount);
  t.equal(statSync(place.file).mode & 0o777, 0o600);
  const before = changesIn(place.file);
  t.equal(before.noted, before.customers);
  t.ok(before.noted > 0);
  t.match(await place.run(`backup ${place.file}`), { exitCode: 0, stderr: '' });
  const after = changesIn(place.file);
  t.equal(after.noted, after.customers);
  t.ok(after.noted > before.noted, 'a later one replaces it');
  clearInterval(timer);
  t.match(await place.call('verify'), { exitCode: 0, stdout: /rows: nothing is wrong/ });

  await using restored = await openWorkplace('sqlite', { isEmpty: true });
  t.match(await restored.call(`restore ${place.file}`), { exitCode: 0, stderr: '' });
  t.match(await restored.call('verify'), { exitCode: 0, stdout: /rows: nothing is wrong/ });
  const { key } = await restored.json<{ key: string }>('key create brennan --scopes all');
  const { greeting } = await restored.serveHere();
  const headers = { authorization: `Bearer ${key}` };
  t.equal((await got(`${greeting.address}/api/v1/customers`, { headers })).statusCode, 200);
});

t.test('a backup that is killed leaves the former one whole, and the next one tidies up', async (t) => {
  await using place = await openBackupPlace();
  t.equal((await place.call(`backup ${place.file}`)).exitCode, 0);
  let killed = 0;
  for (let round = 0; killed < KILLS; round += 1) {
    const former = digestOf(place.file);
    // Files of earlier ones, which were killed.
    const left = unfinishedBeside(place.file);
    const hasBegun = () => unfinishedBeside(place.file).some((name) => !left.includes(name));
    const running = place.start(`backup ${place.file}`);
    // One in five is killed while it starts, the others while they copy, check and replace.
    if (Math.random() < 0.2) await pause(Math.random() * 500);
    else await until(() => hasBegun() || running.child.exitCode !== null);
    await Promise.race([pause(Math.random() * 250), running.ended]);
    const { signal } = await running.end('SIGKILL');
    if (signal === null) continue;
    killed += 1;
    // It was killed after the new one had taken the place, or before.
    if (digestOf(place.file) !== former)
      t.equal(changesIn(place.file).noted, 0, `round ${round}: it is whole`);
  }
  t.match(await place.call(`backup ${place.file}`), { exitCode: 0, stderr: '' });
  t.strictSame(unfinishedBeside(place.file), []);
  await using other = await openWorkplace('sqlite', { isEmpty: true });
  t.match(await other.call(`restore ${place.file}`), { exitCode: 0, stderr: '' });
  t.match(await other.call('verify'), { exitCode: 0, stdout: /rows: nothing is wrong/ });
});

t.test('two backups at once into one file are both whole, and only their owner may read them', async (t) => {
  await using place = await openBackupPlace();
  for (let round = 0; round < 3; round += 1) {
    const both = [place.start(`backup ${place.file}`), place.start(`backup ${place.file}`)];
    for (const { ended, output } of both) {
      t.match(await ended, { exitCode: 0, signal: null });
      t.equal(output.stderr, '');
    }
    t.equal(statSync(place.file).mode & 0o777, 0o600);
    t.equal(changesIn(place.file).noted, 0);
    t.strictSame(unfinishedBeside(place.file), []);
  }
});

t.test('the result can be read on a terminal, below the bar', { skip: !existsSync(SCRIPT) }, async (t) => {
  await using place = await openBackupPlace();
  const program = join(import.meta.dirname, '..', '..', '..', 'src', 'fieldledger.js');
  const { stdout } = spawnSync(SCRIPT, ['-qec', `'${program}' backup '${place.file}'`, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: place.folder, DATABASE_URL: place.databaseUrl, TERM: 'xterm' },
    encoding: 'utf8',
    timeout: 60_000,
  });
  const lines = stdout.split('\r\n').map((line) => line.replace(/^.*\u001b\[[\d?]*[A-Za-z]/, ''));
  t.match(lines.at(-3), `${place.file} is a backup of ${place.path}: `);
  t.equal(lines.at(-2), 'There is no key of signing secrets yet.');
  t.notMatch(stdout, /NaN|NF|INF/);
});

t.test('a backup that is told to stop leaves everything as it was', async (t) => {
  await using place = await openBackupPlace();
  writeFileSync(place.file, '');
  const running = place.start(`backup ${place.file}`);
  await until(() => unfinishedBeside(place.file).length > 0);
  t.strictSame(await running.end('SIGTERM'), { exitCode: 1, signal: null });
  t.equal(running.output.stderr, 'fieldledger: Stopped by SIGTERM. Nothing was changed.\n');
  t.strictSame(unfinishedBeside(place.file), []);
  t.equal(statSync(place.file).size, 0);
});

t.test('a place that is none for a backup is refused', async (t) => {
  await using place = await openBackupPlace({ ballastBytes: 0 });
  const { folder, path } = place;
  const inFolder = (name: string) => join(folder, name);
  writeFileSync(inFolder('notes.txt'), 'Not a database.');
  mkdirSync(inFolder('folder'));
  symlinkSync(path, inFolder('link.db'));
  linkSync(path, inFolder('second-name.db'));
  const before = digestOf(path);
  const refusals: [string, string][] = [
    ['none/backup.db', `There is no folder ${inFolder('none')} for the backup.`],
    ['data/work.db', 'data/work.db is the database itself. A backup needs another file.'],
    ['link.db', 'link.db is the database itself. A backup needs another file.'],
    ['second-name.db', 'second-name.db is the database itself. A backup needs another file.'],
    ['data/work.db-wal', 'data/work.db-wal belongs to the database itself. A backup needs another file.'],
    ['data/work.db-secret-key', 'data/work.db-secret-key belongs to the database itself.'],
    ['notes.txt', "notes.txt already exists and isn't a backup, so it is left as it is."],
    ['folder', "folder already exists and isn't a backup, so it is left as it is."],
  ];
  const files = filesIn(folder);
  for (const [file, sentence] of refusals) {
    const { exitCode, stderr } = await place.call(`backup ${inFolder(file)}`);
    t.equal(exitCode, 1, file);
    t.ok(stderr.includes(sentence.replace(/^(?!There)/, `${folder}/`)), stderr);
  }
  for (const [name, stderr, environment] of [
    [place.file, /^fieldledger: There is no database none\.db/, { DATABASE_URL: 'sqlite:none.db' }],
    ["''", 'fieldledger: "" is no name of a file.\n'],
    ['new/', 'fieldledger: "new/" is no name of a file.\n'],
    ['.', 'fieldledger: "." is no name of a file.\n'],
    [
      place.file,
      /^fieldledger: The database .*notes\.txt can't be read: file is not a database\.\n$/,
      { DATABASE_URL: `sqlite:${inFolder('notes.txt')}` },
    ],
  ] as [string, string | RegExp, Record<string, string>?][])
    t.match(await place.call(`backup ${name}`, environment), { exitCode: 1, stderr });
  t.strictSame(filesIn(folder), files);
  t.equal(digestOf(path), before);
  t.equal(readFileSync(inFolder('notes.txt'), 'utf8'), 'Not a database.');
});

t.test('the key of signing secrets is named, and copied only where that is asked for', async (t) => {
  await using place = await openBackupPlace({ ballastBytes: 0 });
  const { call, file, path } = place;
  const refused = await call(`backup ${file} --with-secret-key`);
  t.equal(
    refused.stderr,
    `fieldledger: There is no key file ${path}-secret-key to copy: none has been made yet.\n`,
  );
  t.notOk(existsSync(file));
  await place.json('webhook create brennan https://example.com');
  const without = await call(`backup ${file}`);
  t.match(without.stdout, `The key of the signing secrets, ${path}-secret-key, is left out`);
  t.notOk(existsSync(`${file}-secret-key`));
  const withKey = await call(`backup ${file} --with-secret-key`);
  t.match(withKey.stdout, `${file}-secret-key is the key of the signing secrets`);
  t.equal(statSync(`${file}-secret-key`).mode & 0o777, 0o600);
  const key = readFileSync(`${path}-secret-key`, 'utf8');
  t.equal(readFileSync(`${file}-secret-key`, 'utf8'), key);
  for (const { stdout } of [without, withKey]) t.notMatch(stdout, key.trim());

  const other = join(place.folder, 'other.db');
  writeFileSync(`${other}-secret-key`, 'precious');
  t.match(await call(`backup ${other} --with-secret-key`), {
    exitCode: 1,
    stderr: `fieldledger: ${other}-secret-key isn't a key of signing secrets. Nothing was changed.\n`,
  });
  t.notOk(existsSync(other));
  t.equal(readFileSync(`${other}-secret-key`, 'utf8'), 'precious', 'a file that is no key stays');

  await using restored = await openWorkplace('sqlite', { isEmpty: true });
  t.equal((await restored.call(`restore ${file}`)).exitCode, 0);
  const restoredKey = `${restored.databaseUrl.slice('sqlite:'.length)}-secret-key`;
  t.equal(readFileSync(restoredKey, 'utf8'), key, 'it is put back with the backup');
  t.equal(statSync(restoredKey).mode & 0o777, 0o600);
  const { greeting } = await restored.serveHere();
  t.strictSame(await got(`${greeting.address}/readyz`).json(), { status: 'ready' });

  await using keyless = await openWorkplace('sqlite', { isEmpty: true });
  copyFileSync(file, join(keyless.folder, 'alone.db'));
  const { stdout } = await keyless.call(`restore ${join(keyless.folder, 'alone.db')}`);
  t.match(stdout, /The key of its signing secrets isn't here: .* put the key at .*work\.db-secret-key/);
});

t.test('a key of signing secrets that is not beside the database is told by where it is', async (t) => {
  await using place = await openBackupPlace({ ballastBytes: 0 });
  await place.call('webhook create brennan https://example.com', { WEBHOOK_SECRET_KEY: SECRET_KEY });
  const { stdout } = await place.call(`backup ${place.file}`);
  t.match(
    stdout,
    /The key of the signing secrets, the one with the fingerprint [\w-]+, which is not here, is left out/,
  );
  const named = await place.call(`backup ${place.file}`, {
    WEBHOOK_SECRET_KEY: Buffer.alloc(32, 8).toString('base64'),
    WEBHOOK_SECRET_KEY_PREVIOUS: SECRET_KEY,
  });
  t.match(named.stdout, 'The key of the signing secrets, WEBHOOK_SECRET_KEY_PREVIOUS, is left out');
});

t.test('a disk that fills half-way is told, and leaves the former backup, or no database', async (t) => {
  await using place = await openBackupPlace();
  await using other = await openWorkplace('sqlite', { isEmpty: true });
  t.equal((await place.call(`backup ${place.file}`)).exitCode, 0);
  const former = digestOf(place.file);
  const path = other.databaseUrl.slice('sqlite:'.length);
  for (const [command, { databaseUrl }, stderr] of [
    [
      'backup',
      place,
      /^fieldledger: The backup .*backup\.db can't be written: .*What was there is as it was\.\n$/,
    ],
    [
      'restore',
      other,
      /^fieldledger: .*backup\.db can't be restored: .*There is no database .*, as before\.\n$/,
    ],
  ] as const) {
    const settings = { DATABASE_URL: databaseUrl };
    const limits = { home: place.folder, kilobytes: 8_000, settings };
    t.match(await runOnFullDisk([command, place.file], limits), { exitCode: 1, stderr });
  }
  t.strictSame(unfinishedBeside(place.file), []);
  t.equal(digestOf(place.file), former);
  t.notOk(existsSync(path));
  t.strictSame(unfinishedBeside(path), []);
});

t.test('on PostgreSQL both commands say which of its own tools to use, without the password', async (t) => {
  const url = 'postgres://app:hunter2@db.example/ledger?sslmode=verify-full&password=hunter2';
  for (const [line, DATABASE_URL, told] of [
    [
      "backup it's.dump",
      url,
      "pg_dump --format=custom --exclude-table-data=store_generation --file='it'\\''s.dump' 'postgres://app@db.example/ledger?sslmode=verify-full'",
    ],
    [
      'restore ledger.dump',
      url,
      "pg_restore --single-transaction --dbname='postgres://app@db.example/ledger?sslmode=verify-full' ledger.dump",
    ],
    // As pg_dump knows it.
    [
      'backup x',
      'postgres://app@db.example/ledger?sslmode=no-verify',
      "'postgres://app@db.example/ledger?sslmode=require'",
    ],
  ] as const) {
    const refused = await callCommand(line, { DATABASE_URL });
    t.match(refused, { exitCode: 1, stderr: told });
    t.notMatch(refused.stderr, 'hunter2');
  }
});
