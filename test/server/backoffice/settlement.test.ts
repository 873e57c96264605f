import {
  credit,
  creditNoteOf,
  invoiceDraft,
  issue,
  issued,
  line,
  openIssuer,
  payment,
  refund,
} from './_documents.ts';
import { balanceOf, kindsOf, start, voided } from './_issued.ts';
import { inShort, onEachEngine, onSqlite } from './_backoffice.ts';
import { irishCompany } from './_parties.ts';

/* The model says what payments, refunds and credit notes come to, and which of them settles (test/model). */

onEachEngine('an invoice of nothing', async (t, office) => {
  const company = await openIssuer(office);
  const invoice = await issued(company, invoiceDraft({ lines: [line({ quantity: '0' })] }));
  t.match(invoice, { amountDueMinor: 0, creditBalanceMinor: 0 });
  await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 100 }));
  await company.apply(voided('payment', invoice, 'pay_1'));
  t.strictSame(await kindsOf(company), ['invoice.issued', 'payment.recorded'], 'is never settled');
});

onSqlite('a payment', async (t, office) => {
  await t.test('or a refund has an id of its own unless given, and the day of the change', async (t) => {
    const { company, invoice } = await start(office, [line()]);
    const at = '2026-11-12T10:00:00Z';
    await company.apply({ ...payment(invoice, { amountMinor: 2 }), at });
    await company.apply(payment(invoice, { amountMinor: 2 }));
    await company.apply({ ...refund(invoice, { amountMinor: 1 }), at });
    const { payments, refunds } = await company.apply(refund(invoice, { amountMinor: 1 }));
    t.match(payments, [{ paidOn: '2026-11-12' }, { paidOn: '2026-11-20' }]);
    t.match(refunds, [{ refundedOn: '2026-11-12' }, { refundedOn: '2026-11-20' }]);
    const ids = [payments, refunds].flatMap((all = []) => all.map(({ id }) => id));
    t.match(ids, [/^pay_[0-9a-f-]{36}$/, /^pay_/, /^ref_[0-9a-f-]{36}$/, /^ref_/]);
    t.equal(new Set(ids).size, 4);
  });

  await t.test('may have the id of a payment of another invoice, and of a refund', async (t) => {
    const { company, invoice } = await start(office, [line()]);
    const other = await issued(company, invoiceDraft());
    await company.apply(payment(invoice, { id: 'one' }));
    await company.apply(payment(other, { id: 'one' }));
    t.match(await company.apply(refund(invoice, { id: 'one' })), { refunds: [{ id: 'one' }] });
  });

  await t.test('of a company elsewhere is of that company’s day, and so is the settlement', async (t) => {
    const company = await openIssuer(office, {
      company: { ...irishCompany, timeZone: 'Pacific/Auckland' },
    });
    const invoice = await issued(company, invoiceDraft());
    t.equal(invoice.issueDate, '2026-11-21');
    await company.apply(payment(invoice, { id: 'pay_1', paidOn: '2026-11-19' }));
    t.match((await company.events()).slice(-2), [
      { kind: 'payment.recorded', data: { paidOn: '2026-11-19' } },
      { kind: 'invoice.paid', data: { paidOn: '2026-11-21' } },
    ]);
    await company.apply(voided('payment', invoice, 'pay_1'));
    await company.apply({ ...payment(invoice), at: '2026-11-20T10:59:59.999Z' });
    t.match((await company.events()).slice(-2), [
      { kind: 'payment.recorded', data: { paidOn: '2026-11-20' } },
      { kind: 'invoice.paid', data: { paidOn: '2026-11-20' } },
    ]);
  });

  await t.test('or a refund is refused where it can’t be', async (t) => {
    const { company, invoice } = await start(office, [line()]);
    const draft = await company.apply(invoiceDraft());
    const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma' }));
    const { invoice: theirs } = await start(office, [line()]);
    for (const [id, amountMinor] of Object.entries({ one: 1000, two: 500 }))
      await company.apply(payment(invoice, { id, amountMinor }));
    for (const [id, amountMinor] of Object.entries({ ref: 400, old: 100 }))
      await company.apply(refund(invoice, { id, amountMinor }));
    await company.apply(voided('payment', invoice, 'two'));
    await company.apply(voided('refund', invoice, 'old'));
    const note = await credit(company, invoice, [line({ unitPriceMinor: 1 })]);
    const amountMinor = 1;
    for (const [of, record, [shown, old, unknown]] of [
      ['payment', payment, ['one', 'two', 'ref']],
      ['refund', refund, ['ref', 'old', 'two']],
    ] as const) {
      const refused: [refusal: string, change: object][] = [
        ...[draft, proForma, note].flatMap((other): [string, object][] => [
          ['wrong_state /with/invoiceId', record(other, { amountMinor })],
          ['wrong_state /with/invoiceId', voided(of, other, shown)],
        ]),
        ['unknown_record /with/invoiceId', record(theirs, { amountMinor })],
        ['unknown_record /with/invoiceId', voided(of, theirs, shown)],
        ['wrong_currency /with/currency', record(invoice, { amountMinor, currency: 'USD' })],
        ['duplicate_id /with/id', record(invoice, { amountMinor, id: shown })],
        ['duplicate_id /with/id', record(invoice, { amountMinor, id: old })],
        ['wrong_state /with/id', voided(of, invoice, old)],
        ['unknown_record /with/id', voided(of, invoice, unknown)],
      ];
      for (const [refusal, change] of refused)
        t.equal(inShort(await company.refusal(change)), refusal, JSON.stringify(change));
    }
    const endless = await company.refusal(payment(invoice, { amountMinor: Number.MAX_SAFE_INTEGER }));
    t.equal(inShort(endless), 'amount_out_of_range /with/amountMinor');
    const tooMuch = await company.refusal(refund(invoice, { amountMinor: 601 }));
    t.equal(inShort(tooMuch), 'exceeds_payments /with/amountMinor');
    const { refunds } = await company.apply(refund(invoice, { amountMinor: 600 }));
    t.equal(refunds?.length, 2, 'all that was received');
  });
});

onEachEngine('amounts as large as a number can hold', async (t, office) => {
  const company = await openIssuer(office);
  const most = Number.MAX_SAFE_INTEGER;
  const lines = [line({ unitPriceMinor: most, vatCategory: 'Z', vatRateBasisPoints: 0 })];
  const invoice = await issued(company, invoiceDraft({ lines }));
  await company.apply(payment(invoice, { id: 'pay_1', amountMinor: most - 1 }));
  const paid = await company.apply(payment(invoice, { amountMinor: 1 }));
  t.match(paid, { amountDueMinor: 0, creditBalanceMinor: 0 });
  t.match((await company.events()).at(-1), { kind: 'invoice.paid', data: { totalPaidMinor: most } });
  t.match(await company.refusal(payment(invoice, { amountMinor: 1 })), { code: 'amount_out_of_range' });
  await company.apply(refund(invoice, { amountMinor: most }));
  const refusal = inShort(await company.refusal(voided('payment', invoice, 'pay_1')));
  t.equal(refusal, 'amount_out_of_range /with/id');
  const note = await company.apply(creditNoteOf(invoice, { lines }));
  t.match(await company.apply(issue(note.id)), { totals: { grossMinor: most } });
  t.strictSame(await balanceOf(company, invoice), [0, 0]);
});
