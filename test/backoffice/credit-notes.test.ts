import type { DraftLine } from '../../src/contract/feed.ts';
import type { Invoice } from '../../src/contract/records.ts';
import {
  creditNoteOf,
  documentOf,
  invoiceDraft,
  issue,
  issued,
  line,
  lineIn,
  openIssuer,
  payment,
} from './_documents.ts';
import { onEachEngine, type TestCompany, type TestOffice } from './_office.ts';
import { customerIn, irishCompany } from './_vat-situations.ts';

const reduced = (given: Partial<DraftLine> = {}) => line({ vatRateBasisPoints: 1350, ...given });
/** A line at 5 %, at which ten cents make half a cent of VAT. */
const cents = (unitPriceMinor: number) => line({ vatRateBasisPoints: 500, unitPriceMinor });

async function start(
  testOffice: TestOffice,
  lines: DraftLine[],
): Promise<{ company: TestCompany; invoice: Invoice }> {
  const company = await openIssuer(testOffice);
  return { company, invoice: await issued(company, invoiceDraft({ lines })) };
}

/** Changes what is kept of a document and isn't shown. */
async function changeUnpublished(
  { engine }: TestOffice,
  company: TestCompany,
  id: string,
  changes: object,
): Promise<void> {
  await engine.transaction(async (transaction) => {
    const of = transaction.selectFrom('invoices').where('company', '=', company.id).where('id', '=', id);
    const { unpublished } = await of.select('unpublished').executeTakeFirstOrThrow();
    const changed = JSON.stringify({ ...(JSON.parse(unpublished) as object), ...changes });
    const table = transaction.updateTable('invoices').where('company', '=', company.id).where('id', '=', id);
    await table.set({ unpublished: changed }).execute();
  });
}

const credit = (company: TestCompany, invoice: Invoice, lines: DraftLine[]) =>
  issued(company, creditNoteOf(invoice, { lines }));

onEachEngine('a credit note', async (t, testOffice) => {
  await t.test('takes from its invoice what it doesn’t give, and isn’t due', async (t) => {
    const site = {
      id: 'site_1',
      label: 'Yard',
      addressLines: [],
      countryCode: 'IE',
      postcode: null,
      geo: null,
    };
    const company = await openIssuer(testOffice, { customer: { sites: [site] } });
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
    const { company, invoice } = await start(testOffice, [line()]);
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
    const company = await openIssuer(testOffice, { customer: { currency: 'USD' } });
    const invoice = await issued(company, invoiceDraft({ exchange }));
    testOffice.setNow('2026-12-20T12:00:00.000Z');
    const note = await credit(company, invoice, [line({ unitPriceMinor: 3333 })]);
    t.match(note.accountingCurrency, {
      currency: 'EUR',
      ...exchange,
      totals: { netMinor: 2839, vatMinor: 653, grossMinor: 3492 },
    });
    testOffice.setNow('2026-11-20T12:00:00.000Z');
    t.match(await company.refusal(creditNoteOf(invoice, { exchange, lines: [] })), {
      code: 'invalid_change',
      path: '/with/exchange',
    });
  });
});

