import type { Invoice } from '../../../src/contract/records.ts';
import type { Finding } from '../../../src/server/store/verify/findings.ts';
import { verifyStore } from '../../../src/server/store/verify/verify.ts';
import { applyFeed } from '../../../src/server/backoffice/feed.ts';
import { onEachEngine } from './_backoffice.ts';
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
import {
  amountsOf,
  creditNoteImport,
  importedLine,
  invoiceImport,
  issueElsewhere,
  item,
  kindsOf,
  openImporter,
  quoteImport,
  totalsOf,
} from './_imports.ts';

const ID = '01930000-0000-7000-8000-000000000001';
const OTHER = '01930000-0000-7000-8000-000000000002';
const THIRD = '01930000-0000-7000-8000-000000000003';

const modes: [kind: 'invoice' | 'credit_note' | 'quote', change: (made: Record<string, string>) => object][] =
  [
    ['invoice', ({ invoice = '' }) => issue(invoice)],
    ['credit_note', ({ note = '' }) => issue(note)],
    ['quote', () => ({ change: 'quote.draft', with: { customerId: 'cus_1', title: 'A boiler' } })],
    ['quote', ({ quote = '' }) => ({ change: 'quote.send', with: { id: quote } })],
    ['quote', ({ sent = '' }) => ({ change: 'quote.revise', with: { id: sent } })],
  ];

onEachEngine('each kind of document is issued here or elsewhere', async (t, testBackoffice) => {
  const company = await openImporter(testBackoffice);
  await issueElsewhere(company, []);
  const invoice = await issued(company, invoiceDraft());
  const note = await company.apply(creditNoteOf(invoice));
  const draftQuote = () =>
    company.apply({
      change: 'quote.draft',
      with: { customerId: 'cus_1', title: 'A boiler', lines: [line()] },
    });
  const [quote, sent] = [await draftQuote(), await draftQuote()];
  await company.apply({ change: 'quote.send', with: { id: sent.id } });
  const made = {
    invoice: (await company.apply(invoiceDraft())).id,
    note: note.id,
    quote: quote.id,
    sent: sent.id,
  };
  for (const [change, kind] of [
    [invoiceImport(), 'invoice'],
    [creditNoteImport(invoice.id), 'credit_note'],
    [quoteImport(), 'quote'],
  ] as const) {
    const refusal = await company.refusal(change);
    t.match(refusal, { code: 'wrong_state', path: '/change' }, kind);
    t.ok(refusal.message.includes(`add ${kind} to its issuedElsewhere`), refusal.message);
  }
  for (const [kind, changeOf] of modes) {
    await issueElsewhere(company, [kind]);
    const refusal = await company.refusal(changeOf(made));
    t.match(refusal, { code: 'wrong_state', path: '/change' }, kind);
    t.ok(refusal.message.includes(`${kind}.import`), refusal.message);
    await issueElsewhere(
      company,
      (['invoice', 'credit_note', 'quote'] as const).filter((other) => other !== kind),
    );
    t.ok(
      await company.apply(changeOf(made) as ReturnType<typeof issue>),
      `${kind}, while only others are elsewhere`,
    );
  }
  await issueElsewhere(company);
  t.equal(
    (await issued(company, invoiceDraft({ kind: 'pro_forma' }))).status,
    'issued',
    'a pro forma is no document',
  );
});

onEachEngine('numbers here go on behind those that were imported', async (t, testBackoffice) => {
  const company = await openImporter(testBackoffice);
  for (const number of ['INV-2026-0003', 'INV-2026-0007', 'INV-2025-0001', 'RE-9'])
    await company.apply(invoiceImport({ number }));
  await company.apply(quoteImport({ number: 'Q-2026-0005' }));
  await issueElsewhere(company, []);
  t.equal((await issued(company, invoiceDraft())).number, 'INV-2026-0008');
  const quote = { customerId: 'cus_1', title: 'A boiler' };
  t.equal((await company.apply({ change: 'quote.draft', with: quote })).number, 'Q-2026-0006');
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
  const numbers = [await issued(company, invoiceDraft()), await issued(company, invoiceDraft())];
  t.strictSame(
    numbers.map(({ number }) => number),
    ['2026-01', '2026-03'],
    'and one of a format that came later is passed over',
  );
  const findings: Finding[] = [];
  const options = { signal: new AbortController().signal, onProgress: () => undefined };
  await verifyStore(testBackoffice.engine, { ...options, onFinding: (found) => findings.push(found) });
  t.strictSame(findings, [], 'and `verify` takes them as they are');
});

