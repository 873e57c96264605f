/** Customers and documents of the generated company. The moves hold documents to the law and to their invoices (test/model). */
import t from 'tap';

import type { Invoice } from '../../src/contract/records.ts';
import { problemOfVatNumber } from '../../src/contract/vat-numbers.ts';
import { calculateBalance } from '../../src/contract/vat.ts';
import { createRandom } from '../../src/demo/random.ts';
import { britishVatNumber, irishVatNumber } from '../../src/demo/vat-numbers.ts';
import { generatedCompany, todayText } from './_company.ts';

const { customers, people, invoices: documents, quotes } = (await generatedCompany()).company;
const issued = documents.filter(({ status }) => status === 'issued');
const invoices = issued.filter(({ kind }) => kind === 'invoice');

const eircode = /^(D6W|[ACDEFHKNPRTVWXY]\d{2}) [0-9ACDEFHKNPRTVWXY]{4}$/;
const britishPostcode = /^[A-Z]{1,2}[1-9]\d? \d[ABD-HJLNP-UW-Z]{2}$/;

t.test('generated VAT numbers have right check digits, in every form there is', async (t) => {
  const random = createRandom(7);
  const irish = Array.from({ length: 2_000 }, () => irishVatNumber(random));
  const british = Array.from({ length: 2_000 }, () => britishVatNumber(random));
  t.strictSame(
    [...irish, ...british].filter((number) => problemOfVatNumber(number) !== undefined),
    [],
  );
  for (const form of [/^IE\d{7}[A-W]$/, /H$/, /^IE\d[A-Z]/])
    t.ok(
      irish.some((number) => form.test(number)),
      String(form),
    );
});

t.test('a customer has a VAT number of its country, or none', async (t) => {
  for (const { vatId, countryCode, legalName } of customers) {
    if (legalName === null) t.equal(vatId, null);
    else if (vatId !== null) t.match(vatId, countryCode === 'IE' ? /^IE/ : /^(GB|XI)/);
  }
});

t.test('an address has a postcode of the right shape, and a place in that country', async (t) => {
  for (const { addressLines, countryCode, sites } of customers) {
    const shapes = { IE: eircode, GB: britishPostcode };
    t.match(addressLines.at(-1), shapes[countryCode as 'IE' | 'GB']);
    for (const site of sites) {
      t.match(site.postcode, shapes[site.countryCode as 'IE' | 'GB']);
      if (site.geo)
        t.ok(site.geo.lat > 50 && site.geo.lat < 57 && site.geo.lng > -10.5 && site.geo.lng < 0.5);
    }
  }
});

t.test('customers are at home in both countries, some with several sites, some archived', async (t) => {
  t.strictSame(new Set(customers.map(({ countryCode }) => countryCode)), new Set(['IE', 'GB']));
  t.strictSame(new Set(customers.map(({ currency }) => currency)), new Set(['EUR', 'GBP']));
  t.ok(customers.some(({ sites }) => sites.length === 3) && customers.some(({ archived }) => archived));
  t.ok(customers.every(({ contacts }) => contacts.filter(({ isBilling }) => isBilling).length === 1));
});

t.test('nobody real is written to or called', async (t) => {
  const contacts = customers.flatMap((customer) => customer.contacts);
  const emails = [...customers, ...people, ...contacts].map(({ email }) => email);
  t.ok(emails.every((email) => email === null || /^[a-z0-9.]+@[a-z0-9-]+\.example$/.test(email)));
  t.equal(new Set(people.map(({ email }) => email)).size, people.length);
  const reserved = /^(\+353 20 91\d \d{4}|\+44 (7700 900|20 7946 0|1632 960)\d{3})$/;
  t.ok(contacts.every(({ phone }) => phone === null || reserved.test(phone)));
});

t.test('documents are of every kind, in every category of VAT, and some in sterling', async (t) => {
  const drafts = documents.filter(({ status }) => status === 'draft');
  t.strictSame([...new Set(drafts.map(({ kind }) => kind))].sort(), ['invoice', 'pro_forma']);
  t.strictSame([...new Set(issued.map(({ kind }) => kind))].sort(), ['credit_note', 'invoice', 'pro_forma']);
  const categories = documents.flatMap(({ lines }) => lines.map(({ vatCategory }) => vatCategory));
  t.strictSame([...new Set(categories)].sort(), ['AE', 'E', 'G', 'K', 'O', 'S', 'Z']);
  t.ok(documents.some(({ supplyPeriod }) => supplyPeriod !== null));
  t.ok(invoices.some(({ currency, totals: { vatMinor } }) => currency === 'GBP' && vatMinor > 0));
  t.ok([...documents, ...quotes].every(({ totals: { netMinor } }) => netMinor > 0));
});

