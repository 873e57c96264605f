import t from 'tap';

import { operations } from '../../../src/client/operations.ts';
import { companyDay, machineZone } from '../../../src/contract/company-time.ts';
import { byKey, daysFrom, issued, open, openBooks, signOf, sum } from './_books.ts';
import { startTools, type Tools } from './_mcp.ts';

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
  t.strictSame((await ask(tools, 'getCustomerHistory', { customer: 'nobody' })).entries, []);
  const refused = { isError: true, text: 'period can\'t be "2026-1".' };
  t.match(await tools.call('getMonthlySums', { period: '2026-1' }), refused);
  t.match(await tools.call('getMonthlySums', { month: '2026-10' }), {
    isError: true,
    text: '"month" is not a parameter of',
  });
  t.match(await tools.call('getCustomerHistory'), { isError: true, text: 'customer can\'t be "".' });
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
type TableName = 'totals' | 'customers' | 'months' | 'vat' | 'years' | 'balances' | 'entries';

/** Asks once. The answer's tables by their names, with a record for each row, and the text. */
async function ask(tools: Tools, name: string, args = {}) {
  const { text, isError, content } = await tools.call(name, args);
  t.notOk(isError, text);
  // A token of such texts has two bytes or more.
  t.ok(Buffer.byteLength(JSON.stringify(content)) < 5_000);
  const answer = JSON.parse(text) as Record<string, { columns: string[]; rows?: unknown[][] }>;
  const tables = Object.entries(answer).map(([of, { columns, rows = [] }]): [string, Table] => [
    of,
    rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index] ?? '', value]))),
  ]);
  return { ...(Object.fromEntries(tables) as Record<TableName, Table>), text };
}