onEachEngine('a credit note is held to its invoice', async (t, testOffice) => {
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
      const { company, invoice } = await start(testOffice, lines);
      const { code, path, message } = await company.refusal(creditNoteOf(invoice, { lines: excess }));
      t.strictSame([code, path], ['exceeds_invoice', '/with/lines']);
      t.match(message, named);
    });
  }

  await t.test('and may take all of it, once', async (t) => {
    const { company, invoice } = await start(testOffice, lines);
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
    const { company, invoice } = await start(testOffice, lines);
    for (const unitPriceMinor of [7000, 12_999]) await credit(company, invoice, [line({ unitPriceMinor })]);
    const rest = (unitPriceMinor: number) => creditNoteOf(invoice, { lines: [line({ unitPriceMinor })] });
    t.match(await company.refusal(rest(2)), { code: 'exceeds_invoice', message: /takes 2 net .* 1 is left/ });
    await company.apply(rest(1));
  });

  await t.test('when it is issued too, because drafts take nothing', async (t) => {
    const { company, invoice } = await start(testOffice, lines);
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

onEachEngine('credit notes of a part', async (t, testOffice) => {
  await t.test('take the VAT on all that is credited so far, less what was taken before', async (t) => {
    // 5 % of 30 cents are 1.5, rounded to 2; of 10 and of 20 they are 0.5 and 1.
    const { company, invoice } = await start(testOffice, [cents(30)]);
    t.strictSame(invoice.totals, { netMinor: 30, vatMinor: 2, grossMinor: 32 });
    for (const vatMinor of [1, 0, 1]) {
      const { totals } = await credit(company, invoice, [cents(10)]);
      t.strictSame(totals, { netMinor: 10, vatMinor, grossMinor: 10 + vatMinor });
    }
    t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
    const { code, message } = await company.refusal(creditNoteOf(invoice, { lines: [cents(1)] }));
    t.equal(code, 'exceeds_invoice');
    t.match(message, /takes 1 net in category S at 500 basis points, where 0 is left/);
  });

  await t.test(
    'one for each line of 68.33, 68.33, 57.50 and 85.00 at 20 % give back all of it',
    async (t) => {
      const lines = [6833, 6833, 5750, 8500].map((unitPriceMinor) =>
        line({ unitPriceMinor, vatRateBasisPoints: 2000 }),
      );
      const { company, invoice } = await start(testOffice, lines);
      const grossOfNotes: number[] = [];
      for (const one of lines) grossOfNotes.push((await credit(company, invoice, [one])).totals.grossMinor);
      t.strictSame(grossOfNotes, [8200, 8199, 6900, 10_200]);
      t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
    },
  );

  await t.test('one for each of two lines of 45.02 at 23 % leave no cent due', async (t) => {
    const lines = [line({ unitPriceMinor: 4502 }), line({ unitPriceMinor: 4502 })];
    const { company, invoice } = await start(testOffice, lines);
    for (const one of lines) await credit(company, invoice, [one]);
    t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
  });

  await t.test('three of an invoice in dollars take its 19.85 euros, and not 19.86', async (t) => {
    const exchange = { exchangeRate: '0.85172', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' };
    const company = await openIssuer(testOffice, { customer: { ...customerIn('US', 'USD') } });
    const lines = Array.from({ length: 3 }, () => lineIn('Z', { unitPriceMinor: 777 }));
    const takenFrom = async (invoice: Invoice, forget: () => Promise<unknown>) => {
      const euros: (number | undefined)[] = [];
      for (const one of lines) {
        const { accountingCurrency } = await credit(company, invoice, [one]);
        euros.push(accountingCurrency?.totals.grossMinor);
        await forget();
      }
      return euros;
    };
    const invoice = await issued(company, invoiceDraft({ lines, exchange }));
    t.equal(invoice.accountingCurrency?.totals.grossMinor, 1985);
    t.strictSame(await takenFrom(invoice, () => Promise.resolve()), [662, 662, 661]);
    const old = await issued(company, invoiceDraft({ lines, exchange }));
    // Release 1.0.0 kept no sum of it.
    const forget = () => changeUnpublished(testOffice, company, old.id, { creditedAccounted: undefined });
    t.strictSame(await takenFrom(old, forget), [662, 662, 661], 'of release 1.0.0 too');
  });

  await t.test('settle their VAT when they are issued, because another may come before', async (t) => {
    const { company, invoice } = await start(testOffice, [line({ unitPriceMinor: 4502, quantity: '2' })]);
    const half = creditNoteOf(invoice, { lines: [line({ unitPriceMinor: 4502 })] });
    const drafts = [await company.apply(half), await company.apply(half)];
    t.strictSame(
      drafts.map(({ totals }) => totals.vatMinor),
      [1035, 1035],
    );
    const notes: Invoice[] = [];
    for (const { id } of drafts) notes.push(await company.apply(issue(id)));
    t.strictSame(
      notes.map(({ totals }) => totals.vatMinor),
      [1035, 1036],
    );
  });

  await t.test('of release 1.0.0 that left a cent due are made up for by a line of nothing', async (t) => {
    const { company, invoice } = await start(testOffice, [line({ unitPriceMinor: 4502, quantity: '2' })]);
    await credit(company, invoice, [line({ unitPriceMinor: 4502 })]);
    const other = await credit(company, invoice, [line({ unitPriceMinor: 4502 })]);
    // It computed the VAT of each note by itself.
    const credited = [{ ...invoice.vatBreakdown[0], vatMinor: 2070 }];
    await changeUnpublished(testOffice, company, invoice.id, { credited });
    const note = await credit(company, invoice, [line({ quantity: '0' })]);
    t.strictSame(note.totals, { netMinor: 0, vatMinor: 1, grossMinor: 1 });
    t.equal(other.totals.vatMinor, 1036);
  });

  await t.test('of an invoice with a discount take what the discount left', async (t) => {
    const discount = line({ description: 'Discount', quantity: '-1', unitPriceMinor: 3000 });
    const { company, invoice } = await start(testOffice, [line(), discount]);
    const whole = creditNoteOf(invoice, { lines: [line()] });
    t.match(await company.refusal(whole), {
      code: 'exceeds_invoice',
      message: /takes 10000 net .* 7000 is left/,
    });
    const { totals } = await credit(company, invoice, [line(), discount]);
    t.strictSame(totals, invoice.totals);
  });

  await t.test('give back a discount that makes up a category of its own, and no more', async (t) => {
    const discount = (unitPriceMinor: number) => lineIn('Z', { quantity: '-1', unitPriceMinor });
    const { company, invoice } = await start(testOffice, [line(), discount(3000)]);
    t.strictSame(invoice.totals, { netMinor: 7000, vatMinor: 2300, grossMinor: 9300 });
    for (const wrong of [discount(3001), lineIn('Z', { unitPriceMinor: 1 })]) {
      const refused = creditNoteOf(invoice, { lines: [line(), wrong] });
      t.match(await company.refusal(refused), {
        code: 'exceeds_invoice',
        message: /category Z .* -3000 is left/,
      });
    }
    await credit(company, invoice, [line({ unitPriceMinor: 5000 }), discount(1000)]);
    const refused = creditNoteOf(invoice, { lines: [line({ unitPriceMinor: 5000 }), discount(2001)] });
    t.match(await company.refusal(refused), {
      code: 'exceeds_invoice',
      message: /category Z .* -2000 is left/,
    });
    const { totals } = await credit(company, invoice, [line({ unitPriceMinor: 5000 }), discount(2000)]);
    t.strictSame(totals, { netMinor: 3000, vatMinor: 1150, grossMinor: 4150 });
    t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
  });
});

onEachEngine('a credit note names', async (t, testOffice) => {
  const { company, invoice } = await start(testOffice, [line()]);
  await company.apply({
    change: 'customer.save',
    with: { id: 'cus_2', name: 'Another', paymentTermsDays: 30, ...customerIn('IE', 'EUR') },
  });
  const { company: other, invoice: theirs } = await start(testOffice, [line()]);
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

onEachEngine('an invoice holds a thousand', async (t, testOffice) => {
  const { engine } = testOffice;
  const company = await openIssuer(testOffice, { company: irishCompany });
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