t.test('money moved between the issue and today', async (t) => {
  t.ok(
    invoices.every(({ issueDate, updatedAt, payments = [], refunds = [] }) => {
      const days = [...payments.map(({ paidOn }) => paidOn), ...refunds.map(({ refundedOn }) => refundedOn)];
      return days.every(
        (day) => day >= String(issueDate) && day <= updatedAt.slice(0, 10) && day <= todayText,
      );
    }),
  );
});

t.test('invoices are in every state', async (t) => {
  const states: Record<string, (invoice: Invoice) => boolean> = {
    settled: (invoice) => standing(invoice).isSettled,
    'paid in part': ({ payments = [], amountDueMinor = 0 }) => payments.length > 0 && amountDueMinor > 0,
    'paid in two payments': ({ payments = [] }) => payments.length > 1,
    overdue: ({ dueDate, amountDueMinor = 0 }) =>
      dueDate !== null && dueDate < todayText && amountDueMinor > 0,
    'not yet due': ({ dueDate, amountDueMinor = 0 }) =>
      dueDate !== null && dueDate > todayText && amountDueMinor > 0,
    'credited in full': ({ creditNotes: notes, totals: { grossMinor } }) =>
      notes[0]?.grossMinor === grossMinor,
    'credited in part': ({ creditNotes: notes, totals: { grossMinor } }) =>
      notes.some((note) => note.grossMinor < grossMinor),
    'owing the customer': ({ creditBalanceMinor = 0 }) => creditBalanceMinor > 0,
    refunded: ({ refunds = [] }) => refunds.length > 0,
    'reverse-charged construction': ({ lines, buyer }) =>
      buyer.countryCode === 'IE' &&
      lines.some((line) => line.vatExemptionReason?.includes('Principal Contractor')),
    'at two rates': ({ vatBreakdown: items }) => items.length > 1,
    'with a discount': ({ lines }) => lines.some(({ quantity }) => quantity.startsWith('-')),
  };
  for (const [name, isSo] of Object.entries(states)) t.ok(invoices.some(isSo), name);
  const methods = new Set(invoices.flatMap(({ payments = [] }) => payments.map(({ method }) => method)));
  t.equal(methods.size, 7);
});

t.test('most invoices are settled in time, and the others are chased', async (t) => {
  const due = invoices.filter(({ dueDate }) => String(dueDate) < '2026-09-01');
  const settled = due.filter((invoice) => standing(invoice).isSettled);
  const share = settled.length / due.length;
  t.ok(share > 0.65 && share < 0.9, `${settled.length} of ${due.length} are settled`);
});

t.test(
  'a quote has up to three versions, is in any state, and leads to a job, an invoice, both or neither',
  async (t) => {
    const versions = Map.groupBy(quotes, ({ quoteGroupId }) => quoteGroupId).values();
    t.strictSame(new Set([...versions].map(({ length }) => length)), new Set([1, 2, 3]));
    const states = quotes.map(({ status, validUntil }) =>
      status === 'sent' && String(validUntil) < todayText ? 'expired' : status,
    );
    const every = ['accepted', 'declined', 'draft', 'expired', 'revised', 'sent'];
    t.strictSame([...new Set(states)].sort(), every);
    const outcomes = quotes
      .filter(({ status }) => status === 'accepted')
      .map((quote) => `${quote.convertedJobId !== null} ${quote.convertedInvoiceId !== null}`);
    t.equal(new Set(outcomes).size, 4);
  },
);

function standing({ totals: { grossMinor }, payments = [], refunds = [], creditNotes: notes }: Invoice) {
  return calculateBalance({
    grossMinor,
    creditedMinor: notes.reduce((sum, note) => sum + note.grossMinor, 0),
    paidMinor: payments.reduce((sum, payment) => sum + payment.amountMinor, 0),
    refundedMinor: refunds.reduce((sum, refund) => sum + refund.amountMinor, 0),
  });
}
