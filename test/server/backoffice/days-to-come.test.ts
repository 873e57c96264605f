/** Days that can't have come yet when a change happened: the back office's clock says 20 November 2026, noon. */
import type { NewInvoice } from '../../../src/contract/feed.ts';
import { creditNoteOf, invoiceDraft, issue, issued, openIssuer, payment, refund } from './_documents.ts';
import { onEachEngine } from './_backoffice.ts';
import { irishCompany } from './_parties.ts';

onEachEngine('a payment dated 2030 is refused', async (t, testBackoffice) => {
  const company = await openIssuer(testBackoffice);
  const invoice = await issued(company, invoiceDraft());
  for (const paidOn of ['2030-01-01', '2026-11-22']) {
    t.strictSame(await company.refusal(payment(invoice, { paidOn })), {
      code: 'invalid_change',
      path: '/with/paidOn',
      message: `paidOn is ${paidOn}, which is still to come on 2026-11-20, the day of the change.`,
    });
  }
  const toldLate = { ...payment(invoice, { paidOn: '2026-11-19' }), at: '2026-11-17T09:00:00Z' };
  t.match(await company.refusal(toldLate), { path: '/with/paidOn', message: /on 2026-11-17, the day/ });
  const { payments } = await company.apply(payment(invoice, { paidOn: '2026-11-21' }));
  t.match(payments, [{ paidOn: '2026-11-21' }], 'a day ahead may be another time zone');
});

onEachEngine('a refund dated 2030 is refused', async (t, testBackoffice) => {
  const company = await openIssuer(testBackoffice);
  const invoice = await issued(company, invoiceDraft());
  await company.apply(payment(invoice));
  for (const refundedOn of ['2030-01-01', '2026-11-22']) {
    t.match(await company.refusal(refund(invoice, { refundedOn })), {
      code: 'invalid_change',
      path: '/with/refundedOn',
      message: `refundedOn is ${refundedOn}, which is still to come`,
    });
  }
  t.match(await company.apply(refund(invoice, { refundedOn: '2026-11-21' })), {
    refunds: [{ refundedOn: '2026-11-21' }],
  });
});

onEachEngine('the day of a company is that of its own time zone', async (t, testBackoffice) => {
  const company = await openIssuer(testBackoffice, {
    company: { ...irishCompany, timeZone: 'Pacific/Auckland' },
  });
  const invoice = await issued(company, invoiceDraft());
  t.ok(await company.apply(payment(invoice, { paidOn: '2026-11-22' })), 'where the 21st has begun');
  t.match(await company.refusal(payment(invoice, { paidOn: '2026-11-23' })), { code: 'invalid_change' });
});

onEachEngine('an invoice of a supply that is still to come is not issued', async (t, testBackoffice) => {
  const company = await openIssuer(testBackoffice, { customer: { currency: 'USD' } });
  const exchange = { exchangeRate: '0.9', exchangeRateDate: '2026-11-20', exchangeRateSource: 'ECB' };
  const cases: [problem: string, wrong: Partial<NewInvoice>, right: Partial<NewInvoice>][] = [
    [
      'supplyDate is on 2030-01-01, after the day of issue; a supply in advance has a supplyPeriod',
      { supplyDate: '2030-01-01' },
      { supplyDate: '2026-11-21' },
    ],
    [
      'supplyDate is on 2026-11-22, after the day of issue; a supply in advance has a supplyPeriod',
      { supplyDate: '2026-11-22' },
      { supplyDate: '2026-11-20' },
    ],
    [
      'exchangeRateDate is 2026-11-22, after the day of issue',
      { exchange: { ...exchange, exchangeRateDate: '2026-11-22' } },
      { exchange: { ...exchange, exchangeRateDate: '2026-11-21' } },
    ],
  ];
  for (const [problem, wrong, right] of cases) {
    const draft = await company.apply(invoiceDraft({ exchange, ...wrong }));
    t.strictSame(await company.refusal(issue(draft.id)), {
      code: 'incomplete_document',
      path: '/with/id',
      message: `The invoice can't be issued: its ${problem}.`,
    });
    const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma', exchange, ...wrong }));
    t.equal(proForma.status, 'issued', 'a pro forma announces what is to come');
    await company.apply({ change: 'invoice.edit', with: { id: draft.id, supplyPeriod: null, ...right } });
    t.match(await company.apply(issue(draft.id)), { status: 'issued' });
  }
});

