import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import t from 'tap';

import { operations } from '../../../src/client/operations.ts';
import { companyDay, machineZone } from '../../../src/contract/company-time.ts';
import { byKey, daysFrom, issued, open, openBooks, signOf, sum } from './_books.ts';
import { startTools, type Tools as Model } from './_mcp.ts';

/* A model's questions to a copy, over the makers' own client of the protocol. */

const { server, books } = await openBooks(t);

t.test('five questions of an accountant are answered in one call each', async (t) => {
  const { copy, invoices, nameOf } = books.example;
  const today = companyDay(machineZone(), new Date());
  const tools = await startTools(t, ['--copy', copy]);
  const names = ['getReceivables', 'getMonthlySums', 'getCustomerHistory'];
  t.strictSame(
    (await tools.client.listTools()).tools.map(({ name }) => name),
    names,
    'without a service no others',
  );
  const due = open(books.example).map((invoice) => ({
    ...{ customer: nameOf(invoice), currency: invoice.currency, due: decimal(invoice.amountDueMinor ?? 0) },
    daysOverdue: daysFrom(invoice.dueDate, today),
  }));
  const overdue = await ask(tools, 'getReceivables', { daysOverdue: 1 });
  const late = due.filter(({ daysOverdue }) => daysOverdue > 0);
  t.match(overdue.customers.toSorted(byKey), late.toSorted(byKey), 'who is overdue, and by how much');
  t.equal(overdue.customers.length, late.length);
  const { years, balances } = await ask(tools, 'getCustomerHistory', { customer: 'KÉLLY niamh' });
  t.match(years, [{ year: '2026', customer: 'Niamh Kelly', paid: '128.82' }], 'what Kelly paid this year');
  t.match(balances, [{ customerId: 'cus_0002', due: '0.00', creditBalance: '0.00' }]);
  const october = await ask(tools, 'getMonthlySums', { period: '2026-10' });
  const vatMinor = sum(
    issued(books.example)
      .filter(({ issueDate }) => issueDate?.startsWith('2026-10'))
      .map((invoice) => signOf(invoice) * (invoice.accountingCurrency ?? invoice).totals.vatMinor),
  );
  t.match(
    october.months[0],
    { month: '2026-10', currency: 'EUR', vat: decimal(vatMinor) },
    'VAT for October',
  );
  t.equal(decimal(sum(october.vat.map(({ vat }) => Math.round(Number(vat) * 100)))), decimal(vatMinor));
  const months = (await ask(tools, 'getMonthlySums')).months;
  const paid = invoices
    .flatMap(({ payments = [] }) => payments)
    .filter(({ paidOn }) => paidOn.startsWith('2026-11'));
  t.match(months[0], {
    month: '2026-11',
    currency: 'EUR',
    paid: decimal(sum(paid.map(({ amountMinor }) => amountMinor))),
  });
  const history = await ask(tools, 'getCustomerHistory', { customer: 'harbour' });
  t.match(
    history.balances,
    [{ due: '596.52', creditBalance: '44.89' }],
    'credit on one invoice beside another that is open',
  );
  t.strictSame(
    history.entries
      .map(({ kind }) => kind)
      .toSorted()
      .slice(0, 2),
    ['credit_note', 'credit_note'],
  );
});

t.test('what is refused names its rule, and nobody is no customer without debts', async (t) => {
  const { client, call } = await startTools(t, ['--copy', books.example.copy]);
  const nobody = 'customer must be the id of a customer, or parts of a name, and nobody has';
  const refused: [words: string, tool: string, args: object][] = [
    [
      'period must be a year or a month such as 2026-10, not "2026-1".',
      'getMonthlySums',
      { period: '2026-1' },
    ],
    ['"month" is not a parameter of getMonthlySums', 'getMonthlySums', { month: '2026-10' }],
    [
      'daysOverdue must be a whole number of days from 0 to 999999, not "-1".',
      'getReceivables',
      { daysOverdue: -1 },
    ],
    ['customer must be the id of a customer, or parts of a name, not "".', 'getCustomerHistory', {}],
    [`${nobody} "nobody".`, 'getCustomerHistory', { customer: 'nobody' }],
    [`${nobody} "cus_9999".`, 'getReceivables', { customer: 'cus_9999' }],
    ['cursor must be the nextCursor of an answer, not "next".', 'getReceivables', { cursor: 'next' }],
    ['cursor is of other arguments, or of an earlier copy', 'getReceivables', { cursor: '3.abcdefghij' }],
  ];
  for (const [words, tool, args] of refused)
    t.match(await call(tool, { ...args }), { isError: true, text: words }, `${tool} ${JSON.stringify(args)}`);
  const { tools } = await client.listTools();
  for (const { inputSchema } of tools)
    t.strictSame(
      Object.keys(inputSchema).filter((keyword) => !TAKEN.includes(keyword)),
      [],
    );
});

