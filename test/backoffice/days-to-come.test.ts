/** Days that can't have come yet when a change happened: the office's clock says 20 November 2026, noon. */
import type { NewInvoice } from '../../src/contract/feed.ts';
import { invoiceDraft, issue, issued, openIssuer, payment, refund } from './_documents.ts';
import { onEachEngine } from './_office.ts';
import { irishCompany } from './_vat-situations.ts';

onEachEngine('a payment dated 2030 is refused', async (t, testOffice) => {
  const company = await openIssuer(testOffice);
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

onEachEngine('a refund dated 2030 is refused', async (t, testOffice) => {
  const company = await openIssuer(testOffice);
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

onEachEngine('the day of a company is that of its own time zone', async (t, testOffice) => {
  const company = await openIssuer(testOffice, {
    company: { ...irishCompany, timeZone: 'Pacific/Auckland' },
  });
  const invoice = await issued(company, invoiceDraft());
  t.ok(await company.apply(payment(invoice, { paidOn: '2026-11-22' })), 'where the 21st has begun');
  t.match(await company.refusal(payment(invoice, { paidOn: '2026-11-23' })), { code: 'invalid_change' });
});

onEachEngine('an invoice of a supply that is still to come is not issued', async (t, testOffice) => {
  const company = await openIssuer(testOffice, { customer: { currency: 'USD' } });
  const exchange = { exchangeRate: '0.9', exchangeRateDate: '2026-11-20', exchangeRateSource: 'ECB' };
  const period = (startDate: string, endDate: string) => ({ supplyPeriod: { startDate, endDate } });
  const cases: [problem: string, wrong: Partial<NewInvoice>, right: Partial<NewInvoice>][] = [
    ['supplyDate is on 2030-01-01', { supplyDate: '2030-01-01' }, { supplyDate: '2026-11-21' }],
    ['supplyDate is on 2026-11-22', { supplyDate: '2026-11-22' }, { supplyDate: '2026-11-20' }],
    [
      'supplyPeriod begins on 2026-11-22',
      period('2026-11-22', '2027-11-21'),
      // A contract is invoiced once its period has begun.
      period('2026-11-21', '2027-11-20'),
    ],
    [
      'exchangeRateDate is 2026-11-22',
      { exchange: { ...exchange, exchangeRateDate: '2026-11-22' } },
      { exchange: { ...exchange, exchangeRateDate: '2026-11-21' } },
    ],
  ];
  for (const [problem, wrong, right] of cases) {
    const draft = await company.apply(invoiceDraft({ exchange, ...wrong }));
    t.strictSame(await company.refusal(issue(draft.id)), {
      code: 'incomplete_document',
      path: '/with/id',
      message: `The invoice can't be issued: its ${problem}, after the day of issue.`,
    });
    const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma', exchange, ...wrong }));
    t.equal(proForma.status, 'issued', 'a pro forma announces what is to come');
    await company.apply({ change: 'invoice.edit', with: { id: draft.id, supplyPeriod: null, ...right } });
    t.match(await company.apply(issue(draft.id)), { status: 'issued' });
  }
});
