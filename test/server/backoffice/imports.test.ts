import type { ChangeContent } from '../../../src/contract/feed.ts';
import { without } from '../../model/_model.ts';
import { inShort, onEachEngine, onSqlite } from './_backoffice.ts';
import { customerSave, siteOf } from './_changes.ts';
import { documentOf, invoiceDraft, issued } from './_documents.ts';
import { exchange, item, kindsOf, totalsOf } from './_issued.ts';
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

const site = without(siteOf('site_old'), 'geo');
const exempt = { vatCategory: 'E', vatRateBasisPoints: 0 } as const;
const supplyPeriod = { startDate: '2026-09-01', endDate: '2026-09-30' };
const whole: Partial<ChangeContent<'invoice.import'>> = {
  id: ID,
  number: '2026/RE 1041-ä',
  issueDate: '2026-10-05',
  issuedAt: '2026-10-05T17:30:00+02:00',
  buyer: { name: 'Old Hotel', addressLines: ['2 Quay'], countryCode: 'IE', vatId: 'IE1234567T', site },
  supplier: { legalName: 'Brennan Heating & Sons', addressLines: ['1 Dock Road'], countryCode: 'IE' },
  supplyPeriod,
  dueDate: '2026-10-12',
  paymentTermsDays: 7,
  currency: 'USD',
  buyerReference: 'PO 7',
  purchaseOrderReference: '4711',
  note: 'Thank you.',
  accountingCurrency: {
    ...{ ...exchange, currency: 'EUR' },
    vatBreakdown: [item('S', 2300, 8517, 1959), item('E', 0, 86, 0)],
    totals: totalsOf(8603, 1959),
  },
  lines: [
    importedLine({ id: 'lin_b', unitCode: 'HUR' }),
    importedLine({ ...exempt, amountMinor: 101, unitPriceMinor: 101, vatExemptionReason: 'Befreit' }),
  ],
  // In any order.
  vatBreakdown: [item('E', 0, 101, 0), item('S', 2300, 10_000, 2300)],
  totals: totalsOf(10_101, 2300),
};
whole.accountingCurrency?.vatBreakdown.reverse();

onEachEngine('an invoice comes in as it was issued', async (t, office) => {
  const company = await openImporter(office);
  const answer = await company.apply(invoiceImport(whole));
  const { buyer, lines = [], supplier, accountingCurrency, ...members } = whole;
  t.match(answer, {
    ...members,
    kind: 'invoice',
    status: 'issued',
    issuedAt: '2026-10-05T15:30:00.000Z',
    createdAt: '2026-11-20T12:00:00.000Z',
    supplyDate: '2026-09-30',
    customer: { id: 'cus_1', name: 'Harbour View Hotel' },
    siteId: 'site_old',
    buyer: { ...buyer, legalName: null, email: null },
    lines: lines.map((one, index) => ({ ...one, position: index + 1 })),
    vatBreakdown: [item('S', 2300, 10_000, 2300), item('E', 0, 101, 0)],
    accountingCurrency: {
      ...accountingCurrency,
      vatBreakdown: [item('S', 2300, 8517, 1959), item('E', 0, 86, 0)],
    },
    payments: [],
    amountDueMinor: 12_401,
    creditNotes: [],
    creditsInvoiceId: null,
    links: { self: `/api/v1/invoices/${ID}` },
  });
  t.strictSame(await documentOf(company, ID), answer, 'and is read as it was answered');
  const row = await office.engine.db.selectFrom('invoices').select('unpublished').executeTakeFirst();
  t.match(JSON.parse(row?.unpublished ?? ''), { supplier, isImported: true });
  t.strictSame(await kindsOf(company), [], 'nobody is told of history');
});

onSqlite('what an import doesn’t give is taken from the customer and its day', async (t, office) => {
  const company = await openImporter(office);
  const { name, addressLines } = customerSave().with;
  await company.apply(customerSave({ id: 'cus_1', sites: [siteOf()] }));
  const old = await company.apply(invoiceImport({ siteId: 'site_1' }));
  t.match(old, {
    ...{ issuedAt: '2026-10-04T23:00:00.000Z', supplyDate: '2026-10-05', dueDate: '2026-11-04' },
    ...{ paymentTermsDays: 30, siteId: 'site_1', accountingCurrency: null, note: null },
    buyer: { name, addressLines, site: { id: 'site_1', label: 'Boiler house' } },
  });
  const given = { number: 'RE-2', issueDate: '2026-11-20', notify: true };
  t.equal((await company.apply(invoiceImport(given))).issuedAt, '2026-11-20T12:00:00.000Z');
  t.strictSame(await kindsOf(company), ['invoice.issued'], 'and who is to be told is told');
});

