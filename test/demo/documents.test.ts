/** The moves hold every document to the law and to its invoice (test/model); here it is about what a company shows. */
import t from 'tap';

import type { Invoice } from '../../src/contract/records.ts';
import { balance } from '../../src/contract/vat.ts';
import { generatedCompany, todayText } from './_company.ts';

const { invoices: documents, quotes } = (await generatedCompany()).company;
const issued = documents.filter(({ status }) => status === 'issued');
const invoices = issued.filter(({ kind }) => kind === 'invoice');

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
  'a quote has up to three versions, is in each of the six states, and leads to a job, an invoice, both or neither',
  async (t) => {
    const versions = Map.groupBy(quotes, ({ quoteGroupId }) => quoteGroupId).values();
    t.strictSame(new Set([...versions].map(({ length }) => length)), new Set([1, 2, 3]));
    const states = quotes.map(({ status, validUntil }) =>
      status === 'sent' && String(validUntil) < todayText ? 'expired' : status,
    );
    t.strictSame([...new Set(states)].sort(), [
      'accepted',
      'declined',
      'draft',
      'expired',
      'revised',
      'sent',
    ]);
    const outcomes = quotes
      .filter(({ status }) => status === 'accepted')
      .map((quote) => `${quote.convertedJobId !== null} ${quote.convertedInvoiceId !== null}`);
    t.equal(new Set(outcomes).size, 4);
  },
);

function standing({ totals: { grossMinor }, payments = [], refunds = [], creditNotes: notes }: Invoice) {
  return balance({
    grossMinor,
    creditedMinor: notes.reduce((sum, note) => sum + note.grossMinor, 0),
    paidMinor: payments.reduce((sum, payment) => sum + payment.amountMinor, 0),
    refundedMinor: refunds.reduce((sum, refund) => sum + refund.amountMinor, 0),
  });
}