t.test('a customer is reached by id and by any name, before others and to the last entry', async (t) => {
  const copy = join(t.testdir(), 'copy.sqlite');
  cpSync(books.generated.copy, copy);
  using db = new DatabaseSync(copy);
  const [first = '', second = ''] = [...Map.groupBy(open(books.generated), ({ customer }) => customer.id)]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([id]) => id);
  const rename = db.prepare('UPDATE customers SET name = ? WHERE id = ?');
  const others = db.prepare("UPDATE customers SET name = 'Sorcha Mac Giolla ' || id WHERE id NOT IN (?, ?)");
  const { changes: otherCount } = others.run(first, second);
  t.ok(Number(otherCount) > 20, `${otherCount} names with its parts`);
  rename.run('Sorcha Mac Giolla', first);
  rename.run('Sorcha Nua', second);
  const tools = await startTools(t, ['--copy', copy]);
  const theirs = books.generated.invoices.filter(({ customer }) => customer.id === first);

  const whole = await askAll(tools, 'getCustomerHistory', { customer: 'sorcha mac  giolla' });
  t.strictSame(
    [...new Set(whole.balances.map(({ customerId }) => customerId))],
    [first],
    'the name itself first',
  );
  t.equal(whole.otherCustomers.length, otherCount, 'and the others are named');
  t.strictSame(await askAll(tools, 'getCustomerHistory', { customer: first }), {
    ...whole,
    otherCustomers: [],
  });
  const numbers = issued({ ...books.generated, invoices: theirs }).map(({ number }) => number);
  const told = whole.entries.filter(({ kind }) => /^(?:invoice|credit_note)$/.test(String(kind)));
  t.strictSame(told.map(({ number }) => number).toSorted(), numbers.toSorted());

  // Since when, invoice by invoice.
  const due = await askAll(tools, 'getReceivables', { customer: first });
  const since = open({ ...books.generated, invoices: theirs }).map(({ number, dueDate }) => ({
    number,
    dueDate,
  }));
  t.match(due.invoices.toSorted(byKey), since.toSorted(byKey));
  t.equal(due.invoices.length, since.length);
  t.match(due.customers, [{ customerId: first, dueSince: due.invoices[0]?.dueDate }]);

  // The name on documents and the one of today.
  const onDocuments =
    books.generated.invoices.find(({ customer }) => customer.id === second)?.customer.name ?? '';
  for (const customer of [onDocuments, 'SORCHA NUA', second]) {
    const { balances } = await askAll(tools, 'getCustomerHistory', { customer });
    t.ok(
      balances.some((row) => row.customerId === second && row.customer === 'Sorcha Nua'),
      customer,
    );
    const { customers } = await askAll(tools, 'getReceivables', { customer });
    t.ok(
      customers.some((row) => row.customerId === second && row.customer === 'Sorcha Nua'),
      customer,
    );
  }
  const all = await askAll(tools, 'getReceivables');
  t.equal(all.invoices.length, open(books.generated).length, 'every open invoice is reached');

  db.prepare("DELETE FROM invoices WHERE json_extract(customer, '$.id') = ?").run(second);
  const { balances } = await askAll(tools, 'getCustomerHistory', { customer: second });
  t.match(
    balances,
    [{ customerId: second, customer: 'Sorcha Nua', currency: null, due: null }],
    'no invoices',
  );
});

t.test(
  'beside the tools of the API, an answer has 2,000 tokens at most and says what it leaves out',
  async (t) => {
    const { copy, key } = books.generated;
    const tools = await startTools(t, ['--url', server.url, '--copy', copy], key);
    t.equal((await tools.client.listTools()).tools.length, Object.keys(operations).length + 3);
    t.match(await tools.call('listInvoices', { limit: 1 }), { isError: false });
    const { customers, totals } = await ask(tools, 'getReceivables');
    for (const currency of ['EUR', 'GBP']) {
      const theirs = open(books.generated).filter((invoice) => invoice.currency === currency);
      const dues = [...Map.groupBy(theirs, ({ customer }) => customer.id).values()].map((of) =>
        sum(of.map(({ amountDueMinor = 0 }) => amountDueMinor)),
      );
      const largest = dues
        .toSorted((a, b) => b - a)
        .slice(0, 5)
        .map(decimal);
      const shown = customers.filter((row) => row.currency === currency).slice(0, 5);
      t.strictSame(
        shown.map((row) => row.due),
        largest,
        'the five largest debtors',
      );
      t.equal(totals.find((row) => row.currency === currency)?.due, decimal(sum(dues)));
    }
    t.match((await ask(tools, 'getCustomerHistory', { customer: 'e' })).text, /"leftOut":[1-9]\d*\}\}$/);
  },
);

const decimal = (minor: number) => (minor / 100).toFixed(2);

type Table = Record<string, unknown>[];
const NAMES = 'totals customers invoices months vat years balances entries otherCustomers'.split(' ');
type TableName =
  | 'totals'
  | 'customers'
  | 'invoices'
  | 'months'
  | 'vat'
  | 'years'
  | 'balances'
  | 'entries'
  | 'otherCustomers';
type Tables = Record<TableName, Table>;
/** https://ai.google.dev/api/caching#Schema */
const TAKEN = ['type', 'properties', 'required'];

/** Asks once. The answer's tables by their names, with a record for each row, and the text. */
async function ask(tools: Model, name: string, args = {}) {
  const { text, isError, content } = await tools.call(name, args);
  t.notOk(isError, text);
  // A token of such texts has two bytes or more.
  t.ok(Buffer.byteLength(JSON.stringify(content)) < 5_000);
  const { nextCursor, ...answer } = JSON.parse(text) as { nextCursor: string | null };
  const told = answer as Record<string, { columns: string[]; rows: unknown[][] }>;
  const tables = NAMES.map((of): [string, Table] => {
    const { columns, rows } = told[of] ?? { columns: [], rows: [] };
    return [
      of,
      rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index] ?? '', value]))),
    ];
  });
  return { ...(Object.fromEntries(tables) as Tables), text, nextCursor };
}

/** Asks until the last page. */
async function askAll(tools: Model, name: string, args = {}): Promise<Tables> {
  const all = Object.fromEntries(NAMES.map((of) => [of, [] as Table])) as Tables;
  let cursor: string | null | undefined;
  do {
    const page = await ask(tools, name, { ...args, cursor });
    for (const of of Object.keys(all)) all[of as TableName].push(...page[of as TableName]);
    cursor = page.nextCursor;
  } while (cursor);
  return all;
}
