import type { NewInvoice } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import {
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
import { type Given, onEachEngine, type TestCompany, type TestBackoffice } from './_backoffice.ts';
import { customerIn, irishCompany, northernIrishCompany } from './_vat-situations.ts';

/** An action on an invoice of 123.00; amounts are in cents. */
type Action =
  | { pay: number; id: string }
  | { refund: number; id: string }
  | { voidPayment: string }
  | { voidRefund: string }
  /** A credit note of so much net, to which 23 % VAT come. */
  | { credit: number };

/** Actions on the invoice, each with the payment that invoice.paid names when the action settles. */
interface Sequence {
  name: string;
  actions: [action: Action, paidBy: string | null][];
  /** The amounts that are due and owed back at the end. */
  left: [due: number, credit: number];
}

const sequences: Sequence[] = [
  { name: 'one payment', actions: [[{ pay: 12_300, id: 'a' }, 'a']], left: [0, 0] },
  {
    name: 'several payments, of which the last settles',
    actions: [
      [{ pay: 300, id: 'a' }, null],
      [{ pay: 5000, id: 'b' }, null],
      [{ pay: 7000, id: 'c' }, 'c'],
    ],
    left: [0, 0],
  },
  {
    name: 'a payment that is voided, and another that settles again',
    actions: [
      [{ pay: 12_300, id: 'a' }, 'a'],
      [{ voidPayment: 'a' }, null],
      [{ pay: 12_300, id: 'b' }, 'b'],
      [{ voidPayment: 'b' }, null],
      [{ pay: 12_299, id: 'c' }, null],
      [{ pay: 1, id: 'd' }, 'd'],
    ],
    left: [0, 0],
  },
  {
    name: 'too large a payment, whose excess is refunded',
    actions: [
      [{ pay: 20_000, id: 'a' }, null],
      [{ refund: 700, id: 'r' }, null],
      [{ refund: 7000, id: 's' }, 'a'],
    ],
    left: [0, 0],
  },
  {
    name: 'one payment too many, which is voided',
    actions: [
      [{ pay: 12_300, id: 'a' }, 'a'],
      [{ pay: 12_300, id: 'b' }, null],
      [{ voidPayment: 'b' }, 'a'],
      [{ pay: 12_300, id: 'c' }, null],
      [{ voidPayment: 'a' }, 'c'],
    ],
    left: [0, 0],
  },
  {
    name: 'a refund, which is voided',
    actions: [
      [{ pay: 12_300, id: 'a' }, 'a'],
      [{ refund: 12_300, id: 'r' }, null],
      [{ voidRefund: 'r' }, 'a'],
      [{ refund: 1, id: 's' }, null],
      [{ pay: 1, id: 'b' }, 'b'],
    ],
    left: [0, 0],
  },
  {
    name: 'a credit note that takes the rest away',
    actions: [
      [{ pay: 1000, id: 'a' }, null],
      [{ pay: 5150, id: 'b' }, null],
      [{ credit: 5000 }, 'b'],
    ],
    left: [0, 0],
  },
  {
    name: 'a payment after a credit note',
    actions: [
      [{ credit: 5000 }, null],
      [{ pay: 6150, id: 'a' }, 'a'],
    ],
    left: [0, 0],
  },
  {
    name: 'a credit note after the payment, whose amount is refunded',
    actions: [
      [{ pay: 12_300, id: 'a' }, 'a'],
      [{ credit: 5000 }, null],
      [{ refund: 6150, id: 'r' }, 'a'],
    ],
    left: [0, 0],
  },
  {
    name: 'a credit note of the whole, without any payment',
    actions: [[{ credit: 10_000 }, null]],
    left: [0, 0],
  },
  {
    name: 'a credit note of the whole, and all the money refunded: none was kept',
    actions: [
      [{ pay: 12_300, id: 'a' }, 'a'],
      [{ credit: 10_000 }, null],
      [{ refund: 12_300, id: 'r' }, null],
    ],
    left: [0, 0],
  },
  {
    name: 'a credit note of more than the rest',
    actions: [
      [{ pay: 10_000, id: 'a' }, null],
      [{ credit: 10_000 }, null],
    ],
    left: [0, 10_000],
  },
  {
    name: 'a payment that is voided after it was refunded',
    actions: [
      [{ pay: 12_300, id: 'a' }, 'a'],
      [{ refund: 12_300, id: 'r' }, null],
      [{ voidPayment: 'a' }, null],
    ],
    left: [24_600, 0],
  },
];

const isCredit = (action: Action): action is { credit: number } => 'credit' in action;

function changeOf(action: Exclude<Action, { credit: number }>, invoice: Invoice): Given {
  const { id: invoiceId } = invoice;
  if ('pay' in action) return payment(invoice, { id: action.id, amountMinor: action.pay });
  if ('refund' in action) return refund(invoice, { id: action.id, amountMinor: action.refund });
  if ('voidPayment' in action) return { change: 'payment.void', with: { invoiceId, id: action.voidPayment } };
  return { change: 'refund.void', with: { invoiceId, id: action.voidRefund } };
}

/** Does one thing, and gives the events that it sent. */
async function done(company: TestCompany, invoice: Invoice, action: Action) {
  const before = (await company.events()).length;
  if (isCredit(action)) {
    await issued(company, creditNoteOf(invoice, { lines: [line({ unitPriceMinor: action.credit })] }));
  } else {
    await company.apply(changeOf(action, invoice));
  }
  return (await company.events()).slice(before);
}

onEachEngine('an invoice is settled by', async (t, testBackoffice) => {
  for (const { name, actions, left } of sequences) {
    await t.test(name, async (t) => {
      const company = await openIssuer(testBackoffice);
      const invoice = await issued(company, invoiceDraft());
      for (const [index, [action, paidBy]] of actions.entries()) {
        const step = `${index + 1}: ${JSON.stringify(action)}`;
        const events = await done(company, invoice, action);
        const own = 'pay' in action ? ['payment.recorded'] : isCredit(action) ? ['credit_note.issued'] : [];
        t.strictSame(
          events.map(({ kind }) => kind),
          [...own, ...(paidBy === null ? [] : ['invoice.paid'])],
          step,
        );
        const now = await documentOf(company, invoice.id);
        const sum = (list: readonly { amountMinor: number }[] = []) =>
          list.reduce((total, { amountMinor }) => total + amountMinor, 0);
        const credited = now.creditNotes.reduce((total, { grossMinor }) => total + grossMinor, 0);
        if (paidBy === null) continue;
        t.strictSame(events.at(-1)?.data, {
          invoiceId: invoice.id,
          invoiceNumber: 'INV-2026-0001',
          currency: 'EUR',
          grossMinor: 12_300,
          totalPaidMinor: sum(now.payments),
          creditedMinor: credited,
          paidOn: '2026-11-20',
          paymentId: paidBy,
          customer: invoice.customer,
          links: { invoice: `/api/v1/invoices/${invoice.id}` },
        });
        t.equal(events.at(-1)?.createdAt, now.updatedAt);
      }
      const { amountDueMinor, creditBalanceMinor } = await documentOf(company, invoice.id);
      t.strictSame([amountDueMinor, creditBalanceMinor], left);
    });
  }
});

onEachEngine('an invoice of nothing', async (t, testBackoffice) => {
  const company = await openIssuer(testBackoffice);
  const invoice = await issued(company, invoiceDraft({ lines: [line({ quantity: '0' })] }));
  t.match(invoice, { amountDueMinor: 0, creditBalanceMinor: 0 });
  await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 100 }));
  await company.apply({ change: 'payment.void', with: { invoiceId: invoice.id, id: 'pay_1' } });
  t.strictSame(
    (await company.events()).map(({ kind }) => kind),
    ['invoice.issued', 'payment.recorded'],
    'is never settled',
  );
});

