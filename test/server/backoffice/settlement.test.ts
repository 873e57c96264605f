import type { Invoice } from '../../../src/contract/records.ts';
import {
  credit,
  creditNoteOf,
  documentOf,
  invoiceDraft,
  issue,
  issued,
  line,
  openIssuer,
  payment,
  refund,
} from './_documents.ts';
import { balanceOf, kindsOf, start, voided } from './_issued.ts';
import { inShort, onEachEngine, onSqlite, type TestCompany } from './_backoffice.ts';
import { irishCompany } from './_parties.ts';

/**
 * Actions on an invoice of 123.00, in cents. `pay a 300` and `refund r 700` record, `void a` and `unrefund r` take back, and
 * `credit 5000` is a credit note of so much net, to which 23 % VAT come. `=> a` means that the invoice is settled, by `a`.
 */
type Sequence = readonly [name: string, actions: string, left?: [due: number, credit: number]];

const sequences: Sequence[] = [
  ['one payment', 'pay a 12300 => a'],
  ['several payments, of which the last settles', 'pay a 300, pay b 5000, pay c 7000 => c'],
  [
    'a payment that is voided, and another that settles again',
    'pay a 12300 => a, void a, pay b 12300 => b, void b, pay c 12299, pay d 1 => d',
  ],
  ['too large a payment, whose excess is refunded', 'pay a 20000, refund r 700, refund s 7000 => a'],
  [
    'one payment too many, which is voided',
    'pay a 12300 => a, pay b 12300, void b => a, pay c 12300, void a => c',
  ],
  [
    'a refund, which is voided',
    'pay a 12300 => a, refund r 12300, unrefund r => a, refund s 1, pay b 1 => b',
  ],
  ['a credit note that takes the rest away', 'pay a 1000, pay b 5150, credit 5000 => b'],
  ['a payment after a credit note', 'credit 5000, pay a 6150 => a'],
  ['a credit note after the payment, refunded', 'pay a 12300 => a, credit 5000, refund r 6150 => a'],
  ['a credit note of the whole, without any payment', 'credit 10000'],
  ['a credit note, and all the money refunded', 'pay a 12300 => a, credit 10000, refund r 12300'],
  ['a credit note of more than the rest', 'pay a 10000, credit 10000', [0, 10_000]],
  ['a payment voided after its refund', 'pay a 12300 => a, refund r 12300, void a', [24_600, 0]],
];

/** Does one thing, and gives the events that it sent. */
async function done(company: TestCompany, invoice: Invoice, action: string) {
  const before = (await company.events()).length;
  const [verb, id = '', amount = id] = action.split(' ');
  const amountMinor = Number(amount);
  if (verb === 'pay') await company.apply(payment(invoice, { id, amountMinor }));
  else if (verb === 'refund') await company.apply(refund(invoice, { id, amountMinor }));
  else if (verb === 'void') await company.apply(voided('payment', invoice, id));
  else if (verb === 'unrefund') await company.apply(voided('refund', invoice, id));
  else await credit(company, invoice, [line({ unitPriceMinor: amountMinor })]);
  return (await company.events()).slice(before);
}

const ownEvents: Record<string, string[]> = { pay: ['payment.recorded'], credit: ['credit_note.issued'] };

onEachEngine('an invoice is settled by', async (t, office) => {
  for (const [name, actions, left = [0, 0]] of sequences) {
    await t.test(name, async (t) => {
      const company = await openIssuer(office);
      const invoice = await issued(company, invoiceDraft());
      for (const step of actions.split(', ')) {
        const [action = '', paidBy] = step.split(' => ');
        const events = await done(company, invoice, action);
        const own = ownEvents[action.split(' ')[0] ?? ''] ?? [];
        const kinds = events.map(({ kind }) => kind);
        t.strictSame(kinds, [...own, ...(paidBy === undefined ? [] : ['invoice.paid'])], step);
        if (paidBy === undefined) continue;
        const { payments = [], creditNotes, updatedAt } = await documentOf(company, invoice.id);
        t.strictSame(events.at(-1)?.data, {
          ...{ invoiceId: invoice.id, invoiceNumber: 'INV-2026-0001', currency: 'EUR', grossMinor: 12_300 },
          totalPaidMinor: payments.reduce((total, { amountMinor }) => total + amountMinor, 0),
          creditedMinor: creditNotes.reduce((total, { grossMinor }) => total + grossMinor, 0),
          paidOn: '2026-11-20',
          paymentId: paidBy,
          customer: invoice.customer,
          links: { invoice: `/api/v1/invoices/${invoice.id}` },
        });
        t.equal(events.at(-1)?.createdAt, updatedAt);
      }
      t.strictSame(await balanceOf(company, invoice), left);
    });
  }
});

onEachEngine('an invoice of nothing', async (t, office) => {
  const company = await openIssuer(office);
  const invoice = await issued(company, invoiceDraft({ lines: [line({ quantity: '0' })] }));
  t.match(invoice, { amountDueMinor: 0, creditBalanceMinor: 0 });
  await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 100 }));
  await company.apply(voided('payment', invoice, 'pay_1'));
  t.strictSame(await kindsOf(company), ['invoice.issued', 'payment.recorded'], 'is never settled');
});

onSqlite('a payment', async (t, office) => {
  await t.test('is shown by its invoice, and told with what is still due', async (t) => {
    const { company, invoice } = await start(office, [line()]);
    const [id, given] = ['pay_1', { amountMinor: 2300, paidOn: '2026-11-18', method: 'cheque' }];
    const after = await company.apply(payment(invoice, { id, ...given }));
    const { updatedAt } = after;
    const payments = [{ id, currency: 'EUR', ...given }];
    t.strictSame(after, { ...invoice, payments, amountDueMinor: 10_000, updatedAt });
    t.ok(after.updatedAt > invoice.updatedAt);
    t.strictSame((await company.events()).at(-1)?.data, {
      ...{ invoiceId: invoice.id, invoiceNumber: 'INV-2026-0001', paymentId: id, ...given },
      ...{ currency: 'EUR', amountDueMinor: 10_000 },
      customer: { id: 'cus_1', type: 'customer', name: 'Harbour View Hotel' },
      links: { invoice: `/api/v1/invoices/${invoice.id}` },
    });
  });

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
