import type { DraftLine } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import {
  credit,
  creditNoteOf,
  documentOf,
  invoiceDraft,
  issue,
  issued,
  line,
  lineIn,
  openIssuer,
  payment,
  start,
} from './_documents.ts';
import { onEachEngine } from './_backoffice.ts';
import { customerIn, irishCompany } from './_parties.ts';

const reduced = (given: Partial<DraftLine> = {}) => line({ vatRateBasisPoints: 1350, ...given });
onEachEngine('a credit note', async (t, testBackoffice) => {
  await t.test('takes from its invoice what it doesn’t give, and isn’t due', async (t) => {
    const site = {
      id: 'site_1',
      label: 'Yard',
      addressLines: [],
      countryCode: 'IE',
      postcode: null,
      geo: null,
    };
    const company = await openIssuer(testBackoffice, { customer: { sites: [site] } });
    const supplyPeriod = { startDate: '2026-10-01', endDate: '2026-10-31' };
    const references = { buyerReference: 'Kitchen', purchaseOrderReference: '4500012' };
    const invoice = await issued(company, invoiceDraft({ siteId: 'site_1', supplyPeriod, ...references }));
    const taken = {
      ...references,
      siteId: 'site_1',
      supplyPeriod,
      supplyDate: '2026-10-31',
      currency: 'EUR',
    };
    const creditedInvoice = {
      id: invoice.id,
      number: 'INV-2026-0001',
      status: 'issued',
      issueDate: '2026-11-20',
      grossMinor: 12_300,
    };
    const note = await company.apply(creditNoteOf(invoice));
    t.match(note, {
      kind: 'credit_note',
      creditsInvoiceId: invoice.id,
      creditedInvoice,
      paymentTermsDays: 0,
      ...taken,
    });
    t.equal(note.dueDate, null);
    const other = await company.apply(creditNoteOf(invoice, { siteId: null, supplyDate: '2026-10-05' }));
    t.match(other, { siteId: null, supplyDate: '2026-10-05', supplyPeriod: null, buyerReference: 'Kitchen' });
  });

  await t.test('is shown by its invoice once it is issued, in the order of the ids', async (t) => {
    const { company, invoice } = await start(testBackoffice, [line()]);
    const ids = [3, 1, 2].map((count) => `00000000-0000-7000-8000-00000000000${count}`);
    for (const id of ids)
      await company.apply(creditNoteOf(invoice, { id, lines: [line({ unitPriceMinor: 100 })] }));
    t.strictSame(await documentOf(company, invoice.id), invoice, 'a draft changes nothing of it');
    for (const id of ids) await company.apply(issue(id));
    const after = await documentOf(company, invoice.id);
    t.strictSame(
      after.creditNotes.map(({ id, number, status, issueDate, grossMinor }) => [
        id,
        number,
        status,
        issueDate,
        grossMinor,
      ]),
      ids.toSorted().map((id) => [id, `CN-2026-000${ids.indexOf(id) + 1}`, 'issued', '2026-11-20', 123]),
    );
    t.match(after, { amountDueMinor: 12_300 - 369, creditBalanceMinor: 0, totals: invoice.totals });
    t.ok(
      after.updatedAt > (await documentOf(company, ids[2] ?? '')).updatedAt,
      'it changed with the last of them',
    );
  });

  await t.test('in a foreign currency has the rate of its invoice', async (t) => {
    const exchange = { exchangeRate: '0.8517', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' };
    const company = await openIssuer(testBackoffice, { customer: { currency: 'USD' } });
    const invoice = await issued(company, invoiceDraft({ exchange }));
    testBackoffice.setNow('2026-12-20T12:00:00.000Z');
    const note = await credit(company, invoice, [line({ unitPriceMinor: 3333 })]);
    t.match(note.accountingCurrency, {
      currency: 'EUR',
      ...exchange,
      totals: { netMinor: 2839, vatMinor: 653, grossMinor: 3492 },
    });
    testBackoffice.setNow('2026-11-20T12:00:00.000Z');
    t.match(await company.refusal(creditNoteOf(invoice, { exchange, lines: [] })), {
      code: 'invalid_change',
      path: '/with/exchange',
    });
  });
});

onEachEngine('a credit note is held to its invoice', async (t, testBackoffice) => {
  const lines = [line(), line(), reduced({ unitPriceMinor: 5000 }), lineIn('Z', { unitPriceMinor: 2000 })];
  const excesses: [what: string, lines: DraftLine[], named: RegExp][] = [
    [
      'a cent too much at one rate',
      [line({ unitPriceMinor: 20_001 })],
      /takes 20001 net in category S at 2300 .* 20000/,
    ],
    [
      'a cent at another rate',
      [line({ vatRateBasisPoints: 900, unitPriceMinor: 1 })],
      /category S at 900 .* 0 is left/,
    ],
    ['a cent in another category', [lineIn('E', { unitPriceMinor: 1 })], /category E at 0 .* 0 is left/],
    [
      'what another rate has left',
      [reduced({ unitPriceMinor: 5001 })],
      /5001 net in category S at 1350 .* 5000/,
    ],
    ['less than nothing', [line({ quantity: '-1' })], /takes -10000 net in category S at 2300/],
    ['too much in one of several', [line(), lineIn('Z', { unitPriceMinor: 2001 })], /2001 net in category Z/],
  ];
  for (const [what, excess, named] of excesses) {
    await t.test(`and takes no more than it: ${what}`, async (t) => {
      const { company, invoice } = await start(testBackoffice, lines);
      const { code, path, message } = await company.refusal(creditNoteOf(invoice, { lines: excess }));
      t.strictSame([code, path], ['exceeds_invoice', '/with/lines']);
      t.match(message, named);
    });
  }

  await t.test('and may take all of it, once', async (t) => {
    const { company, invoice } = await start(testBackoffice, lines);
    const note = await credit(company, invoice, lines);
    t.strictSame([note.totals, note.vatBreakdown], [invoice.totals, invoice.vatBreakdown]);
    t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
    for (const more of [
      line({ unitPriceMinor: 1 }),
      reduced({ unitPriceMinor: 1 }),
      lineIn('Z', { unitPriceMinor: 1 }),
    ]) {
      t.match(await company.refusal(creditNoteOf(invoice, { lines: [more] })), { code: 'exceeds_invoice' });
    }
  });

  await t.test('together with those that were issued before', async (t) => {
    const { company, invoice } = await start(testBackoffice, lines);
    for (const unitPriceMinor of [7000, 12_999]) await credit(company, invoice, [line({ unitPriceMinor })]);
    const rest = (unitPriceMinor: number) => creditNoteOf(invoice, { lines: [line({ unitPriceMinor })] });
    t.match(await company.refusal(rest(2)), { code: 'exceeds_invoice', message: /takes 2 net .* 1 is left/ });
    await company.apply(rest(1));
  });

  await t.test('when it is issued too, because drafts take nothing', async (t) => {
    const { company, invoice } = await start(testBackoffice, lines);
    const first = await company.apply(creditNoteOf(invoice, { lines: [line({ quantity: '2' })] }));
    const second = await company.apply(creditNoteOf(invoice, { lines: [line({ quantity: '2' })] }));
    await company.apply(issue(second.id));
    t.match(await company.refusal(issue(first.id)), { code: 'exceeds_invoice', path: '/with/id' });
    const edit = { change: 'invoice.edit', with: { id: first.id, lines: [line({ unitPriceMinor: 1 })] } };
    t.match(await company.refusal(edit), { code: 'exceeds_invoice', path: '/with/lines' });
    const smaller = { id: first.id, lines: [reduced({ unitPriceMinor: 5000 })] };
    await company.apply({ change: 'invoice.edit', with: smaller });
    t.match(await company.apply(issue(first.id)), { number: 'CN-2026-0002' });
  });
});

onEachEngine('a credit note names', async (t, testBackoffice) => {
  const { company, invoice } = await start(testBackoffice, [line()]);
  await company.apply({
    change: 'customer.save',
    with: { id: 'cus_2', name: 'Another', paymentTermsDays: 30, ...customerIn('IE', 'EUR') },
  });
  const { company: other, invoice: theirs } = await start(testBackoffice, [line()]);
  t.not(other.id, company.id);
  const draft = await company.apply(invoiceDraft());
  const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma' }));
  const note = await credit(company, invoice, [line({ unitPriceMinor: 1 })]);
  const of = (id: string) => creditNoteOf({ ...invoice, id });
  const unnamed = { kind: 'credit_note', customerId: 'cus_1', note: 'Returned.', lines: [line()] };
  const refused: [what: string, code: string, path: string, change: object][] = [
    ['an invoice', 'invalid_change', '/with/creditsInvoiceId', { change: 'invoice.draft', with: unnamed }],
    ['what is issued', 'wrong_state', '/with/creditsInvoiceId', of(draft.id)],
    ['no pro forma', 'wrong_state', '/with/creditsInvoiceId', of(proForma.id)],
    ['no credit note', 'wrong_state', '/with/creditsInvoiceId', of(note.id)],
    ['an invoice of its own company', 'unknown_record', '/with/creditsInvoiceId', of(theirs.id)],
    [
      'an invoice of its customer',
      'invalid_change',
      '/with/customerId',
      creditNoteOf(invoice, { customerId: 'cus_2' }),
    ],
    [
      'an invoice in its currency',
      'wrong_currency',
      '/with/currency',
      creditNoteOf(invoice, { currency: 'GBP' }),
    ],
    ['no due day', 'invalid_change', '/with/dueDate', creditNoteOf(invoice, { dueDate: '2026-12-01' })],
    [
      'an invoice alone, which an invoice doesn’t',
      'invalid_change',
      '/with/creditsInvoiceId',
      invoiceDraft({ creditsInvoiceId: invoice.id }),
    ],
  ];
  for (const [what, code, path, change] of refused) {
    await t.test(what, async (t) => {
      t.match(await company.refusal(change), { code, path });
    });
  }
});

onEachEngine('an invoice holds a thousand', async (t, testBackoffice) => {
  const { engine } = testBackoffice;
  const company = await openIssuer(testBackoffice, { company: irishCompany });
  const fill = async (id: string, given: Partial<Invoice>) => {
    const {
      note,
      buyer,
      lines,
      creditNotes,
      creditedInvoice,
      payments,
      amountDueMinor,
      refunds,
      creditBalanceMinor,
    } = await documentOf(company, id);
    const details = { note, buyer, lines, creditNotes, creditedInvoice, payments, amountDueMinor, refunds };
    const detail = JSON.stringify({ ...details, creditBalanceMinor, ...given });
    await engine.transaction((transaction) =>
      transaction
        .updateTable('invoices')
        .set({ detail })
        .where('company', '=', company.id)
        .where('id', '=', id)
        .execute(),
    );
  };
  const many = <T>(make: (index: number) => T) => Array.from({ length: 999 }, (_, index) => make(index));
  const limit = { code: 'limit_reached' };

  await t.test('payments that aren’t voided', async (t) => {
    const invoice = await issued(company, invoiceDraft());
    const one = { amountMinor: 1, currency: 'EUR', paidOn: '2026-11-20', method: 'card' };
    await fill(invoice.id, {
      payments: many((index) => ({ id: `pay_${index}`, ...one })),
      amountDueMinor: 11_301,
    });
    await company.apply(payment(invoice, { id: 'last', amountMinor: 1 }));
    t.match(await company.refusal(payment(invoice, { amountMinor: 1 })), {
      ...limit,
      path: '/with/invoiceId',
    });
    await company.apply({ change: 'payment.void', with: { invoiceId: invoice.id, id: 'pay_7' } });
    const { payments } = await company.apply(payment(invoice, { amountMinor: 1 }));
    t.equal(payments?.length, 1000);
  });

  await t.test('credit notes', async (t) => {
    const invoice = await issued(company, invoiceDraft());
    const one = { status: 'issued', issueDate: '2026-11-20', grossMinor: 1 } as const;
    const idOf = (index: number) => `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    await fill(invoice.id, {
      creditNotes: many((index) => ({ id: idOf(index), number: `CN-${index}`, ...one })),
    });
    await credit(company, invoice, [line({ unitPriceMinor: 1 })]);
    const draft = await company.apply(creditNoteOf(invoice, { lines: [line({ unitPriceMinor: 1 })] }));
    t.match(await company.refusal(issue(draft.id)), { ...limit, path: '/with/id' });
  });
});
