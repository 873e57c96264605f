import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
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

import { readXlsx } from 'hucre/xlsx';
import t from 'tap';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import { createTerminal } from '../../../src/command-line/terminal.ts';
import { main } from '../../../src/main.ts';
import type { Change } from '../../../src/contract/feed.ts';
import { resources } from '../../../src/contract/records.ts';
import { answers, startService } from '../_service.ts';
import { callCommand } from '../../_command.ts';
import { company } from '../../contract/_company.ts';
import { startExampleServer, STORY_NOW } from '../../_server.ts';
import { runOnFullDisk } from '../../server/commands/_full-disk.ts';

const folder = mkdtempSync(join(tmpdir(), 'fieldledger-export-'));
const server = await startExampleServer('sqlite');
t.teardown(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
const keyFile = join(folder, 'key');
writeFileSync(keyFile, `${server.key}\n`);
const out = join(folder, 'out');
/** The options that are named again take the place of those before. */
const run = (...args: string[]) =>
  callCommand(['export', '--url', server.url, '--key-file', keyFile, '--out', out, ...args]);

const unfinished = () => readdirSync(folder).filter((name) => name.includes('unfinished'));

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

const linesOfJson = () => {
  const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as { id: string });
};

t.test('invoices become a table with one row each, and decimal amounts beside minor units', async (t) => {
  const issued = company.invoices.filter(({ status }) => status === 'issued');
  const told = { exitCode: 0, stdout: `${out}: ${issued.length} rows of invoices\n`, stderr: '' };
  t.strictSame(await run('invoices'), told);
  const rows = table();
  t.strictSame(
    rows.map(({ number }) => number),
    issued.map(({ number }) => number),
  );
  t.match(rows[0], { number: 'INV-2026-0001', currency: 'EUR', 'customer.name': String });
  for (const row of rows) {
    t.match(row['totals.grossMinor'], /^\d+$/);
    t.equal(row['totals.gross'], (Number(row['totals.grossMinor']) / 100).toFixed(2));
    const { 'accountingCurrency.currency': currency, 'accountingCurrency.totals.vat': vat } = row;
    t.equal(vat === '', currency === '');
  }
  t.equal((await run('invoices', '--since', '2026-11-16')).exitCode, 0);
  t.ok(table().length > 0 && table().length < issued.length);
});

t.test('with --lines each line of a document has a row, and as JSON it stays in its document', async (t) => {
  await run('invoices', '--lines');
  const rows = table();
  t.match(rows[0], { number: 'INV-2026-0001', amountDueMinor: '0', amountDue: '0.00', 'line.position': '1' });
  t.match(rows[0], { 'line.description': String, 'line.unitPrice': /^\d+\.\d\d$/ });
  const later = rows.filter(({ id }, index) => id === rows[index - 1]?.id);
  const amounts = new Set(later.flatMap((row) => [row['totals.grossMinor'], row.amountDueMinor]));
  t.strictSame([...amounts], [''], 'the amounts of a document stand in its first row alone');
  t.equal((await run('quotes', '--lines', '--format', 'jsonl')).exitCode, 0);
  t.match(linesOfJson()[0], { id: String, lines: [{ description: String }] });
});

t.test('every resource can be exported in both forms', async (t) => {
  for (const resource of resources) {
    t.match(await run(resource), { exitCode: 0, stderr: '' }, resource);
    const rows = table();
    t.match(await run(resource, '--format', 'jsonl'), { exitCode: 0, stderr: '' });
    const idsOf = (records: { id?: string }[]) => records.map(({ id }) => id);
    t.strictSame(idsOf(rows), idsOf(linesOfJson()));
  }
});

/** Keeps a customer whose texts are somebody's own. */
async function saveCustomer(id: string, texts: Record<string, unknown>): Promise<void> {
  const rest = { countryCode: 'IE', currency: 'EUR', paymentTermsDays: 1, addressLines: ['1 Quay St'] };
  const change = { id: `c-${id}`, company: 'brennan', change: 'customer.save' };
  const backoffice = openBackoffice(server.engine, { now: () => STORY_NOW });
  await applyChange(backoffice, { ...change, with: { id, name: id, ...rest, ...texts } } as Change);
}

