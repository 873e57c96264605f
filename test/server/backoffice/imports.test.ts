import type { WithOf } from '../../../src/contract/feed.ts';
import { onEachEngine } from './_backoffice.ts';
import { documentOf } from './_documents.ts';
import {
  amountsOf,
  creditNoteImport,
  importedLine,
  invoiceImport,
  item,
  kindsOf,
  openImporter,
  totalsOf,
} from './_imports.ts';

const ID = '01930000-0000-7000-8000-000000000001';
const OTHER = '01930000-0000-7000-8000-000000000002';

const site = {
  id: 'site_old',
  label: 'Old depot',
  addressLines: ['Pier 4'],
  countryCode: 'IE',
  postcode: null,
};
const whole: Partial<WithOf<'invoice.import'>> = {
  id: ID,
  number: '2026/RE 1041-ä',
  issueDate: '2026-10-05',
  issuedAt: '2026-10-05T17:30:00+02:00',
  buyer: {
    name: 'Harbour Hotel (old)',
    addressLines: ['2 Quay'],
    countryCode: 'IE',
    vatId: 'IE1234567T',
    site,
  },
  supplier: { legalName: 'Brennan Heating & Sons', addressLines: ['1 Dock Road'], countryCode: 'IE' },
  supplyPeriod: { startDate: '2026-09-01', endDate: '2026-09-30' },
  dueDate: '2026-10-12',
  paymentTermsDays: 7,
  currency: 'USD',
  buyerReference: 'PO 7',
  purchaseOrderReference: '4711',
  note: 'Thank you.',
  accountingCurrency: {
    currency: 'EUR',
    exchangeRate: '0.8517',
    exchangeRateDate: '2026-10-02',
    exchangeRateSource: 'ECB',
    vatBreakdown: [item('S', 2300, 8517, 1959), item('E', 0, 86, 0)],
    totals: totalsOf(8603, 1959),
  },
  lines: [
    importedLine({ id: 'lin_b', unitCode: 'HUR' }),
    importedLine({ amountMinor: 101, unitPriceMinor: 101, vatCategory: 'E', vatRateBasisPoints: 0, vatExemptionReason: 'Befreit' }), // prettier-ignore
  ],
  // In any order.
  vatBreakdown: [item('E', 0, 101, 0), item('S', 2300, 10_000, 2300)],
  totals: totalsOf(10_101, 2300),
};
whole.accountingCurrency?.vatBreakdown.reverse();

onEachEngine('an invoice comes in as it was issued', async (t, testBackoffice) => {
  const company = await openImporter(testBackoffice);
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
  const row = await testBackoffice.engine.db.selectFrom('invoices').select('unpublished').executeTakeFirst();
  t.match(JSON.parse(row?.unpublished ?? ''), { supplier, isImported: true });
  t.strictSame(await kindsOf(company), [], 'nobody is told of history');
});

onEachEngine(
  'what an import doesn’t give is taken from the customer and its day',
  async (t, testBackoffice) => {
    const company = await openImporter(testBackoffice);
    const sites = [{ ...site, id: 'site_1', geo: null }];
    const { name, addressLines } = await company.record('customers', 'cus_1').then((found) => found ?? Promise.reject(new Error('none'))); // prettier-ignore
    await company.apply({
      change: 'customer.save',
      with: {
        id: 'cus_1',
        name,
        addressLines,
        countryCode: 'IE',
        currency: 'EUR',
        paymentTermsDays: 30,
        sites,
      },
    });
    const old = await company.apply(invoiceImport({ siteId: 'site_1' }));
    t.match(old, {
      issuedAt: '2026-10-04T23:00:00.000Z',
      supplyDate: '2026-10-05',
      dueDate: '2026-11-04',
      paymentTermsDays: 30,
      siteId: 'site_1',
      buyer: { name, addressLines, site: { id: 'site_1', label: 'Old depot' } },
      accountingCurrency: null,
      note: null,
    });
    const today = await company.apply(
      invoiceImport({ number: 'RE-2', issueDate: '2026-11-20', notify: true }),
    );
    t.equal(today.issuedAt, '2026-11-20T12:00:00.000Z');
    t.strictSame(await kindsOf(company), ['invoice.issued'], 'and who is to be told is told');
  },
);

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
    ...{ currency: 'EUR', exchangeRate: '0.5', exchangeRateDate: '2026-10-02', exchangeRateSource: 'ECB' },
    ...{ vatBreakdown: [item('S', 2300, 5000, 1150), item('S', 1350, 76, 11)], totals: totalsOf(5076, 1161) },
    ...given,
  },
});

type Wrong = readonly [
  name: string,
  given: Partial<WithOf<'invoice.import'>>,
  path: string,
  ...says: string[],
];

