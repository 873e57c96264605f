import type { NewInvoice } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { eInvoiceText } from '../../../src/server/e-invoice/e-invoice.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { without } from '../../model/_model.ts';
import { printedDocument } from '../invoice-pdf/_documents.ts';
import { textOf } from '../invoice-pdf/_reading.ts';
import { onEachEngine, onSqlite, type TestCompany } from './_backoffice.ts';
import { customerSave } from './_changes.ts';
import { creditNoteOf, invoiceDraft, issue, issued, line, openIssuer } from './_documents.ts';
import { balanceOf, edit, issueElsewhere, voided } from './_issued.ts';
import { amountsOf, creditNoteImport, importedLine, invoiceImport, openImporter } from './_imports.ts';
import { customerIn } from './_parties.ts';

const paid = { paidOn: '2026-11-10', method: 'bank_transfer' };
const NOWHERE = '01930000-0000-7000-8000-00000000ffff';
const proForma = (company: TestCompany, given: Partial<NewInvoice> = {}) =>
  issued(company, invoiceDraft({ kind: 'pro_forma', ...given }));

onEachEngine('a pro forma that is paid is a prepayment of the invoice that follows', async (t, office) => {
  const company = await openIssuer(office);
  const asked = await proForma(company);
  const prepayments = [{ id: 'pay_1', ...paid, amountMinor: 10_000, documentId: asked.id }];
  const draft = await company.apply(invoiceDraft({ prepayments }));
  t.equal(draft.payments, undefined, 'a draft shows no payments');
  await company.apply(edit(draft.id, { note: 'Thank you.' }));
  const invoice = await company.apply(issue(draft.id));
  const payment = { id: 'pay_1', amountMinor: 10_000, currency: 'EUR', ...paid };
  t.strictSame([invoice.payments, invoice.amountDueMinor], [[payment], 2300]);
  const after = await company.record('invoices', asked.id);
  t.equal(after?.updatedAt, asked.updatedAt, 'the pro forma is as it was');
  const [, recorded, ...more] = await company.events();
  t.strictSame([recorded?.kind, more], ['payment.recorded', []]);
  t.match(recorded?.data, { paymentId: 'pay_1', amountMinor: 10_000, amountDueMinor: 2300 });
  const rule = /void the payment there first/;
  const twice = { code: 'wrong_state', path: '/with/prepayments/0/documentId', message: rule };
  t.match(await company.refusal(invoiceDraft({ prepayments })), twice);
  await issueElsewhere(company, ['invoice']);
  t.match(await company.refusal(invoiceImport({ prepayments })), twice, 'nor by an import');
  const { id: documentId } = await proForma(company);
  const imported = { prepayments: [{ ...paid, amountMinor: 100, documentId }] };
  await company.apply(invoiceImport(imported));
  t.match(await company.refusal(invoiceImport({ ...imported, number: 'RE-2' })), twice, 'or after one');
  await issueElsewhere(company, []);
  // A wrong invoice is credited. What was paid is owed back until it is voided there, so it can't be paid elsewhere too.
  await issued(company, creditNoteOf(invoice, { lines: [line()] }));
  t.strictSame(await balanceOf(company, invoice), [0, 10_000]);
  t.match(await company.refusal(invoiceDraft({ prepayments })), twice);
  await company.apply(voided('payment', invoice, 'pay_1'));
  t.strictSame(await balanceOf(company, invoice), [0, 0]);
  const again = invoiceDraft({ prepayments });
  const [right, other] = [await company.apply(again), await company.apply(again)];
  t.equal((await company.apply(issue(right.id))).amountDueMinor, 2300, 'the right invoice has it instead');
  t.match(await company.refusal(issue(other.id)), { code: 'wrong_state', message: rule }, 'once');
});

