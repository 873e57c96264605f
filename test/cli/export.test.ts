import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { applyChange } from '../../src/backoffice/apply.ts';
import { openOffice } from '../../src/backoffice/office.ts';
import type { Change } from '../../src/contract/feed.ts';
import { silentAddress } from '../client/_rough-line.ts';
import { callCommand } from '../_command.ts';
import { company } from '../contract/_company.ts';
import { keyFor, startExampleServer, STORY_NOW } from '../_server.ts';
import { runOnFullDisk } from './_full-disk.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldledger-export-'));
const server = await startExampleServer('sqlite');
t.teardown(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
const keyFile = join(folder, 'key');
writeFileSync(keyFile, `${server.key}\n`);
const out = join(folder, 'out');
const run = (...args: string[]) =>
  callCommand(['export', ...args, '--url', server.url, '--key-file', keyFile, '--out', out]);

/** The cells of a CSV, row by row, read as RFC 4180 has it. */
function rowsOf(csv: string): string[][] {
  const rows: string[][] = [];
  let cells: string[] = [];
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== '\r\n') continue;
    rows.push(cells);
    cells = [];
  }
  return rows;
}

/** The rows of the file, by the names of its columns. */
function table(): Record<string, string>[] {
  const text = readFileSync(out, 'utf8');
  if (!text.startsWith('\ufeff')) throw new Error('There is no byte order mark.');
  const [head = [], ...rows] = rowsOf(text.slice(1));
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])));
}

t.test('invoices become a table with one row each, and decimal amounts beside minor units', async (t) => {
  const outcome = await run('invoices');
  const issued = company.invoices.filter(({ status }) => status === 'issued');
  t.strictSame(outcome, { exitCode: 0, stdout: `${out}: ${issued.length} rows of invoices\n`, stderr: '' });
  const rows = table();
  t.strictSame(
    rows.map(({ number }) => number),
    issued.map(({ number }) => number),
  );
  const [first] = rows;
  t.match(first, {
    number: 'INV-2026-0001',
    currency: 'EUR',
    'customer.name': String,
    'totals.grossMinor': /^\d+$/,
  });
  for (const row of rows) {
    t.equal(row['totals.gross'], (Number(row['totals.grossMinor']) / 100).toFixed(2));
    const { 'accountingCurrency.currency': currency, 'accountingCurrency.totals.vat': vat } = row;
    t.equal(vat === '', currency === '');
  }
  t.equal((await run('invoices', '--since', '2026-11-16')).exitCode, 0);
  t.ok(table().length > 0 && table().length < issued.length);
});

t.test('with --lines each line of a document has a row', async (t) => {
  t.equal((await run('invoices', '--lines')).exitCode, 0);
  const rows = table();
  t.ok(rows.length > company.invoices.length);
  t.match(rows[0], {
    number: 'INV-2026-0001',
    'line.position': '1',
    'line.description': String,
    'line.unitPrice': /^\d+\.\d\d$/,
    amountDueMinor: '0',
    amountDue: '0.00',
  });
  t.equal((await run('quotes', '--lines', '--format', 'jsonl')).exitCode, 0);
  const [quote] = readFileSync(out, 'utf8')
    .split('\n')
    .map((line) => (line === '' ? {} : (JSON.parse(line) as object)));
  t.match(quote, { id: String, lines: [{ description: String }] });
});

t.test('every resource can be exported in both forms', async (t) => {
  for (const resource of ['people', 'customers', 'forms', 'jobs', 'submissions', 'quotes', 'invoices']) {
    t.match(await run(resource), { exitCode: 0, stderr: '' }, resource);
    const rows = table();
    t.match(await run(resource, '--format', 'jsonl'), { exitCode: 0, stderr: '' });
    const records = readFileSync(out, 'utf8').trim().split('\n');
    t.strictSame(
      rows.map(({ id }) => id),
      records.map((line) => (JSON.parse(line) as { id: string }).id),
    );
  }
});

t.test('a text that begins like a formula stays a text, and a number stays a number', async (t) => {
  const save = (id: string, name: string, legalName: string) => ({
    id: `c-${id}`,
    company: 'brennan',
    change: 'customer.save',
    with: {
      id,
      name,
      legalName,
      addressLines: ['a "b", c'],
      countryCode: 'IE',
      currency: 'EUR',
      paymentTermsDays: 1,
    },
  });
  const office = openOffice(server.engine, { now: () => STORY_NOW });
  await applyChange(office, save('x1', '=HYPERLINK("http://x")', '+1 & more') as Change);
  await applyChange(office, save('x2', '@SUM(A1)', '-12.50') as Change);
  await run('customers');
  const named = new Map(table().map((row) => [row.id, row]));
  t.match(named.get('x1'), {
    name: '\'=HYPERLINK("http://x")',
    legalName: "'+1 & more",
    addressLines: 'a "b", c',
  });
  t.match(named.get('x2'), { name: "'@SUM(A1)", legalName: '-12.50' });
});

