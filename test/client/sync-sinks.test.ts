import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import t, { type Test } from 'tap';

import { openJsonLinesCopy } from '../../src/client/sync/json-lines.ts';
import type { Batch, SyncState } from '../../src/client/sync/sink.ts';
import { openSqliteCopy } from '../../src/client/sync/sqlite.ts';
import { runOnFullDisk } from '../server/commands/_full-disk.ts';
import { company } from '../contract/_company.ts';
import { readJsonLinesCopy, readSqliteCopy } from './_copies.ts';

const folder = t.testdir();
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
const refuses = (t: Test, work: () => unknown, message: string | RegExp) =>
  t.throws(work, { name: 'CopyError', message });
const inUse = (place: string) => `Another program is using ${place}. Close it and start again.`;

for (const { name, open, read } of [
  { name: 'SQLite', open: openSqliteCopy, read: readSqliteCopy },
  { name: 'JSON Lines', open: openJsonLinesCopy, read: readJsonLinesCopy },
]) {
  t.test(`${name} keeps batches with their state, in one run or several`, async (t) => {
    const place = join(folder, name);
    const copy = open(place, SOURCE);
    t.equal(copy.load?.(), undefined);
    await copy.commit(first);
    t.strictSame(copy.load?.(), first.state);
    await copy.commit(second);
    t.strictSame(copy.load?.(), second.state);
    t.strictSame(open(place, SOURCE).load?.(), second.state);
    t.strictSame(read(place).jobs, kept);
    refuses(t, () => open(place, { source: 'other at x' }), /copy of brennan at .*, not of other at x\./);
  });

  t.test(`${name} keeps one of two writers, and refuses the other, at the beginning too`, async (t) => {
    const place = join(folder, `${name}-begun`);
    const writers = () => [open(place, SOURCE), open(place, SOURCE)] as const;
    const told = `Something else has brought ${place} up to date meanwhile. Start again.`;
    const [mine, theirs] = writers();
    await theirs.commit(first);
    refuses(t, () => mine.commit(second), told);
    t.strictSame(read(place).jobs, company.jobs.slice(0, 2));
    const [later, earlier] = writers();
    await earlier.commit(second);
    refuses(t, () => later.commit(first), told);
    t.strictSame(read(place).jobs, kept);
  });
}

t.test('a program that reads a SQLite copy for long is told of, and not as one that writes', async (t) => {
  const place = join(folder, 'read.sqlite');
  const copy = openSqliteCopy(place, SOURCE);
  copy.commit(first);
  const reader = new DatabaseSync(place, { readOnly: true });
  reader.exec('BEGIN; SELECT * FROM jobs');
  refuses(t, () => copy.commit(second), inUse(place));
  reader.close();
  copy.commit(second);
  copy.close();
  t.strictSame(readSqliteCopy(place).jobs, kept);
});

t.test('what was being written to JSON Lines when a program was killed is dropped', async (t) => {
  const place = join(folder, 'killed');
  await openJsonLinesCopy(place, SOURCE).commit(first);
  appendFileSync(join(place, 'jobs.jsonl'), '{"put":{"id":"half');
  t.strictSame(readJsonLinesCopy(place).jobs, company.jobs.slice(0, 2));
  await openJsonLinesCopy(place, SOURCE).commit(second);
  t.strictSame(readJsonLinesCopy(place).jobs, kept);
});

t.test(
  'JSON Lines refuse a batch while another program writes one, and not what a killed one has left',
  async (t) => {
    const place = join(folder, 'busy');
    const copy = openJsonLinesCopy(place, SOURCE);
    await copy.commit(first);
    writeFileSync(join(place, 'state.json.new'), '');
    refuses(t, () => copy.commit(second), inUse(place));
    t.strictSame(readJsonLinesCopy(place).jobs, company.jobs.slice(0, 2));
    await openJsonLinesCopy(place, SOURCE).commit(second);
    t.strictSame(readJsonLinesCopy(place).jobs, kept);
    t.strictSame(readdirSync(place).sort(), ['jobs.jsonl', 'state.json']);
  },
);

t.test(
  'what can’t be a copy, or belongs to something else, is told in a sentence and left alone',
  async (t) => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const odd = join(folder, 'odd');
    mkdirSync(join(odd, 'state.json'), { recursive: true });
    const other = join(folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'jobs.jsonl'), '{}\n');
    const lines = (place: string) => () => openJsonLinesCopy(place, SOURCE).commit(first);
    for (const name of [file, ''])
      refuses(t, lines(name), `${JSON.stringify(name)} is no folder. Name another one.`);
    refuses(t, lines(odd), `${odd} can't be used: EISDIR: illegal operation on a directory, read.`);
    refuses(t, lines(join(file, 'inside')), /inside can't be used: ENOTDIR/);
    refuses(t, lines(other), /jobs\.jsonl that belongs to no copy/);
    writeFileSync(join(other, 'state.json'), '[]');
    refuses(t, lines(other), /state\.json belongs to no copy/);
    t.strictSame(readdirSync(other), ['jobs.jsonl', 'state.json']);

    // Another program is making it.
    const place = join(folder, 'making.sqlite');
    const maker = new DatabaseSync(place);
    maker.exec('BEGIN IMMEDIATE');
    refuses(t, () => openSqliteCopy(place, SOURCE).commit(first), /Another program is using/);
    maker.exec('CREATE TABLE notes (text); COMMIT');
    maker.close();
    refuses(t, () => openSqliteCopy(place, SOURCE), /is a database of another program/);
  },
);

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

t.test('a SQLite copy is in the file of its name, and in no other', (t) => {
  const there = process.cwd();
  process.chdir(t.testdir());
  t.teardown(() => process.chdir(there));
  using accounts = new DatabaseSync('accounts.db');
  accounts.exec('CREATE TABLE notes (text)');
  refuses(t, () => openSqliteCopy('', SOURCE), "A copy's name must not be empty. Name a file.");
  const odd = [':memory:', 'a%20b?mode=ro#c', 'file:accounts.db'];
  const names = [' accounts.db', 'accounts.db ', 'accounts.db\n', ...odd];
  for (const name of names) {
    const copy = openSqliteCopy(name, SOURCE);
    copy.commit(first);
    copy.close();
    const opened = openSqliteCopy(name, SOURCE);
    t.strictSame(opened.load(), first.state, name);
    opened.close();
  }
  t.strictSame(readdirSync('.').sort(), [...names, 'accounts.db'].sort());
  t.match(accounts.prepare('SELECT name FROM sqlite_schema').all(), [{ name: 'notes' }]);
  t.equal(accounts.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.count, 1);
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
