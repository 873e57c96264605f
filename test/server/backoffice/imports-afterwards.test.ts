import type { Invoice } from '../../../src/contract/records.ts';
import type { Finding } from '../../../src/server/store/verify/findings.ts';
import { verifyStore } from '../../../src/server/store/verify/verify.ts';
import { applyFeed } from '../../../src/server/backoffice/feed.ts';
import { inShort, onEachEngine, onSqlite } from './_backoffice.ts';
import { customerSave } from './_changes.ts';
import {
  creditNoteOf,
  documentOf,
  invoiceDraft,
  issue,
  issued,
  line,
  payment,
  refund,
} from './_documents.ts';
import { balanceOf, issueElsewhere, item, kindsOf, quoteDraft, totalsOf } from './_issued.ts';
import {
  amountsOf,
  creditNoteImport,
  importedLine,
  invoiceImport,
  openImporter,
  quoteImport,
} from './_imports.ts';

const ID = '01930000-0000-7000-8000-000000000001';
const OTHER = '01930000-0000-7000-8000-000000000002';
const THIRD = '01930000-0000-7000-8000-000000000003';

onSqlite('each kind of document is issued here or elsewhere', async (t, office) => {
  const company = await openImporter(office);
  await issueElsewhere(company, []);
  const invoice = await issued(company, invoiceDraft());
  const [{ id }, note] = [await company.apply(invoiceDraft()), await company.apply(creditNoteOf(invoice))];
  const draft = quoteDraft({ lines: [line()] });
  const [quote, sent] = [await company.apply(draft), await company.apply(draft)];
  await company.apply({ change: 'quote.send', with: { id: sent.id } });
  for (const [change, kind] of [
    [invoiceImport(), 'invoice'],
    [creditNoteImport(invoice.id), 'credit_note'],
    [quoteImport(), 'quote'],
  ] as const) {
    const refusal = await company.refusal(change);
    t.equal(inShort(refusal), 'wrong_state /change', kind);
    t.ok(refusal.message.includes(`add ${kind} to its issuedElsewhere`), refusal.message);
  }
  for (const [kind, change] of [
    ['invoice', issue(id)],
    ['credit_note', issue(note.id)],
    ['quote', quoteDraft()],
    ['quote', { change: 'quote.send', with: { id: quote.id } }],
    ['quote', { change: 'quote.revise', with: { id: sent.id } }],
  ] as const) {
    await issueElsewhere(company, [kind]);
    const refusal = await company.refusal(change);
    t.equal(inShort(refusal), 'wrong_state /change', kind);
    t.ok(refusal.message.includes(`${kind}.import`), refusal.message);
    const others = (['invoice', 'credit_note', 'quote'] as const).filter((other) => other !== kind);
    await issueElsewhere(company, others);
    t.ok(await company.apply(change), `${kind}, while only others are elsewhere`);
  }
  await issueElsewhere(company);
  const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma' }));
  t.equal(proForma.status, 'issued', 'a pro forma is no document');
});

onEachEngine('numbers here go on behind those that were imported', async (t, office) => {
  const company = await openImporter(office);
  for (const number of ['INV-2026-0003', 'INV-2026-0007', 'INV-2025-0001', 'RE-9'])
    await company.apply(invoiceImport({ number }));
  await company.apply(quoteImport({ number: 'Q-2026-0005' }));
  const credited = await company.apply(invoiceImport());
  const half = amountsOf([importedLine({ quantity: '0.5', amountMinor: 5000 })]);
  await company.apply(creditNoteImport(credited.id, { number: 'CN-2026-0004', ...half }));
  await issueElsewhere(company, []);
  t.equal((await issued(company, invoiceDraft())).number, 'INV-2026-0008');
  t.equal((await company.apply(quoteDraft())).number, 'Q-2026-0006');
  const note = creditNoteOf(credited, { lines: [line({ quantity: '0.5' })] });
  t.equal((await issued(company, note)).number, 'CN-2026-0005');
  const { id } = await company.apply(invoiceDraft());
  const other = await company.apply(invoiceDraft());
  const lastYear = await company.apply({ ...issue(other.id), at: '2025-12-30T12:00:00Z' });
  t.equal(lastYear.number, 'INV-2025-0002', 'also those of another year');
  await issueElsewhere(company);
  await company.apply(invoiceImport({ number: '2026-02' }));
  t.match(await company.refusal(invoiceImport({ number: 'INV-2026-0008' })), { code: 'duplicate_id' });
  await company.apply(invoiceImport({ number: 'INV-2026-0009' }));
  await issueElsewhere(company, []);
  t.equal((await company.apply(issue(id))).number, 'INV-2026-0010');
  await company.apply({ change: 'numbering.set', with: { kind: 'invoice', format: '{year}-{number:2}' } });
  t.equal((await issued(company, invoiceDraft())).number, '2026-01');
  const passed = await issued(company, invoiceDraft());
  t.equal(passed.number, '2026-03', 'and one of a format that came later is passed over');
  await issueElsewhere(company);
  const quarter = amountsOf([importedLine({ quantity: '0.25', amountMinor: 2500 })]);
  const imported = await company.apply(invoiceImport({ number: 'RE-10' }));
  for (const number of ['2026-04', '2026-05'])
    await company.apply(creditNoteImport(imported.id, { number, ...quarter }));
  await issueElsewhere(company, []);
  const next = await issued(company, invoiceDraft());
  t.equal(next.number, '2026-04', 'an imported credit note takes no number of an invoice');
  const findings = async () => {
    const found: Finding[] = [];
    const options = { signal: new AbortController().signal, onProgress: () => undefined };
    await verifyStore(office.engine, { ...options, onFinding: (one) => found.push(one) });
    return found.map(({ problem }) => problem);
  };
  t.strictSame(await findings(), [], 'and `verify` takes them as they are');
  await office.engine.run("UPDATE number_series SET last_number = 5 WHERE series = '2026-{number:2}'");
  t.strictSame(await findings(), ['no document has the number 5'], 'nor does it fill a gap');
});