t.test('a text that begins like a formula stays a text, and a number stays a number', async (t) => {
  await saveCustomer('x1', {
    name: '=HYPERLINK("http://x")',
    legalName: '+1 & more',
    addressLines: ['a "b", c', '1 Quay St; Galway'],
  });
  await saveCustomer('x2', { name: '@SUM(A1)', legalName: '-12.50' });
  await run('customers');
  const named = new Map(table().map((row) => [row.id, row]));
  t.match(named.get('x1'), {
    name: '\'=HYPERLINK("http://x")',
    legalName: "'+1 & more",
    addressLines: 'a "b", c | 1 Quay St; Galway',
  });
  t.match(named.get('x2'), { name: "'@SUM(A1)", legalName: '-12.50' });
});

t.test('decimals and cells are separated as a country has it, and a quantity is a decimal too', async (t) => {
  t.equal((await run('invoices', '--lines', '--decimal', ',')).exitCode, 0);
  const [head, first] = readFileSync(out, 'utf8').split('\r\n');
  t.match(head, /^\ufeff"id";"kind";/);
  t.match(first, /^"[^"]+";"invoice";"issued";"INV-2026-0001";/);
  const columns = ['--lines', '--columns', 'line.quantity, totals.gross,number'];
  const cellsBy = async (separator: string, ...args: string[]) => {
    t.equal((await run('invoices', ...columns, ...args)).exitCode, 0);
    const lines = readFileSync(out, 'utf8').slice(1).split('\r\n');
    return lines.map((line) => line.split(separator));
  };
  const points = await cellsBy(',');
  t.match(points.slice(0, 2), [
    ['"line.quantity"', '"totals.gross"', '"number"'],
    [/^\d+(?:\.\d+)?$/, /^\d+\.\d\d$/, '"INV-2026-0001"'],
  ]);
  const asComma = (cell: string) => (/^\d+\.\d+$/.test(cell) ? `"${cell.replace('.', ',')}"` : cell);
  // Quoted, because LibreOffice's dialog has the comma ticked as a separator whatever else is.
  t.strictSame(
    await cellsBy('\t', '--decimal', ',', '--separator', 'tab'),
    points.map((line) => line.map(asComma)),
  );
});

t.test('a cell that was shortened is said, by the name of its column', async (t) => {
  const addressLines = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(200));
  const site = { label: 'l'.repeat(200), addressLines, countryCode: 'IE', postcode: null, geo: null };
  const sites = Array.from({ length: 40 }, (_, index) => ({ ...site, id: `s${index}` }));
  await saveCustomer('long', { sites });
  for (const format of ['csv', 'xlsx']) {
    const { stderr } = await run('customers', '--format', format);
    t.equal(stderr, 'sites: 1 text shortened, because a cell holds 32,767 characters; jsonl has all.\n');
  }
  t.match(JSON.parse((await run('customers', '--json')).stdout), { shortened: { sites: 1 } });
});

t.test('in a workbook types and leading zeros hold, and nothing runs', async (t) => {
  await saveCustomer('007', { name: '=1+1', legalName: '0123', email: null });
  const book = join(folder, 'book.XLSX');
  const columns = 'id,name,legalName,paymentTermsDays,archived,email,createdAt';
  t.match(await run('customers', '--out', book, '--columns', columns), { exitCode: 0, stderr: /^$/ });
  const { sheets } = await readXlsx(readFileSync(book));
  t.equal(sheets[0]?.name, 'customers');
  const [head, ...rows] = sheets[0]?.rows ?? [];
  t.strictSame(head?.slice(0, 2), ['id', 'name']);
  const row = rows.find(([id]) => id === '007');
  t.strictSame(row, ['007', '=1+1', '0123', 1, false, null, STORY_NOW]);
  await saveCustomer('008', { name: '_x0041_ \ufffe\uffff', legalName: null, email: null });
  await run('customers', '--out', book, '--columns', 'id,name');
  const texts = (await readXlsx(readFileSync(book))).sheets[0]?.rows.find(([id]) => id === '008');
  t.strictSame(texts, ['008', '_x0041_ \ufffd\ufffd'], 'what looks like an escape, and what XML cannot have');
  t.equal((await run('invoices', '--lines', '--format', 'xlsx')).exitCode, 0);
  const [names, invoice] = (await readXlsx(readFileSync(out))).sheets[0]?.rows ?? [];
  const cell = (name: string) => invoice?.[names?.indexOf(name) ?? -1];
  t.match(cell('line.quantity'), Number);
  t.equal(Number(cell('totals.grossMinor')), Math.round(Number(cell('totals.gross')) * 100));
  t.ok(cell('issueDate') instanceof Date);
});

