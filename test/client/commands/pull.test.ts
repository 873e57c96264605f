import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import Database from 'better-sqlite3';
import t from 'tap';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import type { Change } from '../../../src/contract/feed.ts';
import { loadGeneratedCompany } from '../../../src/demo/load.ts';
import { readSource, readSqliteCopy } from '../_copies.ts';
import { layRoughLine } from '../_rough-line.ts';
import { silentAddress } from '../_service.ts';
import { openWorkplace, until } from '../../_command.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { keyFor, startExampleServer, startTestServer } from '../../_server.ts';
import { runOnFullDisk } from '../../server/commands/_full-disk.ts';

/** How often a pull is killed; `make sync` asks for more. */
const KILLS = Number(process.env.SYNC_KILLS ?? 3);

const server = await startExampleServer('sqlite');
const workplace = await openWorkplace('sqlite', { isEmpty: true });
const { folder } = workplace;
t.teardown(async () => {
  await workplace[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
const keyFile = join(folder, 'key');
writeFileSync(keyFile, server.key);
const generated = await loadGeneratedCompany(server.engine, 150, () => undefined);
const copy = join(folder, 'copy.sqlite');
const service = ['--url', server.url, '--key-file', keyFile];
const pull = (...args: string[]) => workplace.call(['pull', ...service, '--into', copy, ...args]);

const apply = (change: string, what: object, engine = server.engine) =>
  applyChange(openBackoffice(engine), { company: 'brennan', change, with: what } as Change);

interface Pulled {
  counts: Record<string, { put: number; removed: number }>;
  left: { resource: string; code: string }[];
}

t.test('the first pull copies everything, and the next one nothing', async (t) => {
  const first = await pull();
  t.match(first, { exitCode: 0, stderr: '' });
  t.match(first.stdout, /^.*copy\.sqlite is up to date, in [\d.]+ s\n {2}people: \d+ new or changed\n/);
  const source = await readSource(server.url, server.key);
  t.strictSame(readSqliteCopy(copy), source);
  t.equal(statSync(copy).mode & 0o777, 0o600, 'only its owner may read it');
  const second = await pull();
  t.match(second.stdout, /^.*copy\.sqlite was up to date, in [\d.]+ s\n$/);
});

t.test('its tables can be asked as they are, by older versions of SQLite too', async (t) => {
  const db = new Database(copy, { readonly: true });
  const row = db
    .prepare(
      `SELECT number, json_extract(totals, '$.grossMinor') AS gross, json_array_length(lines) AS lines, amountDueMinor
       FROM invoices WHERE number = 'INV-2026-0001'`,
    )
    .get();
  t.match(row, { number: 'INV-2026-0001', gross: Number, lines: Number, amountDueMinor: 0 });
  t.strictSame(db.prepare('SELECT DISTINCT typeof(completed) FROM jobs').pluck().all(), ['integer']);
  // SQLite of before 3.37 opens a copy.
  const texts = db.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').pluck().all();
  for (const text of texts) t.notMatch(text, /STRICT|GENERATED|WITHOUT/i);
  db.close();
});

t.test('a later pull finds what was changed, discarded and who has left', async (t) => {
  const before = readSqliteCopy(copy);
  const isDraft = (record: object) => 'status' in record && record.status === 'draft';
  const draft = before.invoices.find(isDraft);
  const person = before.people[1];
  await apply('invoice.discard', { id: draft?.id });
  await apply('person.deactivate', { id: person?.id });
  await apply('job.update', { id: before.jobs[0]?.id, title: 'Another title' });
  const { counts } = await workplace.json<Pulled>(['pull', ...service, '--into', copy]);
  t.match(counts, { people: { put: 0, removed: 1 }, jobs: { put: 1, removed: 0 }, invoices: { removed: 1 } });
  t.strictSame(counts.customers, { put: 0, removed: 0 });
  t.strictSame(readSqliteCopy(copy), await readSource(server.url, server.key));
});

t.test('what a key may not read is left out, and said', async (t) => {
  const file = join(folder, 'narrow');
  writeFileSync(file, await keyFor(server.engine, 'brennan', ['jobs:read']));
  const outcome = await workplace.call([
    ...['pull', '--url', server.url, '--key-file', file],
    ...['--into', join(folder, 'jobs.sqlite')],
  ]);
  t.equal(outcome.exitCode, 0);
  t.match(outcome.stdout, /^ {2}jobs: \d+ new or changed$/m);
  t.match(outcome.stdout, /^ {2}invoices: not copied, because the answer is missing_scope$/m);
});

t.test('what can’t be done is said in a sentence, and nothing is made or changed', async (t) => {
  const otherKey = join(folder, 'other-key');
  writeFileSync(otherKey, await keyFor(server.engine, generated.id));
  const other = join(folder, 'other.sqlite');
  new Database(other).exec('CREATE TABLE notes (text)').close();
  const text = join(folder, 'notes.txt');
  writeFileSync(text, 'No database, and yet as long as one to somebody who looks only at that.'.repeat(2));
  const [none, silent] = [join(folder, 'none.sqlite'), await silentAddress(t)];
  const cases: [string[], RegExp][] = [
    [['--into', other], /other\.sqlite is a database of another program\. Name another file\.$/m],
    [['--into', text], /notes\.txt is no SQLite file\. Name another one\.$/m],
    [['--into', ''], /A copy's name must not be empty/],
    [['--into', folder], /is not a file\.$/m],
    [['--into', join(folder, 'no', 'copy')], /There is no folder ".*no"\.$/m],
    [
      ['--key-file', otherKey],
      /is a copy of brennan at http.*, not of demo-150 at http.*\. Name another file\.$/m,
    ],
    [['--into', none, '--url', silent], /doesn't answer/],
  ];
  const sizes = () => readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size]);
  const before = sizes();
  for (const [args, sentence] of cases) {
    const { exitCode, stdout, stderr } = await pull(...args);
    t.strictSame([exitCode, stdout], [1, ''], args.join(' '));
    t.match(stderr, sentence);
    t.equal(stderr.trim().split('\n').length, 1);
  }
  t.strictSame(sizes(), before);
});

t.test('killed at any instant, it goes on, and the copy is true in the end', async (t) => {
  const key = await keyFor(server.engine, generated.id);
  const into = join(folder, 'killed.sqlite');
  // It takes a while, so that most kills come while there is something to lose.
  const line = await layRoughLine(t, server.url, { delayMs: 20 });
  const args = ['pull', '--url', line.url, '--into', into];
  let kills = 0;
  while (kills < KILLS) {
    const running = workplace.start(args, { API_KEY: key });
    const asked = line.count();
    // The first moments are Node's own start.
    await Promise.race([running.ended, until(() => line.count() > asked)]);
    await Promise.race([running.ended, pause(Math.random() * 500)]);
    const { signal } = await running.end('SIGKILL');
    kills += 1;
    // One that came to its end had nothing left to copy. The next one begins anew.
    if (signal === null) for (const name of filesOf(into)) rmSync(join(folder, name));
  }
  t.match(await workplace.call(args, { API_KEY: key }), { exitCode: 0, stderr: '' });
  t.strictSame(readSqliteCopy(into), await readSource(server.url, key));
  t.strictSame(filesOf(into), ['killed.sqlite']);
});

const filesOf = (file: string) => readdirSync(folder).filter((name) => name.startsWith(basename(file)));

t.test('on a full disk the copy stays at its last batch, and goes on when there is room', async (t) => {
  const into = join(folder, 'full.sqlite');
  const refused = await runOnFullDisk(['pull', ...service, '--into', into], { home: folder, kilobytes: 40 });
  t.match(refused, {
    exitCode: 1,
    stderr:
      /^fieldledger: The disk of .*full\.sqlite is full or fails .*\. The copy is as it was before\.\n$/,
  });
  const outcome = await workplace.call(['pull', ...service, '--into', into]);
  t.match(outcome, { exitCode: 0, stderr: '' });
  t.strictSame(readSqliteCopy(into), await readSource(server.url, server.key));
});

t.test(
  'after a restore from an older backup the copy has no phantoms, and the command says why',
  async (t) => {
    await using place = await openWorkplace();
    await place.call(['demo']);
    const [backup, into] = [join(place.folder, 'backup.db'), join(place.folder, 'phantoms.sqlite')];
    // The service keeps its address.
    const line = await layRoughLine(t, server.url);
    const whileServed = async (work: (engine: Engine) => Promise<void>) => {
      await using engine = await openEngine(place.databaseUrl);
      await using started = await startTestServer({ engine });
      line.leadTo(started.url);
      await work(engine);
    };
    let API_KEY = '';
    const pullFrom = () => place.call(['pull', '--url', line.url, '--into', into], { API_KEY });
    await whileServed(async (engine) => {
      API_KEY = await keyFor(engine, 'brennan');
      t.match(await place.call(['backup', backup]), { exitCode: 0 });
      const fields = [{ id: 'q1', type: 'yesno', label: 'Gone?' }];
      await apply('form.save', { id: 'phantom', title: 'Lost', fields }, engine);
      t.match(await pullFrom(), { exitCode: 0 });
      t.ok(readSqliteCopy(into).forms.some(({ id }) => id === 'phantom'));
    });
    for (const end of ['', '-wal', '-shm'])
      rmSync(`${place.databaseUrl.slice('sqlite:'.length)}${end}`, { force: true });
    t.match(await place.call(['restore', backup]), { exitCode: 0 });
    await whileServed(async () => {
      const anew =
        /is up to date.*\n {2}All was read again: the service was restored from a backup or moved,/;
      t.match(await pullFrom(), { stdout: anew });
      t.strictSame(readSqliteCopy(into), await readSource(line.url, API_KEY));
      t.match(await pullFrom(), { stdout: /was up to date, in [\d.]+ s\n$/ });
    });
  },
);