onEachEngine(
  'a yearly contract is invoiced ahead, and credited before it begins',
  async (t, testBackoffice) => {
    const company = await openIssuer(testBackoffice);
    const supplyPeriod = { startDate: '2027-01-01', endDate: '2027-12-31' };
    const invoice = await issued(company, invoiceDraft({ supplyPeriod }));
    t.match(invoice, { issueDate: '2026-11-20', supplyPeriod, supplyDate: '2027-12-31' });
    t.match(await issued(company, creditNoteOf(invoice)), { supplyPeriod, status: 'issued' });
  },
);

onEachEngine('a day in a year that no business means is refused', async (t, testBackoffice) => {
  const company = await openIssuer(testBackoffice);
  const exchange = { exchangeRate: '0.9', exchangeRateSource: 'ECB' };
  for (const day of ['0000-01-01', '1899-12-31', '2201-01-01']) {
    const drafts: [path: string, draft: Partial<NewInvoice>][] = [
      ['supplyDate', { supplyDate: day }],
      ['dueDate', { dueDate: day }],
      ['supplyPeriod/startDate', { supplyPeriod: { startDate: day, endDate: day } }],
      ['exchange/exchangeRateDate', { exchange: { ...exchange, exchangeRateDate: day } }],
    ];
    for (const [path, draft] of drafts) {
      t.strictSame(await company.refusal(invoiceDraft(draft)), {
        code: 'invalid_change',
        path: `/with/${path}`,
        message: `/with/${path} is ${day}, and must be from 1900-01-01 to 2200-12-31.`,
      });
    }
    const quote = { change: 'quote.draft', with: { customerId: 'cus_1', title: 'Roof', validUntil: day } };
    t.match(await company.refusal(quote), { code: 'invalid_change', path: '/with/validUntil' });
    const invoice = await issued(company, invoiceDraft());
    t.match(await company.refusal(payment(invoice, { paidOn: day })), { path: '/with/paidOn' });
  }
  const draft = await company.apply(invoiceDraft({ supplyDate: '1900-01-01', dueDate: '2200-12-31' }));
  const quote = { change: 'quote.draft', with: { customerId: 'cus_1', title: 'Roof' } };
  const invoice = await issued(company, invoiceDraft());
  // Node writes years before 1000 with fewer digits, which compare as later ones.
  for (const at of ['1899-12-30T12:00:00Z', '0200-06-01T00:00:00Z', '0020-06-01T00:00:00Z'])
    for (const change of [issue(draft.id), quote, payment(invoice)])
      t.match(await company.refusal({ ...change, at }), { code: 'invalid_change', path: '/at' }, at);
});

onEachEngine('a quote isn’t accepted before the day on which it was sent', async (t, testBackoffice) => {
  const company = await openIssuer(testBackoffice);
  const { id } = await company.apply({ change: 'quote.draft', with: { customerId: 'cus_1', title: 'Roof' } });
  await company.apply({ change: 'quote.send', with: { id } });
  const early = '2026-11-19T12:00:00Z';
  for (const change of ['quote.accept', 'quote.decline'] as const) {
    t.match(await company.refusal({ change, with: { id }, at: early }), {
      code: 'invalid_change',
      path: '/at',
      message: /was sent on 2026-11-20, and can't be answered on 2026-11-19/,
    });
  }
  t.match(await company.apply({ change: 'quote.accept', with: { id } }), { status: 'accepted' });
});
