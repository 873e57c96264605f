import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import t from 'tap';

import { openJsonLinesCopy } from '../../src/client/sync/json-lines.ts';
import { type Batch, CopyError, type SyncState } from '../../src/client/sync/sink.ts';
import { openSqliteCopy } from '../../src/client/sync/sqlite.ts';
import { runOnFullDisk } from '../server/cli/_full-disk.ts';
import { company } from '../contract/_company.ts';
import { readJsonLinesCopy, readSqliteCopy } from './_copies.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldledger-sinks-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const SOURCE = { source: 'brennan at https://api.fieldledger.example' };
const [one, two] = company.jobs;
if (!one || !two) throw new Error('The example company has jobs.');

const batch = (put: (typeof company.jobs)[number][], remove: string[], state: SyncState): Batch => ({
  resource: 'jobs',
  put,
  remove,
  state,
});
const first = batch([one, two], [], { jobs: { checkpoint: '1' } });
const second = batch([{ ...one, title: 'Another' }], [two.id], { jobs: { checkpoint: '2' } });
const kept = [{ ...one, title: 'Another' }];

for (const { name, open, read } of [
  { name: 'SQLite', open: openSqliteCopy, read: readSqliteCopy },
  { name: 'JSON Lines', open: openJsonLinesCopy, read: readJsonLinesCopy },
]) {
  const place = join(folder, name.replace(' ', '-'));

  t.test(`${name} keeps batches with their state, in one run or several`, async (t) => {
    const copy = open(place, SOURCE);
    t.equal(copy.load?.(), undefined);
    await copy.commit(first);
    t.strictSame(copy.load?.(), first.state);
    await copy.commit(second);
    t.strictSame(copy.load?.(), second.state);
    t.strictSame(open(place, SOURCE).load?.(), second.state);
    t.strictSame(read(place).jobs, kept);
  });

  t.test(`${name} refuses a copy of another company, and a second writer`, async (t) => {
    t.throws(() => open(place, { source: 'other at x' }), CopyError);
    const [mine, theirs] = [open(place, SOURCE), open(place, SOURCE)];
    await theirs.commit(second);
    t.throws(() => mine.commit(first), CopyError);
    t.strictSame(read(place).jobs, kept);
  });

  t.test(`${name} keeps one of two copies that are begun at once, and refuses the other`, async (t) => {
    const begun = `${place}-begun`;
    const [mine, theirs] = [open(begun, SOURCE), open(begun, SOURCE)];
    await theirs.commit(first);
    t.throws(() => mine.commit(second), {
      name: 'CopyError',
      message: `Something else has brought ${begun} up to date meanwhile. Start again.`,
    });
    t.strictSame(read(begun).jobs, company.jobs.slice(0, 2));
    await theirs.commit(second);
    t.strictSame(read(begun).jobs, kept);
  });
}

t.test('a program that reads a SQLite copy for long is told of, and not as one that writes', (t) => {
  const place = join(folder, 'read.sqlite');
  const copy = openSqliteCopy(place, SOURCE);
  copy.commit(first);
  const reader = new DatabaseSync(place, { readOnly: true });
  reader.exec('BEGIN; SELECT * FROM jobs');
  t.throws(() => copy.commit(second), {
    name: 'CopyError',
    message: `Another program is using ${place}. Close it and start again.`,
  });
  reader.close();
  copy.commit(second);
  copy.close();
  t.strictSame(readSqliteCopy(place).jobs, kept);
  t.end();
});

t.test('a SQLite copy that another program is making stays', (t) => {
  const place = join(folder, 'making.sqlite');
  const other = new DatabaseSync(place);
  other.exec('BEGIN IMMEDIATE');
  t.throws(() => openSqliteCopy(place, SOURCE).commit(first), /Another program is using/);
  other.exec('CREATE TABLE notes (text); COMMIT');
  other.close();
  t.throws(() => openSqliteCopy(place, SOURCE), /is a database of another program/);
  t.end();
});

t.test('what was being written to JSON Lines when a program was killed is dropped', async (t) => {
  const place = join(folder, 'JSON-Lines');
  appendFileSync(join(place, 'jobs.jsonl'), '{"put":{"id":"half');
  t.strictSame(readJsonLinesCopy(place).jobs, kept);
  await openJsonLinesCopy(place, SOURCE).commit(first);
  t.strictSame(readJsonLinesCopy(place).jobs, company.jobs.slice(0, 2));
});

t.test(
  'JSON Lines refuse a batch while another program writes one, and not what a killed one has left',
  async (t) => {
    const place = join(folder, 'busy');
    const copy = openJsonLinesCopy(place, SOURCE);
    await copy.commit(first);
    writeFileSync(join(place, 'state.json.new'), '');
    t.throws(() => copy.commit(second), {
      name: 'CopyError',
      message: `Another program is using ${place}. Close it and start again.`,
    });
    t.strictSame(readJsonLinesCopy(place).jobs, company.jobs.slice(0, 2));
    await openJsonLinesCopy(place, SOURCE).commit(second);
    t.strictSame(readJsonLinesCopy(place).jobs, kept);
    t.strictSame(readdirSync(place).sort(), ['jobs.jsonl', 'state.json']);
  },
);