onEachEngine('an imported invoice is paid, refunded and credited as any', async (t, testBackoffice) => {
  const company = await openImporter(testBackoffice);
  const half = amountsOf([importedLine({ quantity: '0.5', amountMinor: 5000 })]);
  const invoice = await company.apply(invoiceImport({ id: ID, notify: true }));
  await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 7000, notify: false }));
  const note = await company.apply(creditNoteImport(ID, half));
  t.match(note, {
    kind: 'credit_note',
    dueDate: null,
    paymentTermsDays: 0,
    creditedInvoice: { id: ID, number: 'RE-1041' },
  });
  t.match(await documentOf(company, ID), {
    amountDueMinor: 0,
    creditBalanceMinor: 850,
    creditNotes: [{ number: 'GS-17' }],
  });
  await company.apply(refund(invoice, { amountMinor: 850, notify: false }));
  t.strictSame(await kindsOf(company), ['invoice.issued'], 'history is told to nobody');
  t.match(await company.refusal(creditNoteImport(ID, { number: 'GS-18' })), { code: 'exceeds_invoice' });

  const again = await company.apply(invoiceImport({ id: OTHER, number: 'RE-2', notify: true }));
  await company.apply(payment(again, { amountMinor: 6150 }));
  await company.apply(creditNoteImport(OTHER, { ...half, number: 'GS-18', notify: true }));
  t.strictSame((await kindsOf(company)).slice(1), ['invoice.issued', 'payment.recorded', 'credit_note.issued', 'invoice.paid']); // prettier-ignore
  await issueElsewhere(company, ['invoice']);
  const own: Invoice = await issued(company, creditNoteOf(again, { lines: [line({ quantity: '0.5' })] }));
  t.equal(own.totals.grossMinor, 6150, 'a credit note that is issued here takes the rest');
  t.match(await documentOf(company, OTHER), { creditBalanceMinor: 6150, amountDueMinor: 0 });
});

onEachEngine(
  'a credit note may have the VAT of its own net, or what is left of its invoice',
  async (t, testBackoffice) => {
    const company = await openImporter(testBackoffice);
    const cents = (amountMinor: number) =>
      importedLine({ unitPriceMinor: amountMinor, amountMinor, vatRateBasisPoints: 500 });
    await company.apply(invoiceImport({ id: ID, ...amountsOf([cents(20)]) }));
    const note = (number: string, vatMinor: number) =>
      creditNoteImport(ID, {
        ...{ number, lines: [cents(10)] },
        ...{ vatBreakdown: [item('S', 500, 10, vatMinor)], totals: totalsOf(10, vatMinor) },
      });
    await company.apply(note('GS-1', 1));
    const { message } = await company.refusal(note('GS-2', 2));
    t.match(
      message,
      'is 2 and must be 1, the VAT on 10 at 500 basis points, or 0, what is left of its invoice',
    );
    await company.apply(note('GS-2', 0));
    t.match(await documentOf(company, ID), { amountDueMinor: 0, creditBalanceMinor: 0 });
  },
);

