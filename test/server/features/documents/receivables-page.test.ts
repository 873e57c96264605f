import { randomUUID } from 'node:crypto';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import type { Invoice } from '../../../../src/contract/records.ts';
import { renderRecord } from '../../../../src/contract/render.ts';
import { exampleRecords, putRecords } from '../../../_records.ts';
import { STORY_NOW } from '../../../_server.ts';
import { COMPANY, onEachEngine, onSqlite, type TestPortal } from '../../portal/_portal.ts';

/** Customers by the due date of an invoice of each, with what is left to pay of it. */
const owed: [name: string, dueDate: string, amountDueMinor: number, currency?: string][] = [
  ['Élan', '2026-11-20', 50_000],
  ['Zeta', '2026-11-19', 900],
  ['Élan', '2026-08-22', 30_000],
  ['byrne', '2026-08-21', 700],
  ['byrne', '2026-11-01', 700, 'GBP'],
];

async function fill(portal: TestPortal): Promise<void> {
  await portal.engine.run('DELETE FROM documents');
  await portal.engine.run('DELETE FROM invoices');
  await createCompany(portal.engine, 'neighbour', {}, STORY_NOW);
  const invoices = owed.map(([name, dueDate, amountDueMinor, currency = 'EUR'], index) => ({
    ...{ amountDueMinor, dueDate, currency, number: `INV-${index}` },
    customer: { type: 'customer', id: `cus:${name.slice(-3)}`, name },
  }));
  await putInvoices(portal, invoices);
}

/** Stores invoices like the example, of Élan unless they say otherwise, for the company and its neighbour. */
async function putInvoices({ engine }: TestPortal, given: readonly object[]): Promise<void> {
  const example = exampleRecords().find(({ record }) => 'payments' in record)?.record as Invoice;
  const records = given.map((one): Invoice => {
    const of = { ...example, customer: { ...example.customer, id: 'cus:lan', name: 'Élan' } };
    const id = randomUUID();
    return {
      ...of,
      payments: [],
      refunds: [],
      creditNotes: [],
      creditBalanceMinor: 0,
      currency: 'EUR',
      id,
      ...one,
    };
  });
  for (const company of [COMPANY, 'neighbour'])
    await putRecords(
      engine,
      company,
      records.map((record) => renderRecord({ resource: 'invoices', record })),
    );
}

