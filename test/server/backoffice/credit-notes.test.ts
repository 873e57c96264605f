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
  refund,
} from './_documents.ts';
import { balanceOf, edit, exchange, start, voided } from './_issued.ts';
import { inShort, onSqlite } from './_backoffice.ts';
import { customerSave } from './_changes.ts';

const at = (unitPriceMinor: number, vatRateBasisPoints: number) =>
  line({ unitPriceMinor, vatRateBasisPoints });

/* The model says what a credit note takes from its invoice, its rate and its days among it (test/model). */
onSqlite(
  'a credit note is shown by its invoice once it is issued, in the order of the ids',
  async (t, office) => {
    const { company, invoice } = await start(office, [line()]);
    const ids = [3, 1, 2].map((count) => `00000000-0000-7000-8000-00000000000${count}`);
    for (const id of ids)
      await company.apply(creditNoteOf(invoice, { id, lines: [line({ unitPriceMinor: 100 })] }));
    t.strictSame(await documentOf(company, invoice.id), invoice, 'a draft changes nothing of it');
    for (const id of ids) await company.apply(issue(id));
    const after = await documentOf(company, invoice.id);
    t.strictSame(
      after.creditNotes.map((note) => [note.id, note.number, note.status, note.issueDate, note.grossMinor]),
      ids.toSorted().map((id) => [id, `CN-2026-000${ids.indexOf(id) + 1}`, 'issued', '2026-11-20', 123]),
    );
    t.match(after, { amountDueMinor: 12_300 - 369, creditBalanceMinor: 0, totals: invoice.totals });
    const last = await documentOf(company, ids[2] ?? '');
    t.ok(after.updatedAt > last.updatedAt, 'it changed with the last of them');
  },
);

/** What takes more than an invoice of 200.00 at 23 %, 50.00 at 13.5 % and 20.00 at zero, and how the refusal names it. */
const excesses: [what: string, named: RegExp, ...lines: DraftLine[]][] = [
  ['a cent too much at one rate', /takes 20001 net in category S at 2300 .* 20000/, at(20_001, 2300)],
  ['a cent at another rate', /category S at 900 .* 0 is left/, at(1, 900)],
  ['a cent in another category', /category E at 0 .* 0 is left/, lineIn('E', { unitPriceMinor: 1 })],
  ['what another rate has left', /5001 net in category S at 1350 .* 5000/, at(5001, 1350)],
  ['less than nothing', /takes -10000 net in category S at 2300/, line({ quantity: '-1' })],
  ['too much in one of several', /2001 net in category Z/, line(), lineIn('Z', { unitPriceMinor: 2001 })],
];

onSqlite('a credit note is held to its invoice', async (t, office) => {
  const lines = [line(), line(), at(5000, 1350), lineIn('Z', { unitPriceMinor: 2000 })];
  for (const [what, named, ...excess] of excesses) {
    await t.test(`and takes no more than it: ${what}`, async (t) => {
      const { company, invoice } = await start(office, lines);
      const { code, path, message } = await company.refusal(creditNoteOf(invoice, { lines: excess }));
      t.strictSame([code, path], ['exceeds_invoice', '/with/lines']);
      t.match(message, named);
    });
  }

  await t.test('and may take all of it, once', async (t) => {
    const { company, invoice } = await start(office, lines);
    const note = await credit(company, invoice, lines);
    t.strictSame([note.totals, note.vatBreakdown], [invoice.totals, invoice.vatBreakdown]);
    t.strictSame(await balanceOf(company, invoice), [0, 0]);
    for (const more of [at(1, 2300), at(1, 1350), lineIn('Z', { unitPriceMinor: 1 })])
      t.match(await company.refusal(creditNoteOf(invoice, { lines: [more] })), { code: 'exceeds_invoice' });
  });

  await t.test('when it is issued too, because drafts take nothing', async (t) => {
    const { company, invoice } = await start(office, lines);
    const first = await company.apply(creditNoteOf(invoice, { lines: [line({ quantity: '2' })] }));
    const second = await company.apply(creditNoteOf(invoice, { lines: [line({ quantity: '2' })] }));
    await company.apply(issue(second.id));
    t.match(await company.refusal(issue(first.id)), { code: 'exceeds_invoice', path: '/with/id' });
    const refusal = await company.refusal(edit(first.id, { lines: [at(1, 2300)] }));
    t.equal(inShort(refusal), 'exceeds_invoice /with/lines');
    await company.apply(edit(first.id, { lines: [at(5000, 1350)] }));
    t.match(await company.apply(issue(first.id)), { number: 'CN-2026-0002' });
  });
});

