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

async function fill({ engine }: TestPortal): Promise<void> {
  await engine.run('DELETE FROM documents');
  await engine.run('DELETE FROM invoices');
  const example = exampleRecords().find(({ record }) => 'payments' in record)?.record as Invoice;
  const invoices = owed.map(([name, dueDate, amountDueMinor, currency = 'EUR'], index) => ({
    ...{ ...example, amountDueMinor, dueDate, currency, payments: [], creditBalanceMinor: 0 },
    ...{ id: `01b00000-0000-7000-8000-00000000000${index}`, number: `INV-${index}` },
    customer: { ...example.customer, id: `cus:${name.slice(-3)}`, name },
  }));
  await createCompany(engine, 'neighbour', {}, STORY_NOW);
  for (const company of [COMPANY, 'neighbour'])
    await putRecords(
      engine,
      company,
      invoices.map((record) => renderRecord({ resource: 'invoices', record })),
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
  t.match(visitor.text, /EUR: €816\.00 to be paid, €316\.00 of it overdue, €7\.00 for over 90 days/);
  const { statusCode } = await visitor.visit('/portal/receivables?sort=toString');
  t.equal(statusCode, 422);
  t.match(visitor.text, '“toString” isn’t one of these.');
});

onSqlite(
  'each amount leads to its documents, and a customer to their file',
  { hasRecords: true },
  async (t, portal) => {
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
    const { headers, body } = await visitor.visit('/portal/receivables?customer=cus%3Alan&format=csv');
    t.equal(headers['content-disposition'], 'attachment; filename="receivables-cus:lan.csv"');
    t.strictSame(body.match(/"INV-\d"/g)?.sort(), ['"INV-0"', '"INV-2"']);
    const nobody = await visitor.visit('/portal/receivables?customer=%22nobody&format=csv');
    t.equal(nobody.headers['content-disposition'], 'attachment; filename="receivables.csv"');
    t.notMatch(nobody.body, 'INV-');
  },
);