onSqlite('an imported invoice is paid, refunded and credited as any', async (t, office) => {
  const company = await openImporter(office);
  const half = amountsOf([importedLine({ quantity: '0.5', amountMinor: 5000 })]);
  const invoice = await company.apply(invoiceImport({ id: ID, notify: true }));
  await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 7000, notify: false }));
  const note = await company.apply(creditNoteImport(ID, half));
  const creditedInvoice = { id: ID, number: 'RE-1041' };
  t.match(note, { kind: 'credit_note', dueDate: null, paymentTermsDays: 0, creditedInvoice });
  t.match((await documentOf(company, ID)).creditNotes, [{ number: 'GS-17' }]);
  t.strictSame(await balanceOf(company, invoice), [0, 850]);
  await company.apply(refund(invoice, { amountMinor: 850, notify: false }));
  t.strictSame(await kindsOf(company), ['invoice.issued'], 'history is told to nobody');
  t.match(await company.refusal(creditNoteImport(ID, { number: 'GS-18' })), { code: 'exceeds_invoice' });

  const again = await company.apply(invoiceImport({ id: OTHER, number: 'RE-2', notify: true }));
  await company.apply(payment(again, { amountMinor: 6150 }));
  await company.apply(creditNoteImport(OTHER, { ...half, number: 'GS-18', notify: true }));
  const told = ['invoice.issued', 'payment.recorded', 'credit_note.issued', 'invoice.paid'];
  t.strictSame((await kindsOf(company)).slice(1), told);
  await issueElsewhere(company, ['invoice']);
  const own: Invoice = await issued(company, creditNoteOf(again, { lines: [line({ quantity: '0.5' })] }));
  t.equal(own.totals.grossMinor, 6150, 'a credit note that is issued here takes the rest');
  t.strictSame(await balanceOf(company, again), [0, 6150]);
});

onSqlite('a credit note has the VAT of its net, or the rest of its invoice', async (t, office) => {
  const company = await openImporter(office);
  const cents = (amountMinor: number) =>
    importedLine({ unitPriceMinor: amountMinor, amountMinor, vatRateBasisPoints: 500 });
  const invoice = await company.apply(invoiceImport({ id: ID, ...amountsOf([cents(20)]) }));
  const note = (number: string, vatMinor: number) => {
    const sums = { vatBreakdown: [item('S', 500, 10, vatMinor)], totals: totalsOf(10, vatMinor) };
    return creditNoteImport(ID, { number, lines: [cents(10)], ...sums });
  };
  await company.apply(note('GS-1', 1));
  const rule = 'is 2 and must be 1, the VAT on 10 at 500 basis points, or 0, what is left of its invoice';
  t.match((await company.refusal(note('GS-2', 2))).message, rule);
  await company.apply(note('GS-2', 0));
  t.strictSame(await balanceOf(company, invoice), [0, 0]);
});