const wrongs: Wrong[] = [
  [
    'a line',
    { lines: [first, { ...second, amountMinor: 151 }] },
    '/with/lines/1/amountMinor',
    '/with/lines/1/amountMinor is 151 and must be 152, quantity 1.5 times unitPriceMinor 101',
    '/with/vatBreakdown/1/taxableMinor is 152 and must be 151, the sum of its lines',
  ],
  [
    'the VAT of a rate',
    { vatBreakdown: [standard, { ...reduced, vatMinor: 20 }] },
    '/with/vatBreakdown/1/vatMinor',
    '/with/vatBreakdown/1/vatMinor is 20 and must be 21, the VAT on 152 at 1350 basis points',
    '/with/totals/vatMinor is 2321 and must be 2320, the sum of vatMinor in vatBreakdown',
  ],
  [
    'a rate',
    { vatBreakdown: [standard] },
    '/with/vatBreakdown',
    'has no item of category S at 1350 basis points',
  ],
  [
    'a rate without a line',
    { vatBreakdown: [standard, reduced, item('Z', 0, 0, 0)] },
    '/with/vatBreakdown/2',
    'is of category Z at 0 basis points, which no line has',
  ],
  [
    'a rate that comes twice',
    { vatBreakdown: [standard, reduced, reduced] },
    '/with/vatBreakdown/2',
    'is a second item of category S at 1350 basis points',
  ],
  [
    'the total with VAT',
    { totals: { ...odd.totals, grossMinor: 12_470 } },
    '/with/totals/grossMinor',
    'is 12470 and must be 12472, netMinor and vatMinor together',
  ],
  [
    'the totals, which have no tolerance',
    { totals: totalsOf(10_152, 2322), tolerate: 'rounding' },
    '/with/totals/netMinor',
    '/with/totals/netMinor is 10152 and must be 10151, the sum of taxableMinor in vatBreakdown',
    '/with/totals/vatMinor is 2322',
  ],
  [
    'more than the tolerance',
    {
      tolerate: 'rounding',
      lines: [{ ...first, amountMinor: 10_001 }, second],
      vatBreakdown: [item('S', 2300, 10_003, 2302), reduced],
      totals: totalsOf(10_155, 2323),
    },
    '/with/lines/0/amountMinor',
    '/with/lines/0/amountMinor is 10001 and must be 9999, quantity 3 times unitPriceMinor 3333, give or take 1',
    '/with/vatBreakdown/0/taxableMinor is 10003 and must be 10001, the sum of its lines, give or take 1',
  ],
  [
    'VAT where none is charged',
    {
      lines: [importedLine({ vatCategory: 'AE', vatRateBasisPoints: 0 })],
      vatBreakdown: [item('AE', 0, 10_000, 1)],
      totals: totalsOf(10_000, 1),
    },
    '/with/vatBreakdown/0/vatMinor',
    'is 1 and must be 0',
  ],
  [
    'an amount in the accounting currency',
    inDollars({ vatBreakdown: [item('S', 2300, 5000, 1149), item('S', 1350, 76, 11)] }),
    '/with/accountingCurrency/vatBreakdown/0/vatMinor',
    'is 1149 and must be 1150, 2300 at the rate 0.5',
    '/with/accountingCurrency/totals/vatMinor is 1161 and must be 1160',
  ],
];

onEachEngine(
  'an import whose sums don’t add up is refused, naming each difference',
  async (t, testBackoffice) => {
    const company = await openImporter(testBackoffice);
    const right = { ...amountsOf([...odd.lines]) };
    t.match(right, { vatBreakdown: odd.items, totals: odd.totals }, 'as the tests believe');
    for (const [name, given, path, ...says] of wrongs) {
      const refusal = await company.refusal(invoiceImport({ ...right, ...given }));
      t.match(refusal, { code: 'wrong_sums', path }, name);
      for (const text of says) t.ok(refusal.message.includes(text), `${name}: ${refusal.message}`);
    }
    const many = Array.from({ length: 30 }, () => importedLine({ amountMinor: 1 }));
    t.match(
      (await company.refusal(invoiceImport(amountsOf(many)))).message,
      /\/with\/lines\/19\S+ is 1 .*; 10 more\.$/,
    );
    t.match(await company.apply(invoiceImport({ ...right, ...inDollars({}) })), { totals: odd.totals });
  },
);