onSqlite('a credit note alone names an issued invoice, of its customer and currency', async (t, office) => {
  const { company, invoice } = await start(office, [line()]);
  await company.apply(customerSave({ id: 'cus_2' }));
  const { company: other, invoice: theirs } = await start(office, [line()]);
  t.not(other.id, company.id);
  const draft = await company.apply(invoiceDraft());
  const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma' }));
  const note = await credit(company, invoice, [at(1, 2300)]);
  const of = (id: string) => creditNoteOf({ ...invoice, id });
  const unnamed = invoiceDraft({ kind: 'credit_note', note: 'Returned.' });
  const creditsInvoiceId = invoice.id;
  const refused: [refusal: string, change: object][] = [
    ['invalid_change /with/creditsInvoiceId', unnamed],
    ['wrong_state /with/creditsInvoiceId', of(draft.id)],
    ['wrong_state /with/creditsInvoiceId', of(proForma.id)],
    ['wrong_state /with/creditsInvoiceId', of(note.id)],
    ['unknown_record /with/creditsInvoiceId', of(theirs.id)],
    ['invalid_change /with/customerId', creditNoteOf(invoice, { customerId: 'cus_2' })],
    ['wrong_currency /with/currency', creditNoteOf(invoice, { currency: 'GBP' })],
    ['invalid_change /with/dueDate', creditNoteOf(invoice, { dueDate: '2026-12-01' })],
    ['invalid_change /with/exchange', creditNoteOf(invoice, { exchange })],
    ['invalid_change /with/creditsInvoiceId', invoiceDraft({ creditsInvoiceId })],
    ['invalid_change /with/creditsInvoiceId', invoiceDraft({ kind: 'pro_forma', creditsInvoiceId })],
  ];
  for (const [refusal, change] of refused) t.equal(inShort(await company.refusal(change)), refusal);
});

onSqlite('an invoice holds a thousand', async (t, office) => {
  const company = await openIssuer(office);
  /** Writes what an invoice shows as if it had come to it by changes. */
  const fill = async ({ id }: Invoice, given: Partial<Invoice>) => {
    const text = (await company.texts('invoices', id))?.detail ?? '{}';
    const detail = JSON.stringify({ ...(JSON.parse(text) as object), ...given });
    await office.engine.transaction((transaction) =>
      transaction.updateTable('invoices').set({ detail }).where('id', '=', id).execute(),
    );
  };
  const many = <T>(make: (index: number) => T) => Array.from({ length: 999 }, (_, index) => make(index));
  const one = { amountMinor: 1, currency: 'EUR', method: 'card' };

  for (const [of, record] of [
    ['payment', payment],
    ['refund', refund],
  ] as const)
    await t.test(`${of}s that aren’t voided`, async (t) => {
      const invoice = await issued(company, invoiceDraft());
      if (of === 'refund') await company.apply(payment(invoice));
      const shown = { ...one, [of === 'payment' ? 'paidOn' : 'refundedOn']: '2026-11-20' };
      await fill(invoice, { [`${of}s`]: many((index) => ({ id: `${of}_${index}`, ...shown })) });
      const next = record(invoice, { amountMinor: 1 });
      await company.apply(next);
      t.equal(inShort(await company.refusal(next)), 'limit_reached /with/invoiceId');
      await company.apply(voided(of, invoice, `${of}_7`));
      t.equal((await company.apply(next))[`${of}s`]?.length, 1000);
    });

  await t.test('credit notes', async (t) => {
    const invoice = await issued(company, invoiceDraft());
    const named = { status: 'issued', issueDate: '2026-11-20', grossMinor: 1 } as const;
    // Each of them is read when another is made, so all are this one.
    const { id } = await credit(company, invoice, [at(1, 2300)]);
    await fill(invoice, { creditNotes: many((index) => ({ id, number: `CN-${index}`, ...named })) });
    await credit(company, invoice, [at(1, 2300)]);
    const draft = await company.apply(creditNoteOf(invoice, { lines: [at(1, 2300)] }));
    t.equal(inShort(await company.refusal(issue(draft.id))), 'limit_reached /with/id');
  });
});