onEachEngine('a payment', async (t, testBackoffice) => {
  const start = async (given: Partial<NewInvoice> = {}) => {
    const company = await openIssuer(testBackoffice);
    return { company, invoice: await issued(company, invoiceDraft(given)) };
  };

  await t.test('is shown by its invoice, and told with what is still due', async (t) => {
    const { company, invoice } = await start();
    const given = { id: 'pay_1', amountMinor: 2300, paidOn: '2026-11-18', method: 'cheque' };
    const after = await company.apply(payment(invoice, given));
    t.strictSame(after, {
      ...invoice,
      payments: [{ id: 'pay_1', amountMinor: 2300, currency: 'EUR', paidOn: '2026-11-18', method: 'cheque' }],
      amountDueMinor: 10_000,
      updatedAt: after.updatedAt,
    });
    t.ok(after.updatedAt > invoice.updatedAt);
    t.strictSame((await company.events()).at(-1)?.data, {
      invoiceId: invoice.id,
      invoiceNumber: 'INV-2026-0001',
      paymentId: 'pay_1',
      amountMinor: 2300,
      currency: 'EUR',
      paidOn: '2026-11-18',
      method: 'cheque',
      amountDueMinor: 10_000,
      customer: { id: 'cus_1', type: 'customer', name: 'Harbour View Hotel' },
      links: { invoice: `/api/v1/invoices/${invoice.id}` },
    });
  });

  await t.test('has an id of its own unless it brings one, and the day of the change', async (t) => {
    const { company, invoice } = await start();
    await company.apply({ ...payment(invoice, { amountMinor: 1 }), at: '2026-11-12T10:00:00Z' });
    const { payments } = await company.apply(payment(invoice, { amountMinor: 2 }));
    t.match(payments, [{ paidOn: '2026-11-12' }, { paidOn: '2026-11-20' }]);
    t.ok(payments?.every(({ id }) => /^pay_[0-9a-f-]{36}$/.test(id)));
    t.not(payments?.[0]?.id, payments?.[1]?.id);
  });

  await t.test('may have the id of a payment of another invoice, and of a refund', async (t) => {
    const { company, invoice } = await start();
    const other = await issued(company, invoiceDraft());
    await company.apply(payment(invoice, { id: 'one' }));
    await company.apply(payment(other, { id: 'one' }));
    t.match(await company.apply(refund(invoice, { id: 'one' })), { refunds: [{ id: 'one' }] });
  });

  await t.test('of a company elsewhere is of that company’s day, and so is the settlement', async (t) => {
    const company = await openIssuer(testBackoffice, {
      company: { ...irishCompany, timeZone: 'Pacific/Auckland' },
    });
    const invoice = await issued(company, invoiceDraft());
    t.equal(invoice.issueDate, '2026-11-21');
    await company.apply(payment(invoice, { id: 'pay_1', paidOn: '2026-11-19' }));
    t.match((await company.events()).slice(-2), [
      { kind: 'payment.recorded', data: { paidOn: '2026-11-19' } },
      { kind: 'invoice.paid', data: { paidOn: '2026-11-21' } },
    ]);
    await company.apply({ change: 'payment.void', with: { invoiceId: invoice.id, id: 'pay_1' } });
    await company.apply({ ...payment(invoice), at: '2026-11-20T10:59:59.999Z' });
    t.match((await company.events()).slice(-2), [
      { kind: 'payment.recorded', data: { paidOn: '2026-11-20' } },
      { kind: 'invoice.paid', data: { paidOn: '2026-11-20' } },
    ]);
  });

  await t.test('is refused where it can’t be', async (t) => {
    const { company, invoice } = await start();
    await refuseWhatCant(t, testBackoffice, company, invoice);
  });
});