onEachEngine('a quote comes in as it was sent, version by version', async (t, testBackoffice) => {
  const company = await openImporter(testBackoffice);
  const sent = await company.apply(
    quoteImport({ id: ID, validUntil: '2026-10-31', buyerReference: 'B', note: 'N' }),
  );
  t.match(sent, { number: 'AN-5', version: 1, status: 'sent', sentDate: '2026-10-01', respondedAt: null });
  t.match(sent, { supersedesQuoteId: null, buyerReference: 'B', note: 'N', ...amountsOf() });
  const next = {
    id: OTHER,
    supersedesQuoteId: ID,
    status: 'accepted',
    respondedAt: '2026-10-07T08:00:00Z',
  } as const;
  for (const [name, given, expected] of [
    ['its number', {}, { code: 'duplicate_id', path: '/with/number' }],
    ['another number', { ...next, number: 'AN-6' }, { path: '/with/supersedesQuoteId' }],
    ['an earlier version', { ...next, version: 1 }, { path: '/with/version' }],
    ['another group', { ...next, quoteGroupId: OTHER }, { path: '/with/quoteGroupId' }],
    [
      'a group that is taken',
      { quoteGroupId: sent.quoteGroupId, number: 'AN-6' },
      { path: '/with/quoteGroupId' },
    ],
    ['an answer before it', { ...next, respondedAt: '2026-09-30T08:00:00Z' }, { path: '/with/respondedAt' }],
    ['an answer to none', { ...next, status: 'sent' }, { path: '/with/respondedAt' }],
    [
      'other sums',
      { number: 'AN-6', totals: totalsOf(1, 2) },
      { code: 'wrong_sums', path: '/with/totals/netMinor' },
    ],
  ] as const)
    t.match(await company.refusal(quoteImport(given)), expected, name);
  const accepted = await company.apply(quoteImport({ ...next, version: 4, notify: true }));
  t.match(accepted, { version: 4, quoteGroupId: sent.quoteGroupId, respondedAt: '2026-10-07T08:00:00.000Z' });
  t.equal((await company.record('quotes', ID))?.status, 'revised');
  t.strictSame(await kindsOf(company), ['quote.accepted']);
  await company.apply({ change: 'quote.convert_to_invoice', with: { id: OTHER } });
  const third = { id: THIRD, supersedesQuoteId: OTHER, status: 'accepted' } as const;
  t.match(await company.refusal(quoteImport(third)), {
    code: 'wrong_state',
    path: '/with/supersedesQuoteId',
  });
  const other = await company.apply(quoteImport({ number: 'AN-6' }));
  t.equal((await company.apply({ change: 'quote.accept', with: { id: other.id } })).status, 'accepted');
});

onEachEngine(
  'imports of a feed are answered one by one, though they come in together',
  async (t, testBackoffice) => {
    const company = await openImporter(testBackoffice);
    const numbers = Array.from({ length: 130 }, (_number, index) => index + 1);
    const lineOf = (number: number) => {
      const totals = number === 120 ? { totals: totalsOf(1, 1) } : {};
      const change = invoiceImport({ number: `RE-${number}`, ...totals });
      return JSON.stringify({ id: String(number), company: company.id, ...change });
    };
    const answersTo = async (input: AsyncIterable<Uint8Array>) => {
      const answers: { id: string; status: string; record?: Invoice; error?: { path: string } }[] = [];
      for await (const { text } of applyFeed(testBackoffice.backoffice, input))
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
    const stamps = await testBackoffice.engine.db.selectFrom('invoices').select('updated_at').execute();
    t.equal(
      new Set(stamps.map(({ updated_at }) => updated_at)).size,
      129,
      'each has a time of change of its own',
    );

    let answered = 0;
    async function* slow() {
      for (const number of [201, 202, 203]) {
        yield Buffer.from(`${lineOf(number)}\n \n`);
        t.equal(answered, number - 200, 'a line is answered before the next one comes');
      }
    }
    for await (const { status } of applyFeed(testBackoffice.backoffice, slow())) {
      t.equal(status, 'applied');
      answered += 1;
    }
  },
);

onEachEngine(
  'a credit note takes the rest after an imported one of other prices',
  async (t, testBackoffice) => {
    const company = await openImporter(testBackoffice);
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
      const after = await documentOf(company, invoice.id);
      t.strictSame([after.amountDueMinor, after.creditBalanceMinor], [0, 0]);
    }
  },
);