t.test('a day of --since begins at midnight in a zone that is named, or in the machine’s', async (t) => {
  const { url, asked } = await startService(t, [answers(200, { data: [], nextCursor: null })]);
  const cases: [args: string[], instant: string][] = [
    [['2026-07-01', '--time-zone', 'Europe/Dublin'], '2026-06-30T23:00:00.000Z'],
    [['2026-11-01', '--time-zone', 'America/New_York'], '2026-11-01T04:00:00.000Z'],
    [['2026-07-01T00:00:00+02:00', '--time-zone', 'Asia/Tokyo'], '2026-06-30T22:00:00.000Z'],
    [['2026-07-01'], new Date(2026, 6, 1).toISOString()],
  ];
  for (const [args, instant] of cases) {
    t.match(await run('jobs', '--url', url, '--since', ...args), { exitCode: 0, stderr: '' });
    t.equal(new URL(asked.at(-1) ?? '', url).searchParams.get('updatedSince'), instant);
  }
});

t.test('an export goes to standard output, and a closed pipe ends it quietly', async (t) => {
  const { exitCode, stdout, stderr } = await run('invoices', '--out', '-');
  t.match({ exitCode, stderr }, { exitCode: 0, stderr: /^\d+ rows of invoices\n$/ });
  await run('invoices');
  t.equal(stdout, readFileSync(out, 'utf8'));
  const { stderr: json } = await run('invoices', '--out', '-', '--json');
  t.match(JSON.parse(json), { resource: 'invoices', file: null, rows: Number });
  let [printed, told] = ['', ''];
  const print = (content: string | Uint8Array) => (printed += String(content));
  const tell = (text: string) => (told += text);
  const closed = createTerminal({}, print, tell, () => Promise.resolve(false));
  const args = ['export', 'invoices', '--url', server.url, '--key-file', keyFile, '--out', '-'];
  t.equal(await main(args, closed), 0);
  t.equal(told, '');
  t.match(printed, /^\ufeff"id",[^\n]*\n$/);
});