type Test = Parameters<Parameters<typeof onEachEngine>[1]>[0];

async function refuseWhatCant(
  t: Test,
  testBackoffice: TestBackoffice,
  company: TestCompany,
  invoice: Invoice,
): Promise<void> {
  const draft = await company.apply(invoiceDraft());
  const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma' }));
  const other = await openIssuer(testBackoffice, {
    company: northernIrishCompany,
    customer: customerIn('GB', 'GBP'),
  });
  const theirs = await issued(other, invoiceDraft());
  await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 1000 }));
  await company.apply(payment(invoice, { id: 'pay_2', amountMinor: 500 }));
  await company.apply({ change: 'payment.void', with: { invoiceId: invoice.id, id: 'pay_2' } });
  await company.apply(refund(invoice, { id: 'ref_1', amountMinor: 400 }));
  const note = await issued(company, creditNoteOf(invoice, { lines: [line({ unitPriceMinor: 1 })] }));
  const invoiceId = invoice.id;
  const voiding = (change: string, id: string) => ({ change, with: { invoiceId, id } });
  const refused: [code: string, path: string, change: object][] = [
    ['wrong_state', '/with/invoiceId', payment(draft)],
    ['wrong_state', '/with/invoiceId', payment(proForma)],
    ['wrong_state', '/with/invoiceId', payment(note)],
    ['unknown_record', '/with/invoiceId', payment(theirs)],
    ['wrong_currency', '/with/currency', payment(invoice, { currency: 'USD' })],
    ['duplicate_id', '/with/id', payment(invoice, { id: 'pay_1' })],
    ['duplicate_id', '/with/id', payment(invoice, { id: 'pay_2' })],
    ['duplicate_id', '/with/id', refund(invoice, { id: 'ref_1', amountMinor: 1 })],
    ['amount_out_of_range', '/with/amountMinor', payment(invoice, { amountMinor: Number.MAX_SAFE_INTEGER })],
    ['exceeds_payments', '/with/amountMinor', refund(invoice, { amountMinor: 601 })],
    ['wrong_currency', '/with/currency', refund(invoice, { amountMinor: 1, currency: 'GBP' })],
    ['wrong_state', '/with/id', voiding('payment.void', 'pay_2')],
    ['unknown_record', '/with/id', voiding('payment.void', 'ref_1')],
    ['unknown_record', '/with/id', voiding('refund.void', 'pay_1')],
    [
      'unknown_record',
      '/with/invoiceId',
      { change: 'payment.void', with: { invoiceId: theirs.id, id: 'pay_1' } },
    ],
    ['wrong_state', '/with/invoiceId', { change: 'refund.void', with: { invoiceId: draft.id, id: 'ref_1' } }],
  ];
  for (const [code, path, change] of refused) {
    t.match(await company.refusal(change), { code, path }, JSON.stringify(change));
  }
  t.match(
    await company.apply(refund(invoice, { amountMinor: 600 })),
    { refunds: [{}, {}] },
    'all that was received',
  );
}