onSqlite('a document asks for its rounded total, less what was credited of it', async (t, office) => {
  const company = await openIssuer(office);
  const paidFor = ({ id }: { id: string }, amountMinor: number) =>
    invoiceDraft({
      lines: [line({ quantity: '2' })],
      prepayments: [{ ...paid, amountMinor, documentId: id }],
    });
  const rounded = await proForma(company, { lines: [line({ unitPriceMinor: 10_003 })], cashRounding: true });
  t.match(await company.refusal(paidFor(rounded, 12_306)), { message: /are 12306, and it asked for 12305/ });
  await company.apply(paidFor(rounded, 12_305));
  const deposit = await issued(company, invoiceDraft());
  await issued(company, creditNoteOf(deposit, { lines: [line({ unitPriceMinor: 4_000 })] }));
  t.match(await company.refusal(paidFor(deposit, 7_381)), { message: /are 7381, and it asked for 7380/ });
  await issued(company, paidFor(deposit, 7_380));
});

onEachEngine('an invoice that was paid before is settled by its issue', async (t, office) => {
  const company = await openIssuer(office);
  const parts = [5000, 7300].map((amountMinor) => ({ ...paid, amountMinor, reference: 'Order 7' }));
  const settled = async (prepaid: Invoice) => {
    t.equal(prepaid.amountDueMinor, 0);
    const events = (await company.events()).map(
      ({ kind, data }) => `${kind} ${String(data['amountDueMinor'])}`,
    );
    const payments = ['payment.recorded 7300', 'payment.recorded 0', 'invoice.paid undefined'];
    t.strictSame(events.slice(-4), ['invoice.issued undefined', ...payments]);
  };
  const invoice = await issued(company, invoiceDraft({ prepayments: parts }));
  await settled(invoice);
  const ids = new Set(invoice.payments?.map(({ id }) => id));
  t.equal(ids.size, 2, 'each has an id of its own');
  await issued(company, creditNoteOf(invoice, { lines: [line()] }));
  t.strictSame(await balanceOf(company, invoice), [0, 12_300]);
  await issueElsewhere(company, ['invoice']);
  const early = parts.map((part) => ({ ...part, paidOn: '2026-10-01' }));
  await settled(await company.apply(invoiceImport({ prepayments: early, notify: true })));
});

onSqlite('what was paid before beyond the total is owed back', async (t, office) => {
  const company = await openIssuer(office);
  const draft = invoiceDraft({ prepayments: [{ ...paid, amountMinor: 20_000 }] });
  const invoice = await issued(company, draft);
  t.match(invoice, { amountDueMinor: 0, creditBalanceMinor: 7_700 });
  const printed = await printedDocument(office.engine, company, invoice.id);
  const page = await textOf(await createRenderer().render(printed));
  t.match(page, /Paid on .* [-\u2212]€200\.00 Credit balance €77\.00/);
  t.match(page, /Nothing is due on this invoice\. €77\.00 of what was paid is owed back\./);
  const amounts = { ubl: /PayableAmount currencyID="EUR">-77\.00</, cii: /DuePayableAmount>-77\.00</ };
  for (const format of ['ubl', 'cii'] as const)
    t.match(eInvoiceText(printed, format), amounts[format], format);
  const given = { invoiceId: invoice.id, amountMinor: 7_700, currency: 'EUR', method: 'card' };
  await company.apply({ change: 'refund.record', with: given });
  t.strictSame(await balanceOf(company, invoice), [0, 0]);
});

