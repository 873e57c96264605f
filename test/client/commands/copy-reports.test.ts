import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import Database from 'better-sqlite3';
import { readXlsx } from 'hucre/xlsx';
import t, { type Test } from 'tap';

import type { Invoice } from '../../../src/client/index.ts';
import { companyDay } from '../../../src/contract/company-time.ts';
import { DAY_MS } from '../../../src/contract/durations.ts';
import { keyFor } from '../../_server.ts';
import { layRoughLine } from '../_rough-line.ts';
import { byKey, daysFrom, issued, open, openBooks, signOf, sum } from './_books.ts';

/* What accountants ask of a copy, held against sums that are made here of the API's own records. */

const { server, workplace, books } = await openBooks(t);
const { folder, call } = workplace;
const out = join(folder, 'out');

async function exported(t: Test, args: string[]): Promise<Record<string, unknown>[]> {
  const outcome = await call(['export', ...args, '--format', 'jsonl', '--out', out]);
  t.match(outcome, { exitCode: 0 }, outcome.stderr);
  const lines = readFileSync(out, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

t.test('each open invoice has a row that adds up, with the days it is overdue', async (t) => {
  for (const of of Object.values(books)) {
    const rows = await exported(t, ['receivables', '--from', of.copy, '--overdue-on', '2026-11-21']);
    const expected = open(of).map((invoice) => ({
      ...{ number: invoice.number, customerId: invoice.customer.id, customerName: invoice.customer.name },
      ...{ issueDate: invoice.issueDate, dueDate: invoice.dueDate, currency: invoice.currency },
      grossMinor: invoice.totals.grossMinor,
      paidMinor: sum((invoice.payments ?? []).map(({ amountMinor }) => amountMinor)),
      refundedMinor: sum((invoice.refunds ?? []).map(({ amountMinor }) => amountMinor)),
      creditedMinor: sum(invoice.creditNotes.map(({ grossMinor }) => grossMinor)),
      roundingMinor: 0,
      amountDueMinor: invoice.amountDueMinor,
      daysOverdue: daysFrom(invoice.dueDate, '2026-11-21'),
      id: invoice.id,
    }));
    t.strictSame(rows.toSorted(byKey), expected.toSorted(byKey));
    for (const { grossMinor, paidMinor, refundedMinor, creditedMinor, amountDueMinor } of expected)
      t.equal(grossMinor - paidMinor + refundedMinor - creditedMinor, amountDueMinor);
    const isLateByOne = rows.some(({ daysOverdue }) => daysOverdue === 1);
    t.ok(isLateByOne || of === books.generated, 'the day after it was due');
  }
  const { invoices } = books.generated;
  const isInCredit = ({ creditBalanceMinor = 0, refunds = [] }: Invoice) =>
    creditBalanceMinor > 0 && refunds.length === 0;
  t.ok(invoices.some(isInCredit));
  t.ok(invoices.some(({ status }) => status === 'draft'));
});

t.test('the VAT of a month has a row for each category and rate of a document', async (t) => {
  const all = [...issued(books.example), ...issued(books.generated)];
  const months = new Set(all.map(({ issueDate }) => issueDate?.slice(0, 7) ?? ''));
  const rowsOf = (invoice: Invoice, customerName: string) => {
    const { vatBreakdown, currency } = invoice.accountingCurrency ?? invoice;
    const { kind, number, issueDate, supplyDate, id, currency: documentCurrency } = invoice;
    return vatBreakdown.map((item) => ({
      ...{ kind, number, issueDate, supplyDate, customerId: invoice.customer.id, customerName },
      ...{ vatCategory: item.category, vatRateBasisPoints: item.rateBasisPoints, currency },
      taxableMinor: signOf(invoice) * item.taxableMinor,
      vatMinor: signOf(invoice) * item.vatMinor,
      ...{ documentCurrency, id },
    }));
  };
  for (const of of Object.values(books))
    for (const month of [...months].slice(-5).concat('1999-12')) {
      const rows = await exported(t, ['vat', '--from', of.copy, '--month', month]);
      const theirs = issued(of).filter(({ issueDate }) => issueDate?.startsWith(month));
      const expected = theirs.flatMap((invoice) => rowsOf(invoice, of.nameOf(invoice)));
      // Minus zero is a matter of these sums alone.
      const plain = JSON.parse(JSON.stringify(expected)) as object[];
      t.strictSame(rows.toSorted(byKey), plain.toSorted(byKey), month);
    }
});

t.test('reports are written in every form, and say what they are of', async (t) => {
  const { copy } = books.example;
  const args = ['export', 'vat', '--from', copy, '--month', '2026-10', '--columns', 'number,vatMinor,vat'];
  const outcome = await call([...args, '--decimal', ',', '--out', '-']);
  t.equal(outcome.stdout.split('\r\n')[1], '"CN-2026-0001";-2709;"-27,09"');
  t.match(outcome.stderr, /^5 rows of vat, as of 20\d\d-.*Z\n$/);
  const book = join(folder, 'vat.xlsx');
  t.match(await call([...args, '--out', book]), { exitCode: 0 });
  t.strictSame((await readXlsx(readFileSync(book))).sheets[0]?.rows[1], ['CN-2026-0001', -2709, -27.09]);
  const month = new Date(Date.now() + DAY_MS).toISOString().slice(0, 7);
  t.match(await call(['export', 'vat', '--from', copy, '--month', month, '--out', out]), {
    stderr: new RegExp(`^${month} wasn't over when the copy was made \\(`),
  });
  const today = await exported(t, ['receivables', '--from', copy, '--time-zone', 'Pacific/Kiritimati']);
  const day = companyDay('Pacific/Kiritimati', new Date());
  for (const { dueDate, daysOverdue } of today) t.equal(daysOverdue, daysFrom(String(dueDate), day));
});

t.test('with --lines each amount of a document stands in its first row alone', async (t) => {
  const { invoices, key } = books.example;
  const book = join(folder, 'lines.xlsx');
  const args = ['export', 'invoices', '--lines', '--url', server.url, '--out', book];
  t.match(await call(args, { API_KEY: key }), { exitCode: 0 });
  const [head = [], ...rows] = (await readXlsx(readFileSync(book))).sheets[0]?.rows ?? [];
  const cells = rows.map((row) => new Map(head.map((name, index) => [String(name), row[index]])));
  const listed = invoices.filter(({ status }) => status === 'issued');
  t.equal(cells.length, sum(listed.map(({ lines }) => lines.length)));
  const sumOf = (name: string) => sum(cells.map((row) => Number(row.get(name) ?? 0)));
  t.equal(sumOf('totals.grossMinor'), sum(listed.map(({ totals }) => totals.grossMinor)));
  t.equal(sumOf('accountingCurrency.totals.vatMinor'), 80_114);
  t.equal(sumOf('amountDueMinor'), sum(listed.map(({ amountDueMinor = 0 }) => amountDueMinor)));
  t.equal(sumOf('line.amountMinor'), sum(listed.map(({ totals }) => totals.netMinor)));
  const later = cells.filter((row) => row.get('line.position') !== 1);
  t.ok(later.length > 5);
  for (const row of later)
    for (const [name, value] of row) {
      const isAmount = /Minor$|totals|Breakdown|^payments|^refunds|^creditNotes|amountDue|Balance/.test(name);
      if (isAmount && !name.startsWith('line.')) t.equal(value, null, name);
      else if (/^(?:number|buyer.addressLines|customer.name)$/.test(name)) t.not(value, null, name);
    }
});

t.test('the copy has the same as views, and an older copy gets them', async (t) => {
  const { copy, key } = books.generated;
  const rows = await exported(t, ['receivables', '--from', copy]);
  const db = new Database(copy);
  t.strictSame(db.prepare('SELECT * FROM receivables ORDER BY issueDate DESC, id DESC').all(), rows);
  t.equal(
    db.prepare('SELECT COUNT(*) FROM vat').pluck().get(),
    sum(issued(books.generated).map(({ vatBreakdown }) => vatBreakdown.length)),
  );
  const sumOf = 'SELECT SUM(amountMinor) FROM sales_ledger WHERE currency = ?';
  for (const currency of ['EUR', 'GBP']) {
    const theirs = issued(books.generated).filter((invoice) => invoice.currency === currency);
    const left = theirs.map(
      ({ amountDueMinor = 0, creditBalanceMinor = 0 }) => amountDueMinor - creditBalanceMinor,
    );
    t.equal(db.prepare(sumOf).pluck().get(currency), sum(left), currency);
  }
  t.strictSame(db.prepare('SELECT DISTINCT currency FROM sales_ledger ORDER BY 1').pluck().all(), [
    'EUR',
    'GBP',
  ]);
  for (const view of ['receivables', 'vat', 'sales_ledger', 'months'])
    for (const { name, type } of db.pragma(`table_info(${view})`) as { name: string; type: string }[])
      t.match(
        type,
        /Minor$|^daysOverdue$|BasisPoints$/.test(name) ? /^(INT|NUM)/ : 'TEXT',
        `${view}.${name}`,
      );
  const texts = () =>
    db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY name").all();
  const before = texts();
  t.equal(before.length, 4);
  db.exec(
    'DROP VIEW sales_ledger; DROP VIEW months; CREATE VIEW months AS -- kept by pull\nSELECT 1; DROP VIEW vat; CREATE TABLE VAT (own)',
  );
  t.strictSame(await exported(t, ['receivables', '--from', copy]), rows);
  t.match(await call(['pull', '--url', server.url, '--into', copy], { API_KEY: key }), { exitCode: 0 });
  t.strictSame(
    texts(),
    (before as { name: string }[]).filter(({ name }) => name !== 'vat'),
  );
  t.ok(
    (await exported(t, ['vat', '--from', copy, '--month', '2026-10'])).length > 0,
    "beside somebody's own table",
  );
  db.exec('DROP TABLE VAT');
  // As the API shows an invoice whose amount to pay was rounded up.
  const [rounded] = open(books.generated);
  db.prepare('UPDATE invoices SET amountDueMinor = amountDueMinor + 2 WHERE id = ?').run(rounded?.id);
  t.match(db.prepare("SELECT * FROM sales_ledger WHERE kind = 'rounding'").all(), [
    { day: rounded?.issueDate, number: rounded?.number, amountMinor: 2 },
  ]);
  db.close();
});

t.test('what a copy can’t give is refused, and is never zero', async (t) => {
  const file = (name: string, content = '') => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  mkdirSync(join(folder, 'folder'));
  new Database(join(folder, 'other.sqlite')).exec('CREATE TABLE notes (text)').close();
  const [narrow, plain] = [join(folder, 'narrow.sqlite'), join(folder, 'plain.sqlite')];
  const jobs = await keyFor(server.engine, 'brennan', ['jobs:read']);
  const pull = ['pull', '--url', server.url, '--into'];
  t.match(await call([...pull, narrow], { API_KEY: jobs }), { exitCode: 0 });
  t.match(await call([...pull, plain, '--no-details'], { API_KEY: books.example.key }), { exitCode: 0 });
  const cases: [copy: string, sentence: RegExp][] = [
    [join(folder, 'none'), /There is no copy ".*none"\. "fieldledger pull --into" makes one\./],
    [file('empty'), /There is no copy ".*empty"/],
    [file('text', 'no database, and yet as long as one to somebody who looks at that'), /is no SQLite file/],
    [join(folder, 'folder'), /folder is not a file\./],
    [join(folder, 'other.sqlite'), /is a database of another program/],
    [
      narrow,
      /narrow\.sqlite has no invoices\. "fieldledger pull" brings them, with a key that may read them\./,
    ],
    [plain, /plain\.sqlite has no payments, because it was pulled with --no-details\./],
  ];
  for (const [copy, sentence] of cases) {
    const refused = { exitCode: 1, stdout: '', stderr: sentence };
    t.match(await call(['export', 'receivables', '--from', copy, '--out', '-']), refused);
    t.match(await call(['mcp', '--copy', copy]), refused);
  }
  const vat = await exported(t, ['vat', '--from', plain, '--month', '2026-10']);
  t.equal(vat.length, 5, 'VAT takes no payments');
  const wrong: [args: string[], sentence: RegExp][] = [
    [['receivables'], /A copy is missing: name one with --from/],
    [['vat', '--from', plain], /A month is missing: name it with --month/],
    [['vat', '--month', '2026-13'], /It must be a month such as 2026-10\./],
    [['receivables', '--overdue-on', '2026-02-30'], /It must be a day such as 2026-11-30\./],
    [['receivables', '--from', plain, '--url', server.url], /--url is for people, .*, not for receivables\./],
    [
      ['vat', '--from', plain, '--overdue-on', '2026-02-03'],
      /--overdue-on is for receivables, not for vat\./,
    ],
    [['invoices', '--from', plain], /--from is for receivables, vat, not for invoices\./],
    [['invoices'], /A service is missing: name its address with --url\./],
  ];
  for (const [args, sentence] of wrong)
    t.match(await call(['export', ...args, '--out', out]), { stderr: sentence });
});

t.test('a copy that pull is writing gives all of a month, or says that it is not whole', async (t) => {
  const { copy, key } = books.generated;
  const october = ['--month', '2026-10'];
  const whole = await exported(t, ['vat', '--from', copy, ...october]);
  const line = await layRoughLine(t, server.url, { delayMs: 5 });
  const own = join(folder, 'written.sqlite');
  const pulling = workplace.start(['pull', '--url', line.url, '--into', own], { API_KEY: key });
  let refusals = 0;
  while (pulling.child.exitCode === null) {
    const { exitCode, stderr } = await call(['export', 'vat', '--from', own, ...october, '--out', out]);
    if (exitCode === 0) t.match(stderr, /^$/);
    else t.match(stderr, /There is no copy|has no invoices|doesn't have all invoices yet/);
    refusals += exitCode ?? 0;
    await pause(20);
  }
  t.strictSame(await pulling.ended, { exitCode: 0, signal: null }, 'readers never broke it off');
  t.ok(refusals > 3);
  t.strictSame(await exported(t, ['vat', '--from', own, ...october]), whole);
});
