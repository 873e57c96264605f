import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import Database from 'better-sqlite3';
import t from 'tap';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import type { Change } from '../../../src/contract/feed.ts';
import { resources } from '../../../src/contract/records.ts';
import { loadGeneratedCompany } from '../../../src/demo/load.ts';
import { readSource, readSqliteCopy } from '../_copies.ts';
import { layRoughLine, silentAddress } from '../_rough-line.ts';
import { answers, type Behaviour, startService } from '../_service.ts';
import { openWorkplace, until } from '../../_command.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { keyFor, startExampleServer } from '../../_server.ts';
import { runOnFullDisk } from '../../server/cli/_full-disk.ts';

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
const copy = join(folder, 'copy.sqlite');
const service = ['--url', server.url, '--key-file', keyFile];
const pull = (...args: string[]) => workplace.call(['pull', ...service, '--into', copy, ...args]);

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

t.test('its tables can be asked as they are', async (t) => {
  const db = new Database(copy, { readonly: true });
  const row = db
    .prepare(
      `SELECT number, json_extract(totals, '$.grossMinor') AS gross, json_array_length(lines) AS lines, amountDueMinor
       FROM invoices WHERE number = 'INV-2026-0001'`,
    )
    .get();
  t.match(row, { number: 'INV-2026-0001', gross: Number, lines: Number, amountDueMinor: 0 });
  t.strictSame(db.prepare('SELECT DISTINCT typeof(completed) FROM jobs').pluck().all(), ['integer']);
  db.close();
});