onSqlite('prepayments that are none of the invoice are refused by path and rule', async (t, office) => {
  const company = await openIssuer(office);
  await company.apply(customerSave({ id: 'cus_2', ...customerIn('IE', 'EUR') }));
  const asked = await proForma(company);
  const theirs = await proForma(company, { customerId: 'cus_2' });
  const inDollars = await proForma(company, { currency: 'USD' });
  const draft = await company.apply(invoiceDraft());
  const of = (...given: object[]) =>
    invoiceDraft({ prepayments: given.map((one) => ({ ...paid, amountMinor: 100, ...one })) });
  const tooMuch = [12_300, 1].map((amountMinor) => ({ documentId: asked.id, amountMinor }));
  const prepayments = [{ ...paid, amountMinor: 1 }];
  const cases: [path: string, code: string, rule: RegExp, change: object][] = [
    ['/0/documentId', 'invalid_change', /belongs to the customer "cus_2"/, of({ documentId: theirs.id })],
    ['/0/documentId', 'wrong_currency', /is in USD, and not in EUR/, of({ documentId: inDollars.id })],
    ['/0/documentId', 'wrong_state', /isn't an issued pro forma/, of({ documentId: draft.id })],
    ['/0/documentId', 'unknown_record', /no record/, of({ documentId: NOWHERE })],
    ['/1/amountMinor', 'invalid_change', /are 12301, and it asked for 12300/, of(...tooMuch)],
    ['/1/id', 'duplicate_id', /same id|have the id/, of({ id: 'pay_1' }, { id: 'pay_1' })],
    ['/0/paidOn', 'invalid_change', /after 2026-/, of({ paidOn: '2026-12-24' })],
    ['', 'invalid_change', /no other kind/, invoiceDraft({ kind: 'pro_forma', prepayments })],
  ];
  for (const [path, code, rule, change] of cases) {
    const refusal = await company.refusal(change);
    t.strictSame([refusal.path, refusal.code], [`/with/prepayments${path}`, code], refusal.message);
    t.match(refusal.message, rule);
  }
});

onSqlite('history comes in with all of its amounts', async (t, office) => {
  const company = await openImporter(office);
  const why = { reason: 'Agreed in May' };
  const of23 = { vatCategory: 'S' as const, vatRateBasisPoints: 2300 };
  const oil = without(importedLine({ quantity: '1500', amountMinor: 113_772 }), 'unitPriceMinor');
  const lines = [
    { ...oil, unitPrice: '84.275', priceBaseQuantity: '100', allowances: [{ percent: '10', ...why }] },
    importedLine(),
  ];
  const given = {
    lines,
    allowances: [{ amountMinor: 3772, ...why, ...of23 }],
    vatBreakdown: [{ category: 'S', rateBasisPoints: 2300, taxableMinor: 120_000, vatMinor: 27_600 }],
    totals: { netMinor: 120_000, vatMinor: 27_600, grossMinor: 147_600 },
  };
  const terms = { prepayments: [{ ...paid, paidOn: '2026-10-01', amountMinor: 47_600 }], roundingMinor: 5 };
  const invoice = await company.apply(invoiceImport({ ...given, ...terms }));
  t.strictSame([invoice.lines[0]?.unitPriceMinor, invoice.amountDueMinor], [84, 100_005]);
  const wrong = await company.refusal(invoiceImport({ ...given, number: 'RE-2', allowances: [] }));
  t.match(wrong, { code: 'wrong_sums', path: '/with/vatBreakdown/0/taxableMinor' });
  const short = [{ ...lines[0], amountMinor: 113_771 }, importedLine()] as typeof lines;
  const off = await company.refusal(invoiceImport({ ...given, number: 'RE-3', lines: short }));
  const message = /must be 113772, quantity 1500 times unitPrice 84.275 for 100 with its discounts/;
  t.match(off, { path: '/with/lines/0/amountMinor', message });
  await company.apply(creditNoteImport(invoice.id, given));
  t.strictSame(await balanceOf(company, invoice), [0, 47_600], 'the rounding went with all lines');
  const withVat = {
    ...amountsOf([importedLine({ unitPriceMinor: 8000, amountMinor: 7048, vatRateBasisPoints: 1350 })]),
    pricesIncludeVat: true,
    vatBreakdown: [{ category: 'S', rateBasisPoints: 1350, taxableMinor: 7048, vatMinor: 952 }],
    totals: { netMinor: 7048, vatMinor: 952, grossMinor: 8000 },
  };
  const gross = await company.apply(invoiceImport({ ...withVat, number: 'RE-4' }));
  t.equal(gross.lines[0]?.unitPriceMinor, 7048);
  const net = without(withVat, 'pricesIncludeVat');
  t.equal((await company.refusal(invoiceImport({ ...net, number: 'RE-5' }))).code, 'wrong_sums');
});