t.test('what can’t be done is said in a sentence, and no file is left half written', async (t) => {
  rmSync(out, { force: true });
  const other = join(folder, 'other');
  writeFileSync(other, await keyFor(server.engine, 'brennan', ['jobs:read']));
  const wrong = join(folder, 'wrong');
  writeFileSync(
    wrong,
    server.key.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
  );
  const silent = await silentAddress();
  // To rename a file into its place would end the pipe, or the device.
  const pipe = join(folder, 'pipe');
  spawnSync('mkfifo', [pipe]);
  symlinkSync('none', join(folder, 'nowhere'));
  const cases: [string[], RegExp, number?][] = [
    [['invoices', '--key-file', other], /refuses this \(GET \/api\/v1\/invoices: 403 missing_scope/],
    [['invoices', '--key-file', wrong], /doesn't take the key \(invalid_key\)\. Ask for a new one\.$/m],
    [
      ['invoices', '--key-file', join(folder, 'none')],
      /--key-file names ".*none", which can't be read \(ENOENT\)/,
    ],
    [
      ['invoices', '--url', silent],
      /^fieldledger: http:\/\/127\.0\.0\.1:\d+ doesn't answer \(ECONNREFUSED\)\.$/m,
    ],
    [['invoices', '--url', 'nowhere'], /--url must be an http or https address .*, not "nowhere"\./],
    [['jobs', '--lines'], /--lines is for quotes and invoices: jobs have none\./],
    [['people', '--since', '2026-11-01'], /--since is not for people: nobody knows when they changed\./],
    [['jobs', '--since', '2026-02-30'], /It must be a day such as 2026-11-01/, 2],
    [['jobs', '--since', '2026-02-03T10:00:00'], /It must be a day such as 2026-11-01/, 2],
    [['planes'], /Allowed choices are people, customers/, 2],
    [['jobs', '--out', join(folder, 'no', 'file')], /There is no folder ".*no"\./],
    [['jobs', '--out', folder], /".*" is a folder\./],
    [['jobs', '--out', ''], /"" is no file\./],
    [['jobs', '--out', join(folder, 'nowhere')], /".*nowhere" is a link that leads nowhere\./],
    [['jobs', '--out', join(folder, 'x'.repeat(260))], /can't be written \(ENAMETOOLONG\)\. No file was/],
    [['jobs', '--out', pipe], /".*pipe" is no file\./],
    [['jobs', '--since', '9999-12-31T23:59:59-14:00'], /In UTC, its year must have four digits\./, 2],
  ];
  for (const [args, sentence, code = 1] of cases) {
    const { exitCode, stdout, stderr } = await callCommand([
      ...['export', '--url', server.url, '--key-file', keyFile, '--out', out],
      ...args,
    ]);
    t.equal(exitCode, code, args.join(' '));
    t.equal(stdout, '');
    t.match(stderr, sentence, args.join(' '));
    t.notMatch(stderr, server.key.slice(-20));
  }
  t.strictSame(
    readdirSync(folder).filter((name) => name.includes('unfinished')),
    [],
  );
  t.equal(existsSync(join(folder, 'no')), false);
});

t.test('a file that is replaced keeps its mode, and a link leads to it as before', async (t) => {
  const file = join(folder, 'nightly.csv');
  const link = join(folder, 'latest.csv');
  writeFileSync(file, 'before', { mode: 0o640 });
  symlinkSync(file, link);
  const args = ['people', '--url', server.url, '--key-file', keyFile, '--out', link];
  t.match(await callCommand(['export', ...args]), { exitCode: 0 });
  t.ok(lstatSync(link).isSymbolicLink());
  t.match(readFileSync(file, 'utf8'), /^\ufeff?id,/);
  t.equal(statSync(file).mode & 0o777, 0o640);
});

t.test('on a full disk there is no file, and the one that was there stays', async (t) => {
  const full = join(folder, 'full.csv');
  writeFileSync(full, 'before');
  const args = ['invoices', '--url', server.url, '--key-file', keyFile, '--out', full];
  const refused = await runOnFullDisk(['export', ...args], { home: folder, kilobytes: 4 });
  t.match(refused, {
    exitCode: 1,
    stderr: /^fieldledger: There is no room for ".*full\.csv" \(EFBIG\)\. No file was written\.\n$/,
  });
  t.equal(readFileSync(full, 'utf8'), 'before');
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('full.csv')),
    ['full.csv'],
  );
});