t.test('a later pull finds what was changed, discarded and who has left', async (t) => {
  const backoffice = openBackoffice(server.engine);
  const apply = (change: string, what: object) =>
    applyChange(backoffice, { company: 'brennan', change, with: what } as Change);
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

t.test('a key may be in a file that an editor on Windows has kept', async (t) => {
  const file = join(folder, 'windows-key');
  writeFileSync(file, `\ufeff${server.key} \r\n\r\n`);
  t.match(await pull('--key-file', file), { exitCode: 0, stderr: '' });
});

t.test('what can’t be done is said in a sentence, and nothing is made or changed', async (t) => {
  const wrongKey = join(folder, 'wrong-key');
  writeFileSync(
    wrongKey,
    server.key.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
  );
  const { id } = await loadGeneratedCompany(server.engine, 150, () => undefined);
  const otherKey = join(folder, 'other-key');
  writeFileSync(otherKey, await keyFor(server.engine, id));
  const other = join(folder, 'other.sqlite');
  new Database(other).exec('CREATE TABLE notes (text)').close();
  const text = join(folder, 'notes.txt');
  writeFileSync(
    text,
    'Not a database, but long enough to look like one to somebody who only looks at its length.',
  );
  const none = join(folder, 'none.sqlite');
  const silent = await silentAddress();
  const cases: [string[], RegExp][] = [
    [['--into', other], /other\.sqlite is a database of another program\. Name another file\.$/m],
    [['--into', text], /notes\.txt is no SQLite file\. Name another one\.$/m],
    [['--into', ''], /A copy's name must not be empty/],
    [['--into', folder], /is no file\.$/m],
    [['--into', join(folder, 'no', 'copy')], /There is no folder ".*no"\.$/m],
    [
      ['--key-file', otherKey],
      /is a copy of brennan at http.*, not of demo-150 at http.*\. Name another file\.$/m,
    ],
    [
      ['--into', none, '--key-file', wrongKey],
      /doesn't take the key \(invalid_key\)\. Ask for a new one\.$/m,
    ],
    [
      ['--into', none, '--url', silent],
      /^fieldledger: http:\/\/127\.0\.0\.1:\d+ doesn't answer \(ECONNREFUSED\)\.$/m,
    ],
    [['--into', none, '--url', `${server.url}/portal`], /--url must be an http or https address/],
    [['--into', none, '--key-file', text], /notes\.txt" has no API key, which looks like/],
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
  const byEnvironment = await workplace.call(['pull', '--url', server.url, '--into', copy], {
    API_KEY: server.key,
  });
  t.equal(byEnvironment.exitCode, 0, 'the key may come from the environment');
  t.match(await workplace.call(['pull', '--url', server.url, '--into', copy]), {
    stderr: /A key is missing/,
  });
});

t.test('a service that is no API, fails, or breaks the contract is told in a sentence', async (t) => {
  const page = (data: unknown[], nextCursor: string | null = null) => answers(200, { data, nextCursor });
  const none = page([]);
  const withoutDate: Behaviour = (req, res) => {
    res.sendDate = false;
    none(req, res);
  };
  const job = { id: 'job_0001', title: { of: 'a job' } };
  const cases: [string, Behaviour[], string][] = [
    ['no API', [answers(404, '<h1>')], 'is not the address of this API: it answered with 404.'],
    [
      'another page',
      [answers(200, '<h1>', { 'Content-Type': 'text/html' })],
      'is not the address of this API: it answered with 200.',
    ],
    ['a failure later', [none, answers(501, '<h1>')], 'has failed: it answered with 501.'],
    [
      'another page later',
      [none, answers(200, '<h1>', { 'Content-Type': 'text/html' })],
      `breaks the contract of this API (GET /api/v1/${resources[1]}: 200, but this is not an answer of the API, request req-1).`,
    ],
    [
      'no record',
      [page([null])],
      'breaks the contract of this API (GET /api/v1/people: 200, but this is not an answer of the API, request req-1).',
    ],
    [
      'no Date',
      [withoutDate],
      'breaks the contract of this API (The answer has no Date, so nothing can be kept in sync with it).',
    ],
    [
      'a circle',
      [none, page([], 'c1'), page([], 'c2'), page([], 'c1')],
      'breaks the contract of this API (The cursor c1 leads back to itself).',
    ],
    [
      'an object for a text',
      [...resources.slice(0, resources.indexOf('jobs')).map(() => none), page([job])],
      'breaks the contract of this API (The title of a record is {"of":"a job"}).',
    ],
  ];
  for (const [name, behaviours, sentence] of cases) {
    const { url } = await startService(t, behaviours);
    const into = join(folder, `${name}.sqlite`);
    const outcome = await workplace.call(['pull', '--url', url, '--key-file', keyFile, '--into', into]);
    t.strictSame(outcome, { exitCode: 1, stdout: '', stderr: `fieldledger: ${url} ${sentence}\n` }, name);
  }
});

t.test('killed at any instant, it goes on, and the copy is true in the end', async (t) => {
  const { id } = await loadGeneratedCompany(server.engine, 150, () => undefined);
  const key = await keyFor(server.engine, id);
  const into = join(folder, 'killed.sqlite');
  // It takes a while, so that most kills come while there is something to lose.
  await using line = await layRoughLine(server.url, { delayMs: 20 });
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
  t.match(await workplace.run(args, { API_KEY: key }), { exitCode: 0, stderr: '' });
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
    await using place = await openWorkplace('sqlite');
    const path = place.databaseUrl.slice('sqlite:'.length);
    const into = join(place.folder, 'phantoms.sqlite');
    const first = await place.serve(['--demo']);
    const { address, demo } = first.greeting;
    const API_KEY = demo?.key ?? '';
    const pullFrom = () => place.call(['pull', '--url', address, '--into', into], { API_KEY });
    t.match(await place.call(['backup', join(place.folder, 'backup.db')]), { exitCode: 0 });
    await using engine = await openEngine(place.databaseUrl);
    await applyChange(openBackoffice(engine), {
      company: 'brennan',
      change: 'form.save',
      with: { id: 'phantom', title: 'Lost', fields: [{ id: 'q1', type: 'yesno', label: 'Gone?' }] },
    });
    t.match(await pullFrom(), { exitCode: 0 });
    t.ok(readSqliteCopy(into).forms.some(({ id }) => id === 'phantom'));
    await first.end('SIGTERM');
    await engine[Symbol.asyncDispose]();
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    t.match(await place.call(['restore', join(place.folder, 'backup.db')]), { exitCode: 0 });
    await place.serve([], { PORT: new URL(address).port });
    const { stdout } = await pullFrom();
    t.match(
      stdout,
      /is up to date.*\n {2}All was read again: the service was restored from a backup or moved,/,
    );
    t.strictSame(readSqliteCopy(into), await readSource(address, API_KEY));
    t.match(await pullFrom(), { stdout: /was up to date, in [\d.]+ s\n$/ });
  },
);

t.test('SQLite of before 3.37 opens a copy: its tables ask for nothing newer', (t) => {
  const db = new Database(copy, { readonly: true });
  const texts = db.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL').pluck().all();
  for (const text of texts) t.notMatch(text, /STRICT|GENERATED|WITHOUT/i);
  db.close();
  t.end();
});

t.test(
  'a proxy of the environment that fails or is of another kind is named, without its password',
  async (t) => {
    const args = [
      'export',
      'people',
      '--url',
      'http://service.invalid',
      '--key-file',
      keyFile,
      '--out',
      join(folder, 'p.csv'),
    ];
    const silent = await silentAddress();
    const failed = await workplace.call(args, { http_proxy: silent.replace('//', '//user:password@') });
    t.match(
      failed.stderr,
      /service\.invalid doesn't answer \(ECONNREFUSED\)\. HTTP_PROXY names the proxy "http:\/\/127/,
    );
    t.notMatch(failed.stderr, /password/);
    t.match(await workplace.call(args, { HTTP_PROXY: 'socks5://127.0.0.1:1' }), {
      stderr: /HTTP_PROXY must be the http or https address of a proxy/,
    });
  },
);

t.test('a key with the end of a line in the environment is the key, and one of blanks is none', async (t) => {
  const args = ['pull', '--url', server.url, '--into', copy];
  t.match(await workplace.call(args, { API_KEY: `${server.key}\r\n` }), { exitCode: 0 });
  t.match(await workplace.call(args, { API_KEY: ' \n' }), { exitCode: 1, stderr: /A key is missing/ });
});