onEachEngine('amounts as large as a number can hold', async (t, testBackoffice) => {
  const company = await openIssuer(testBackoffice);
  const most = Number.MAX_SAFE_INTEGER;
  const lines = [line({ unitPriceMinor: most, vatCategory: 'Z', vatRateBasisPoints: 0 })];
  const invoice = await issued(company, invoiceDraft({ lines }));
  await company.apply(payment(invoice, { id: 'pay_1', amountMinor: most - 1 }));
  const paid = await company.apply(payment(invoice, { amountMinor: 1 }));
  t.match(paid, { amountDueMinor: 0, creditBalanceMinor: 0 });
  t.match((await company.events()).at(-1), { kind: 'invoice.paid', data: { totalPaidMinor: most } });
  t.match(await company.refusal(payment(invoice, { amountMinor: 1 })), { code: 'amount_out_of_range' });
  await company.apply(refund(invoice, { amountMinor: most }));
  t.match(await company.refusal({ change: 'payment.void', with: { invoiceId: invoice.id, id: 'pay_1' } }), {
    code: 'amount_out_of_range',
    path: '/with/id',
  });
  const note = await company.apply(creditNoteOf(invoice, { lines }));
  t.match(await company.apply(issue(note.id)), { totals: { grossMinor: most } });
  t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
});