/** Two lines of odd amounts, with the sums that belong to them. */
const odd = {
  lines: [
    importedLine({ quantity: '3', unitPriceMinor: 3333, amountMinor: 9999 }),
    importedLine({ quantity: '1.5', unitPriceMinor: 101, amountMinor: 152, vatRateBasisPoints: 1350 }),
  ] as const,
  items: [item('S', 2300, 9999, 2300), item('S', 1350, 152, 21)] as const,
  totals: totalsOf(10_151, 2321),
};
const [first, second] = odd.lines;
const [standard, reduced] = odd.items;
const inDollars = (given: object) => ({
  currency: 'USD',
  accountingCurrency: {
    ...{ ...exchange, currency: 'EUR', exchangeRate: '0.5' },
    ...{ vatBreakdown: [item('S', 2300, 5000, 1150), item('S', 1350, 76, 11)], totals: totalsOf(5076, 1161) },
    ...given,
  },
});

/** What is wrong, and how the refusal names it: first where it is. */
const wrongs: [given: Partial<ChangeContent<'invoice.import'>>, where: string, ...says: string[]][] = [
  [
    { lines: [first, { ...second, amountMinor: 151 }] },
    '/with/lines/1/amountMinor is 151 and must be 152, quantity 1.5 times unitPriceMinor 101',
    '/with/vatBreakdown/1/taxableMinor is 152 and must be 151, the sum of its lines',
  ],
  [
    { vatBreakdown: [standard, { ...reduced, vatMinor: 20 }] },
    '/with/vatBreakdown/1/vatMinor is 20 and must be 21, the VAT on 152 at 1350 basis points',
    '/with/totals/vatMinor is 2321 and must be 2320, the sum of vatMinor in vatBreakdown',
  ],
  [{ vatBreakdown: [standard] }, '/with/vatBreakdown has no item of category S at 1350 basis points'],
  [
    { vatBreakdown: [standard, reduced, item('Z', 0, 0, 0)] },
    '/with/vatBreakdown/2 is of category Z at 0 basis points, which no line has',
  ],
  [
    { vatBreakdown: [standard, reduced, reduced] },
    '/with/vatBreakdown/2 is a second item of category S at 1350 basis points',
  ],
  [
    { totals: { ...odd.totals, grossMinor: 12_470 } },
    '/with/totals/grossMinor is 12470 and must be 12472, netMinor and vatMinor together',
  ],
  // The totals have no tolerance.
  [
    { totals: totalsOf(10_152, 2322), tolerate: 'rounding' },
    '/with/totals/netMinor is 10152 and must be 10151, the sum of taxableMinor in vatBreakdown',
    '/with/totals/vatMinor is 2322',
  ],
  // More than the tolerance.
  [
    {
      ...{ tolerate: 'rounding', lines: [{ ...first, amountMinor: 10_001 }, second] },
      ...{ vatBreakdown: [item('S', 2300, 10_003, 2302), reduced], totals: totalsOf(10_155, 2323) },
    },
    '/with/lines/0/amountMinor is 10001 and must be 9999, quantity 3 times unitPriceMinor 3333, give or take 1',
    '/with/vatBreakdown/0/taxableMinor is 10003 and must be 10001, the sum of its lines, give or take 1',
  ],
  // VAT where none is charged.
  [
    {
      lines: [importedLine({ vatCategory: 'AE', vatRateBasisPoints: 0 })],
      ...{ vatBreakdown: [item('AE', 0, 10_000, 1)], totals: totalsOf(10_000, 1) },
    },
    '/with/vatBreakdown/0/vatMinor is 1 and must be 0',
  ],
  [
    inDollars({ vatBreakdown: [item('S', 2300, 5000, 1149), item('S', 1350, 76, 11)] }),
    '/with/accountingCurrency/vatBreakdown/0/vatMinor is 1149 and must be 1150, 2300 at the rate 0.5',
    '/with/accountingCurrency/totals/vatMinor is 1161 and must be 1160',
  ],
];

onSqlite('an import whose sums don’t add up is refused, naming each difference', async (t, office) => {
  const company = await openImporter(office);
  const right = { ...amountsOf([...odd.lines]) };
  t.match(right, { vatBreakdown: odd.items, totals: odd.totals }, 'as the tests believe');
  for (const [given, where, ...says] of wrongs) {
    const refusal = await company.refusal(invoiceImport({ ...right, ...given }));
    t.equal(inShort(refusal), `wrong_sums ${where.split(' ')[0]}`, where);
    for (const text of [where, ...says]) t.ok(refusal.message.includes(text), `${text}: ${refusal.message}`);
  }
  const many = Array.from({ length: 30 }, () => importedLine({ amountMinor: 1 }));
  const { message } = await company.refusal(invoiceImport(amountsOf(many)));
  t.match(message, /\/with\/lines\/19\S+ is 1 .*; 10 more\.$/);
  t.match(await company.apply(invoiceImport({ ...right, ...inDollars({}) })), { totals: odd.totals });
});