t.test('an export onto a file that a container has mounted is written in place', async (t) => {
  const [inside, mounted] = [join(folder, 'inside.csv'), join(folder, 'mounted.csv')];
  for (const file of [inside, mounted]) writeFileSync(file, 'before'.repeat(100_000), { mode: 0o640 });
  const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
  const unshare = ['--mount', '--map-root-user', 'bash', '-c', script, 'bash', inside, mounted];
  if (spawnSync('unshare', [...unshare, 'true']).status !== 0) return; // This machine lets nobody mount.
  const command = [join(import.meta.dirname, '..', '..', '..', 'src', 'fieldledger.js'), 'export', 'people'];
  const args = ['--url', server.url, '--key-file', keyFile, '--out', mounted];
  const child = spawn('unshare', [...unshare, ...command, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.strictSame(await once(child, 'close'), [0, null]);
  t.match(readFileSync(inside, 'utf8'), /^\ufeff"id",.*\r\n(?:"[^\n]*\r\n)+$/);
  t.equal(statSync(inside).mode & 0o777, 0o640);
  t.match(readFileSync(mounted, 'utf8'), /^before/);
  t.strictSame(unfinished(), []);
});

t.test('what can’t be done is said in a sentence, and no file is left half written', async (t) => {
  rmSync(out, { force: true });
  // To rename a file into its place would end the pipe, or the device.
  const pipe = join(folder, 'pipe');
  spawnSync('mkfifo', [pipe]);
  symlinkSync('none', join(folder, 'nowhere'));
  const cases: [string[], RegExp, number?][] = [
    [['jobs', '--lines'], /--lines is for quotes, invoices, not for jobs\./],
    [['people', '--since', '2026-11-01'], /--since is for .*, jobs, .*, not for people\./],
    [['jobs', '--since', '2026-02-30'], /It must be a day such as 2026-11-01/, 2],
    [['jobs', '--since', '2026-02-03T24:00:00Z'], /It must be a day such as 2026-11-01/, 2],
    [['jobs', '--since', '2026-02-03T10:00:00'], /It must be a day such as 2026-11-01/, 2],
    [['jobs', '--since', '0001-01-01'], /It must be a day such as 2026-11-01, from 1900 to 2199/, 2],
    [['jobs', '--time-zone', 'Dublin'], /It must be an IANA time zone such as Europe\/Dublin\./, 2],
    [['jobs', '--columns', 'id,tittle'], /"tittle" is not a column of jobs; did you mean title\?/],
    [['jobs', '--columns', ','], /--columns names no column\./],
    [['jobs', '--columns', 'id', '--format', 'jsonl'], /--columns is for tables: JSON Lines have none\./],
    [['jobs', '--decimal', ',', '--format', 'xlsx'], /--separator and --decimal are for CSV, not for xlsx\./],
    [['jobs', '--decimal', ',', '--separator', ','], /A comma can be the separator or the mark/],
    [['jobs', '--out', join(folder, 'x.XLS')], /No file is written as \.XLS; end its name in \.xlsx, /],
    [['planes'], /Allowed choices are people, .*, invoices, receivables, vat/, 2],
    [['jobs', '--out', join(folder, 'no', 'file')], /There is no folder ".*no"\./],
    [['jobs', '--out', folder], /".*" is a folder\./],
    [['jobs', '--out', ''], /"" is not a file\./],
    [['jobs', '--out', join(folder, 'nowhere')], /".*nowhere" is a link that leads nowhere\./],
    [['jobs', '--out', join(folder, 'x'.repeat(260))], /can't be written \(ENAMETOOLONG\)\. No file was/],
    [['jobs', '--out', pipe], /".*pipe" is not a file\./],
    [['jobs', '--since', '9999-12-31T23:59:59-14:00'], /In UTC, the year of --since must have four digits\./],
  ];
  for (const [args, stderr, exitCode = 1] of cases)
    t.match(await run(...args), { exitCode, stdout: /^$/, stderr }, args.join(' '));
  t.strictSame(unfinished(), []);
  t.equal(existsSync(join(folder, 'no')), false);
});

t.test('a file that is replaced keeps its mode, and a link leads to it as before', async (t) => {
  const [file, link] = [join(folder, 'nightly.csv'), join(folder, 'latest.csv')];
  writeFileSync(file, 'before', { mode: 0o640 });
  symlinkSync(file, link);
  t.match(await run('people', '--out', link), { exitCode: 0 });
  t.ok(lstatSync(link).isSymbolicLink());
  t.match(readFileSync(file, 'utf8'), /^\ufeff?"id",/);
  t.equal(statSync(file).mode & 0o777, 0o640);
});

t.test('on a full disk there is no file, and the one that was there stays', async (t) => {
  const full = join(folder, 'full.csv');
  writeFileSync(full, 'before');
  const args = ['export', 'invoices', '--url', server.url, '--key-file', keyFile, '--out', full];
  const { exitCode, stderr } = await runOnFullDisk(args, { home: folder, kilobytes: 4 });
  t.equal(exitCode, 1);
  t.match(stderr, /^fieldledger: There is no room for ".*full\.csv" \(EFBIG\)\. No file was written\.\n$/);
  t.equal(readFileSync(full, 'utf8'), 'before');
  t.strictSame(unfinished(), []);
});