t.test('what can’t be a folder of JSON Lines is told in a sentence', (t) => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const name of [file, ''])
    t.throws(() => openJsonLinesCopy(name, SOURCE), {
      name: 'CopyError',
      message: `${JSON.stringify(name)} is no folder. Name another one.`,
    });
  const odd = join(folder, 'odd');
  mkdirSync(join(odd, 'state.json'), { recursive: true });
  t.throws(() => openJsonLinesCopy(odd, SOURCE), {
    name: 'CopyError',
    message: `${odd} can't be used: EISDIR: illegal operation on a directory, read.`,
  });
  t.throws(() => openJsonLinesCopy(join(file, 'inside'), SOURCE).commit(first), {
    name: 'CopyError',
    message: /inside can't be used: ENOTDIR/,
  });
  t.end();
});

t.test('on a full disk JSON Lines stay at their last batch', async (t) => {
  const place = join(folder, 'full');
  const args = [join(import.meta.dirname, '_json-lines-writer.ts'), place, '1000'];
  const refused = await runOnFullDisk(args, { home: folder, kilobytes: 100, program: process.execPath });
  t.strictSame(refused, {
    exitCode: 1,
    stderr: `CopyError: The disk of ${place} is full or fails (EFBIG). The copy is as it was before.\n`,
  });
  t.strictSame(readJsonLinesCopy(place).jobs, [one]);
  await openJsonLinesCopy(place, SOURCE).commit(second);
  t.strictSame(readJsonLinesCopy(place).jobs, kept);
});

t.test('a SQLite file whose first batch was undone is begun anew', async (t) => {
  const place = join(folder, 'undone');
  const undone = new DatabaseSync(place);
  undone.exec('CREATE TABLE fieldledger_copy (state TEXT); DROP TABLE fieldledger_copy');
  undone.close();
  const copy = openSqliteCopy(place, SOURCE);
  t.equal(copy.load(), undefined);
  copy.commit(first);
  copy.close();
  const again = openSqliteCopy(place, SOURCE);
  t.strictSame(again.load(), first.state);
  again.close();
});

t.test('a folder with files of something else is left alone', async (t) => {
  const other = join(folder, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'jobs.jsonl'), '{}\n');
  t.throws(() => openJsonLinesCopy(other, SOURCE), /jobs\.jsonl that belongs to no copy/);
  writeFileSync(join(other, 'state.json'), '[]');
  t.throws(() => openJsonLinesCopy(other, SOURCE), /state\.json belongs to no copy/);
  t.strictSame(readdirSync(other), ['jobs.jsonl', 'state.json']);
});

t.test('a SQLite copy is in the file of its name, and in no other', (t) => {
  const there = process.cwd();
  process.chdir(t.testdir());
  t.teardown(() => process.chdir(there));
  using accounts = new DatabaseSync('accounts.db');
  accounts.exec('CREATE TABLE notes (text)');
  t.throws(() => openSqliteCopy('', SOURCE), {
    name: 'CopyError',
    message: "A copy's name must not be empty. Name a file.",
  });
  const names = [
    ':memory:',
    ' accounts.db',
    'accounts.db ',
    'accounts.db\n',
    'a%20b?mode=ro#c',
    'file:accounts.db',
  ];
  for (const name of names) {
    const copy = openSqliteCopy(name, SOURCE);
    copy.commit(first);
    copy.close();
    const opened = openSqliteCopy(name, SOURCE);
    t.strictSame(opened.load(), first.state, name);
    opened.close();
  }
  t.strictSame(readdirSync('.').sort(), [...names, 'accounts.db'].sort());
  t.strictSame(
    accounts
      .prepare('SELECT name FROM sqlite_schema')
      .all()
      .map(({ name }) => name),
    ['notes'],
  );
  t.end();
});

t.test('a column that the contract gains is added, and its resource read anew', async (t) => {
  const place = join(folder, 'older.sqlite');
  openSqliteCopy(place, SOURCE).commit({
    ...first,
    state: { jobs: { checkpoint: '1' }, forms: { checkpoint: '1' } },
  });
  using older = new DatabaseSync(place);
  older.exec('ALTER TABLE jobs DROP COLUMN notes');
  const copy = openSqliteCopy(place, SOURCE);
  t.strictSame(copy.load(), { forms: { checkpoint: '1' } });
  copy.commit(first);
  t.strictSame(readSqliteCopy(place).jobs, company.jobs.slice(0, 2));
});