onEachEngine('receivables are sorted by any column', { hasRecords: true }, async (t, portal) => {
  await fill(portal);
  portal.setNow(new Date('2026-11-20T12:00:00Z'));
  const visitor = await portal.signedIn();
  const orders: Record<string, string[]> = {
    '': ['lan', 'eta', 'rne', 'rne'],
    '?sort=customer': ['rne', 'lan', 'eta', 'rne'],
    '?sort=overdue_1_30': ['eta', 'lan', 'rne', 'rne'],
    '?sort=overdue_over_90': ['rne', 'lan', 'eta', 'rne'],
  };
  for (const [query, customers] of Object.entries(orders)) {
    await visitor.visit(`/portal/receivables${query}`);
    const shown = [...visitor.shown.matchAll(/state=open&amp;customer=cus%3A(\w+)"/g)].map(([, id]) => id);
    t.strictSame(shown, customers, query);
  }
  t.match(visitor.text, /EUR: €816\.00 to be paid, €316\.00 overdue, €7\.00 for over 90 days/);
  const { statusCode } = await visitor.visit('/portal/receivables?sort=toString');
  t.equal(statusCode, 422);
  t.match(visitor.text, '“toString” isn’t one of these.');
});

onSqlite('each amount leads to its documents', { hasRecords: true }, async (t, portal) => {
  await fill(portal);
  portal.setNow(new Date('2026-11-20T12:00:00Z'));
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/receivables');
  const links = [
    ...visitor.shown.matchAll(/href="(\/portal\/documents\?state=[^"]*currency=[^"]*)"\s*>([^<]*)</g),
  ];
  t.equal(links.length, 5 + 3 + 2 + 2 + 2 + 2, 'in the rows of all and of each customer');
  for (const [, href = '', amount = ''] of links) {
    await visitor.visit(href.replaceAll('&amp;', '&'));
    const [, left] = /Left to pay Invoices in \w+ \d \S+ (\S+)/.exec(visitor.text) ?? [];
    t.equal(left, amount.trim(), href);
  }
  t.match(visitor.shown, /<option value="GBP" selected/, 'and the form keeps the currency');
});

onEachEngine("a customer's statement", { hasRecords: true }, async (t, portal) => {
  await fill(portal);
  portal.setNow(new Date('2026-11-20T12:00:00Z'));
  const [paidOn, updatedAt] = ['2026-10-05', '2026-10-05T09:00:00.000Z'];
  const payments = [{ id: 'p', method: 'card', currency: 'EUR', amountMinor: 100, paidOn }];
  await putInvoices(portal, [
    { number: 'PART', amountDueMinor: 300, payments },
    { number: 'PAID', amountDueMinor: 0, payments, updatedAt },
    { number: 'OVER', amountDueMinor: 0, creditBalanceMinor: 50, payments },
    { number: 'PENCE', amountDueMinor: 5, currency: 'GBP' },
    {
      number: 'NIL',
      amountDueMinor: 0,
      updatedAt,
      customer: { type: 'customer', id: 'cus:nil', name: 'Nil' },
    },
  ]);
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/receivables');
  const [, address = ''] = /href="([^"]*customer=cus%3Alan[^"]*format=csv)"/.exec(visitor.shown) ?? [];
  t.match(address, 'since=2026-09-01');
  const rowsOf = async (query: string) => {
    const { headers, body } = await visitor.visit(`/portal/receivables/statement?format=csv&${query}`);
    t.equal(
      headers['content-disposition'],
      'attachment; filename="Statement -lan EUR 2026-11-20.csv"; filename*=UTF-8\'\'Statement%20%C3%89lan%20EUR%202026-11-20.csv',
    );
    const rows = body
      .trim()
      .split('\r\n')
      .slice(1)
      .map((row) => row.replaceAll('"', '').split(','));
    return rows.map(([, entry, , , , , amount, , balance]) => [entry, amount, balance].join(' ')).sort();
  };
  t.strictSame(await rowsOf('customer=cus:lan&currency=EUR&since=2026-10-05'), [
    'Invoice INV-0 500.00 500.00',
    'Invoice INV-2 300.00 300.00',
    'Invoice OVER 0.50 0.50',
    'Invoice PAID 1.00 1.00',
    'Invoice PART 4.00 4.00',
    'Payment (card) -1.00 -0.50',
    'Payment (card) -1.00 0.00',
    'Payment (card) -1.00 3.00',
  ]);
  const later = await rowsOf('customer=cus:lan&currency=EUR&since=2026-10-06');
  t.notOk(later.includes('Invoice PAID 1.00 1.00'), 'paid before that day');
  t.strictSame(
    await rowsOf('customer=cus:lan&currency=EUR'),
    await rowsOf('customer=cus:lan&currency=EUR&since=2026-09-01'),
  );
  for (const [query, status] of Object.entries({
    'customer=cus:lan&currency=EUR&format=exe': 404,
    'customer=cus:nil&currency=EUR&format=csv&since=2026-11-01': 200,
    'customer=x&currency=EUR&format=csv': 404,
    'customer=cus:lan&currency=CHF&format=csv': 404,
    'customer=cus:lan&currency=EUR&format=csv&since=2026-02-30': 422,
    'customer=cus:lan&currency=EUR&format=csv&since=2027-03-01': 422,
  }))
    t.equal((await visitor.visit(`/portal/receivables/statement?${query}`)).statusCode, status, query);
  await visitor.visit('/portal/receivables?since=2026-02-30');
  t.match(visitor.text, '“2026-02-30” isn’t a date');
  const many = Array.from({ length: 999 }, (_one, index) => ({ number: `M-${index}`, amountDueMinor: 1 }));
  await putInvoices(portal, many);
  const { statusCode } = await visitor.visit(
    '/portal/receivables/statement?customer=cus:lan&currency=EUR&format=csv',
  );
  t.equal(statusCode, 422);
  t.match(visitor.text, 'A statement can have 1,000 invoices.');
});