const belowZero = importedLine({ quantity: '-1', amountMinor: -10_000 });
const endless = importedLine({ quantity: '999999999', unitPriceMinor: Number.MAX_SAFE_INTEGER });
const other = { ...whole, id: OTHER, number: 'RE-4' };

/** What neither an invoice nor a credit note may be that comes in. */
const refusedOfBoth: [refusal: string, given: Partial<ChangeContent<'invoice.import'>>][] = [
  ['duplicate_id /with/number', { number: 'RE-1' }],
  ['duplicate_id /with/id', { id: ID }],
  // Breaks, and spaces that nobody sees.
  ...['RE\n1', ' 1', 'RE\u00a01', 'RE\u200b1', '\u3164', 'RE1\ufeff'].map(
    (number): (typeof refusedOfBoth)[number] => ['invalid_change /with/number', { number }],
  ),
  ['invalid_change /with/issuedAt', { issuedAt: '2020-05-05T10:00:00Z' }],
  ['invalid_change /with/lines', { lines: [] }],
  ['invalid_change /with/issueDate', { issueDate: '2026-11-22' }],
  ['invalid_change /with/issueDate', { issueDate: '0206-11-22' }],
  ['invalid_change /with/totals/grossMinor', amountsOf([belowZero])],
  ['invalid_change /with/supplyDate', { supplyPeriod, supplyDate: '2026-09-01' }],
  ['unknown_record /with/customerId', { customerId: 'cus_9' }],
  ['unknown_record /with/lines/0/jobId', amountsOf([importedLine({ jobId: 'job_9' })])],
  ['amount_out_of_range /with/lines/0', { lines: [endless] }],
];
const { accountingCurrency = null } = whole;
const twice = amountsOf([importedLine({ quantity: '2', amountMinor: 20_000 })]);

const refusals: [refusal: string, change: object][] = [
  ['invalid_change /with/siteId', invoiceImport({ ...other, siteId: 'site_1' })],
  ['wrong_currency /with/accountingCurrency/currency', invoiceImport({ ...other, currency: 'EUR' })],
  ['invalid_change /with/issueDate', creditNoteImport(ID, { issueDate: '2026-10-04' })],
  ['invalid_change /with/accountingCurrency', creditNoteImport(ID, { accountingCurrency })],
  ['unknown_record /with/creditsInvoiceId', creditNoteImport(OTHER)],
  ['invalid_change /with/customerId', creditNoteImport(ID, { customerId: 'cus_2' })],
  ['wrong_currency /with/currency', creditNoteImport(ID, { currency: 'USD' })],
  ['exceeds_invoice /with/lines', creditNoteImport(ID, twice)],
  ['invalid_change /with/sentDate', quoteImport({ sentDate: '2026-11-22' })],
  ['invalid_change /with/lines', quoteImport({ lines: [] })],
  ['unknown_record /with/customerId', quoteImport({ customerId: 'cus_9' })],
];

onEachEngine('an import is refused that can’t be', async (t, office) => {
  const company = await openImporter(office);
  await company.apply(customerSave({ id: 'cus_2' }));
  await company.apply(invoiceImport({ id: ID }));
  await company.apply(invoiceImport({ number: 'RE-1' }));
  const small = amountsOf([importedLine({ unitPriceMinor: 1, amountMinor: 1 })]);
  const note = await company.apply(creditNoteImport(ID, { number: 'RE-1041', ...small }));
  t.pass('a credit note may have the number of an invoice');
  await company.apply(creditNoteImport(ID, { number: 'RE-1', ...small }));
  const refused = async (refusal: string, change: object) =>
    t.equal(inShort(await company.refusal(change)), refusal);
  for (const [refusal, given] of refusedOfBoth) {
    await refused(refusal, invoiceImport({ number: 'RE-3', ...given }));
    await refused(refusal, creditNoteImport(ID, { ...small, ...given }));
  }
  for (const [refusal, change] of refusals) await refused(refusal, change);
  const { id: proForma } = await issued(company, invoiceDraft({ kind: 'pro_forma' }));
  const { id: draft } = await company.apply(invoiceDraft());
  for (const id of [note.id, proForma, draft])
    await refused('wrong_state /with/creditsInvoiceId', creditNoteImport(id));
  t.match(
    (await company.refusal(creditNoteImport(ID, twice))).message,
    /takes 20000 net .* where 9998 is left/,
  );
});