const refusals: [name: string, change: object, expected: object][] = [
  ['a number that is taken', invoiceImport(), { code: 'duplicate_id', path: '/with/number' }],
  [
    'an id that is taken',
    invoiceImport({ id: ID, number: 'RE-3' }),
    { code: 'duplicate_id', path: '/with/id' },
  ],
  [
    'a number with a line break',
    invoiceImport({ number: 'RE\n1' }),
    { code: 'invalid_change', path: '/with/number' },
  ],
  [
    'a number with a space in front',
    invoiceImport({ number: ' 1' }),
    { code: 'invalid_change', path: '/with/number' },
  ],
  ...['RE\u00a01', 'RE\u200b1', '\u3164', 'RE1\ufeff'].map((number): (typeof refusals)[number] => [
    'a number with a character that nobody sees',
    invoiceImport({ number }),
    { code: 'invalid_change', path: '/with/number' },
  ]),
  ['a moment of issue on another day', invoiceImport({ number: 'RE-3', issuedAt: '2020-05-05T10:00:00Z' }), { code: 'invalid_change', path: '/with/issuedAt' }], // prettier-ignore
  ['a credit note older than its invoice', creditNoteImport(ID, { issueDate: '2026-10-04' }), { code: 'invalid_change', path: '/with/issueDate' }], // prettier-ignore
  ['a credit note with another exchange rate', creditNoteImport(ID, { accountingCurrency: whole.accountingCurrency ?? null }), { code: 'invalid_change', path: '/with/accountingCurrency' }], // prettier-ignore
  ['a credit note below zero', creditNoteImport(ID, amountsOf([importedLine({ quantity: '-1', amountMinor: -10_000 })])), { code: 'invalid_change', path: '/with/totals/grossMinor' }], // prettier-ignore
  ['no lines', invoiceImport({ lines: [] }), { code: 'invalid_change', path: '/with/lines' }],
  [
    'a day to come',
    invoiceImport({ number: 'RE-3', issueDate: '2026-11-22' }),
    { code: 'invalid_change', path: '/with/issueDate' },
  ],
  [
    'a mistyped day',
    invoiceImport({ number: 'RE-3', issueDate: '0206-11-22' }),
    { code: 'invalid_change', path: '/with/issueDate' },
  ],
  [
    'a day of supply beside another period',
    invoiceImport({ ...whole, supplyDate: '2026-09-01', number: 'RE-4', id: OTHER }),
    { code: 'invalid_change', path: '/with/supplyDate' },
  ],
  [
    'two sites',
    invoiceImport({ ...whole, siteId: 'site_1', number: 'RE-4', id: OTHER }),
    { code: 'invalid_change', path: '/with/siteId' },
  ],
  ['a customer that isn’t there', invoiceImport({ number: 'RE-3', customerId: 'cus_9' }), { code: 'unknown_record', path: '/with/customerId' }], // prettier-ignore
  [
    'a job that isn’t there',
    invoiceImport({ number: 'RE-3', ...amountsOf([importedLine({ jobId: 'job_9' })]) }),
    { code: 'unknown_record', path: '/with/lines/0/jobId' },
  ],
  [
    'an accounting currency that isn’t the company’s',
    invoiceImport({ ...whole, number: 'RE-4', id: OTHER, currency: 'EUR' }),
    { code: 'wrong_currency', path: '/with/accountingCurrency/currency' },
  ],
  [
    'a total below zero',
    invoiceImport({ number: 'RE-4', ...amountsOf([importedLine({ quantity: '-1', amountMinor: -10_000 })]) }),
    { code: 'invalid_change', path: '/with/totals/grossMinor' },
  ],
  [
    'more than a number can hold',
    invoiceImport({
      number: 'RE-4',
      ...amountsOf(),
      lines: [importedLine({ quantity: '999999999', unitPriceMinor: 9_007_199_254_740_991 })],
    }),
    { code: 'amount_out_of_range' },
  ],
  [
    'a credit note of no invoice',
    creditNoteImport(OTHER),
    { code: 'unknown_record', path: '/with/creditsInvoiceId' },
  ],
  [
    'a credit note in another currency',
    creditNoteImport(ID, { currency: 'USD' }),
    { code: 'wrong_currency', path: '/with/currency' },
  ],
  [
    'a credit note of more than its invoice',
    creditNoteImport(ID, amountsOf([importedLine({ quantity: '2', amountMinor: 20_000 })])),
    { code: 'exceeds_invoice', path: '/with/lines', message: /takes 20000 net .* where 10000 is left/ },
  ],
];

onEachEngine('an import is refused that can’t be', async (t, testBackoffice) => {
  const company = await openImporter(testBackoffice);
  await company.apply(invoiceImport({ id: ID }));
  for (const [name, change, expected] of refusals) t.match(await company.refusal(change), expected, name);
  await company.apply(creditNoteImport(ID, { number: 'RE-1041' }));
  t.pass('a credit note may have the number of an invoice');
});