onEachEngine('a quote comes in as it was sent, version by version', async (t, office) => {
  const company = await openImporter(office);
  const sent = await company.apply(
    quoteImport({ id: ID, validUntil: '2026-10-31', buyerReference: 'B', note: 'N' }),
  );
  t.match(sent, { number: 'AN-5', version: 1, status: 'sent', sentDate: '2026-10-01', respondedAt: null });
  t.match(sent, { supersedesQuoteId: null, buyerReference: 'B', note: 'N', ...amountsOf() });
  const respondedAt = '2026-10-07T08:00:00Z';
  const next = { id: OTHER, supersedesQuoteId: ID, status: 'accepted', respondedAt } as const;
  const early = { ...next, respondedAt: '2026-09-30T08:00:00Z' };
  const taken = { quoteGroupId: sent.quoteGroupId, number: 'AN-6' };
  const wrong: [refusal: string, given: Parameters<typeof quoteImport>[0]][] = [
    ['duplicate_id /with/number', {}],
    ['invalid_change /with/supersedesQuoteId', { ...next, number: 'AN-6' }],
    ['invalid_change /with/supersedesQuoteId', { ...next, customerId: 'cus_2' }],
    ['invalid_change /with/version', { ...next, version: 1 }],
    ['duplicate_id /with/quoteGroupId', { ...next, quoteGroupId: OTHER }],
    ['duplicate_id /with/quoteGroupId', taken],
    ['invalid_change /with/respondedAt', early],
    ['invalid_change /with/respondedAt', { ...next, status: 'sent' }],
    ['wrong_sums /with/totals/netMinor', { number: 'AN-6', totals: totalsOf(1, 2) }],
  ];
  await company.apply(customerSave({ id: 'cus_2' }));
  for (const [refusal, given] of wrong) t.equal(inShort(await company.refusal(quoteImport(given))), refusal);
  const accepted = await company.apply(quoteImport({ ...next, version: 4, notify: true }));
  t.match(accepted, { version: 4, quoteGroupId: sent.quoteGroupId, respondedAt: '2026-10-07T08:00:00.000Z' });
  t.equal((await company.record('quotes', ID))?.status, 'revised');
  t.strictSame(await kindsOf(company), ['quote.accepted']);
  await company.apply({ change: 'quote.convert_to_invoice', with: { id: OTHER } });
  const third = { id: THIRD, supersedesQuoteId: OTHER, status: 'accepted' } as const;
  t.equal(inShort(await company.refusal(quoteImport(third))), 'wrong_state /with/supersedesQuoteId');
  const other = await company.apply(quoteImport({ number: 'AN-6' }));
  t.equal((await company.apply({ change: 'quote.accept', with: { id: other.id } })).status, 'accepted');
});

onEachEngine('imports of a feed are answered one by one, though they come in together', async (t, office) => {
  const company = await openImporter(office);
  const numbers = Array.from({ length: 130 }, (_number, index) => index + 1);
  const lineOf = (number: number) => {
    const totals = number === 120 ? { totals: totalsOf(1, 1) } : {};
    const change = invoiceImport({ number: `RE-${number}`, ...totals });
    return JSON.stringify({ id: String(number), company: company.id, ...change });
  };
  const answersTo = async (input: AsyncIterable<Uint8Array>) => {
    const answers: { id: string; status: string; record?: Invoice; error?: { path: string } }[] = [];
    for await (const { text } of applyFeed(office.backoffice, input))
      answers.push(JSON.parse(text) as (typeof answers)[number]);
    return answers;
  };
  async function* whole() {
    yield Buffer.from(numbers.map((number) => `${lineOf(number)}\n`).join(''));
  }
  for (const status of ['applied', 'skipped']) {
    const answers = await answersTo(whole());
    t.strictSame(
      answers.map(({ id, record, error }) => [id, record?.number ?? error?.path]),
      numbers.map((number) => [String(number), number === 120 ? '/with/totals/netMinor' : `RE-${number}`]),
    );
    t.strictSame([...new Set(answers.map((answer) => answer.status))], [status, 'refused']);
  }
  const stamps = await office.engine.run('SELECT DISTINCT updated_at FROM invoices');
  t.equal(stamps.length, 129, 'each has a time of change of its own');

  let answered = 0;
  async function* slow() {
    for (const number of [201, 202, 203]) {
      yield Buffer.from(`${lineOf(number)}\n \n`);
      t.equal(answered, number - 200, 'a line is answered before the next one comes');
    }
  }
  for await (const { status } of applyFeed(office.backoffice, slow())) {
    t.equal(status, 'applied');
    answered += 1;
  }
});

onSqlite('a credit note takes the rest after an imported one of other prices', async (t, office) => {
  const company = await openImporter(office);
  await issueElsewhere(company, []);
  const delivery = { reason: 'Delivery', vatCategory: 'S' as const, vatRateBasisPoints: 2300 };
  const sums = { vatBreakdown: [item('S', 2300, 11_000, 2530)], totals: totalsOf(11_000, 2530) };
  const pricedAt = (unitPriceMinor: number, count = 1) => ({
    pricesIncludeVat: unitPriceMinor > 10_000,
    lines: Array.from({ length: count }, () => line({ unitPriceMinor })),
    charges: [{ ...delivery, amountMinor: (count * unitPriceMinor) / 10 }],
  });
  for (const [own, other] of [[10_000, 12_300] as const, [12_300, 10_000] as const]) {
    const invoice = await issued(company, invoiceDraft(pricedAt(own, 2)));
    await issueElsewhere(company, ['credit_note']);
    const given = { ...pricedAt(other), ...sums, number: `GS-${own}`, issueDate: invoice.issueDate ?? '' };
    const lines = given.lines.map((one) => ({ ...one, amountMinor: 10_000 }));
    await company.apply(creditNoteImport(invoice.id, { ...given, lines }));
    await issueElsewhere(company, []);
    const { lines: rest, pricesIncludeVat } = pricedAt(own);
    await issued(company, creditNoteOf(invoice, { lines: rest, pricesIncludeVat }));
    t.strictSame(await balanceOf(company, invoice), [0, 0]);
  }
});
