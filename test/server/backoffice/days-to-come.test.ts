/** Days that can't have come yet when a change happened: the back office's clock says 20 November 2026, noon. */
import type { NewInvoice } from '../../../src/contract/feed.ts';
import { creditNoteOf, invoiceDraft, issue, issued, openIssuer, payment, refund } from './_documents.ts';
import { edit, exchange, quoteDraft } from './_issued.ts';
import { inShort, onSqlite } from './_backoffice.ts';
import { irishCompany } from './_parties.ts';

for (const [name, record, day] of [
  ['payment', payment, 'paidOn'],
  ['refund', refund, 'refundedOn'],
] as const)
  onSqlite(`a ${name} dated 2030 is refused`, async (t, office) => {
    const company = await openIssuer(office);
    const invoice = await issued(company, invoiceDraft());
    await company.apply(payment(invoice, { paidOn: '2026-11-01' }));
    for (const given of ['2030-01-01', '2026-11-22']) {
      const message = `${day} is ${given}, which is after 2026-11-20, the day of the change.`;
      const refusal = { code: 'invalid_change', path: `/with/${day}`, message };
      t.strictSame(await company.refusal(record(invoice, { [day]: given })), refusal);
    }
    const toldLate = { ...record(invoice, { [day]: '2026-11-19' }), at: '2026-11-17T09:00:00Z' };
    t.match(await company.refusal(toldLate), { path: `/with/${day}`, message: /after 2026-11-17, the day/ });
    const after = await company.apply(record(invoice, { [day]: '2026-11-21' }));
    t.match(after[`${name}s`]?.at(-1), { [day]: '2026-11-21' }, 'a day ahead may be another time zone');
    for (const other of ['0000-01-01', '1899-12-31', '2201-01-01'])
      t.match(await company.refusal(record(invoice, { [day]: other })), { path: `/with/${day}` });
  });

onSqlite('the day of a company is that of its own time zone', async (t, office) => {
  const company = await openIssuer(office, {
    company: { ...irishCompany, timeZone: 'Pacific/Auckland' },
  });
  const invoice = await issued(company, invoiceDraft());
  t.ok(await company.apply(payment(invoice, { paidOn: '2026-11-22' })), 'where the 21st has begun');
  t.match(await company.refusal(payment(invoice, { paidOn: '2026-11-23' })), { code: 'invalid_change' });
});

onSqlite('an invoice of a supply that is still to come is not issued', async (t, office) => {
  const company = await openIssuer(office, { customer: { currency: 'USD' } });
  const supplied = 'after the day of issue; a supply in advance has a supplyPeriod';
  const ratedOn = (exchangeRateDate: string) => ({ exchange: { ...exchange, exchangeRateDate } });
  const cases: [problem: string, wrong: Partial<NewInvoice>, right: Partial<NewInvoice>][] = [
    [`supplyDate is on 2030-01-01, ${supplied}`, { supplyDate: '2030-01-01' }, { supplyDate: '2026-11-21' }],
    [`supplyDate is on 2026-11-22, ${supplied}`, { supplyDate: '2026-11-22' }, { supplyDate: '2026-11-20' }],
    ['exchangeRateDate is 2026-11-22, after the day of issue', ratedOn('2026-11-22'), ratedOn('2026-11-21')],
  ];
  for (const [problem, wrong, right] of cases) {
    const draft = await company.apply(invoiceDraft({ exchange, ...wrong }));
    const message = `The invoice can't be issued: its ${problem}.`;
    t.strictSame(await company.refusal(issue(draft.id)), {
      code: 'incomplete_document',
      path: '/with/id',
      message,
    });
    const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma', exchange, ...wrong }));
    t.equal(proForma.status, 'issued', 'a pro forma announces what is to come');
    await company.apply(edit(draft.id, { supplyPeriod: null, ...right }));
    t.match(await company.apply(issue(draft.id)), { status: 'issued' });
  }
});

onSqlite('a yearly contract is invoiced ahead, and credited before it begins', async (t, office) => {
  const company = await openIssuer(office);
  const supplyPeriod = { startDate: '2027-01-01', endDate: '2027-12-31' };
  const invoice = await issued(company, invoiceDraft({ supplyPeriod }));
  t.match(invoice, { issueDate: '2026-11-20', supplyPeriod, supplyDate: '2027-12-31' });
  t.match(await issued(company, creditNoteOf(invoice)), { supplyPeriod, status: 'issued' });
});

onSqlite('a day in a year that no business means is refused', async (t, office) => {
  const company = await openIssuer(office);
  for (const day of ['0000-01-01', '1899-12-31', '2201-01-01']) {
    const drafts: [path: string, draft: Partial<NewInvoice>][] = [
      ['supplyDate', { supplyDate: day }],
      ['dueDate', { dueDate: day }],
      ['supplyPeriod/startDate', { supplyPeriod: { startDate: day, endDate: day } }],
      ['exchange/exchangeRateDate', { exchange: { ...exchange, exchangeRateDate: day } }],
    ];
    for (const [path, draft] of drafts) {
      const message = `/with/${path} is ${day}, and must be from 1900-01-01 to 2200-12-31.`;
      const refusal = { code: 'invalid_change', path: `/with/${path}`, message };
      t.strictSame(await company.refusal(invoiceDraft(draft)), refusal);
    }
    const refusal = await company.refusal(quoteDraft({ validUntil: day }));
    t.equal(inShort(refusal), 'invalid_change /with/validUntil');
  }
  const draft = await company.apply(invoiceDraft({ supplyDate: '1900-01-01', dueDate: '2200-12-31' }));
  const invoice = await issued(company, invoiceDraft());
  await company.apply(payment(invoice));
  // Node writes years before 1000 with fewer digits, which compare as later ones.
  for (const at of ['1899-12-30T12:00:00Z', '0200-06-01T00:00:00Z', '0020-06-01T00:00:00Z'])
    for (const change of [issue(draft.id), quoteDraft(), payment(invoice), refund(invoice)])
      t.equal(inShort(await company.refusal({ ...change, at })), 'invalid_change /at', at);
});

onSqlite('a quote isn’t accepted before the day on which it was sent', async (t, office) => {
  const company = await openIssuer(office);
  const { id } = await company.apply(quoteDraft());
  await company.apply({ change: 'quote.send', with: { id } });
  const early = '2026-11-19T12:00:00Z';
  for (const change of ['quote.accept', 'quote.decline'] as const) {
    const message = /was sent on 2026-11-20, and can't be answered on 2026-11-19/;
    const refusal = { code: 'invalid_change', path: '/at', message };
    t.match(await company.refusal({ change, with: { id }, at: early }), refusal);
  }
  t.match(await company.apply({ change: 'quote.accept', with: { id } }), { status: 'accepted' });
});
