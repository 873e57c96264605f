import type { DraftLine, NewInvoice } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { inShort, onEachEngine, onSqlite } from './_backoffice.ts';
import {
  creditNoteOf,
  invoiceDraft,
  issue,
  issued,
  line,
  lineIn,
  openIssuer,
  payment,
} from './_documents.ts';
import { acceptedQuote, balanceOf, edit } from './_issued.ts';
import { britishCompany, customerIn } from './_parties.ts';

const amountsOf = ({ lines, totals }: Pick<Invoice, 'lines' | 'totals'>) => ({
  lines: lines.map(({ unitPriceMinor, amountMinor }) => [unitPriceMinor, amountMinor]),
  totals: Object.values(totals),
});

const of23 = { vatCategory: 'S' as const, vatRateBasisPoints: 2300 };
const why = { reason: 'Agreed in May' };

onSqlite('VAT is taken out of prices that include it, and the total is met', async (t, office) => {
  const company = await openIssuer(office);
  const given = { pricesIncludeVat: true, lines: [line({ vatRateBasisPoints: 1350, unitPriceMinor: 8000 })] };
  const invoice = await issued(company, invoiceDraft(given));
  t.strictSame(amountsOf(invoice), { lines: [[7048, 7048]], totals: [7048, 952, 8000] });
  t.strictSame(amountsOf(await issued(company, creditNoteOf(invoice, given))), amountsOf(invoice));
  t.strictSame(await balanceOf(company, invoice), [0, 0]);
  // 3 x 0.01 at 23 % has a net of 0.02, which the first two lines get: no fraction is larger than another.
  const lines = [1, 1, 1].map((unitPriceMinor) => line({ unitPriceMinor }));
  const cents = await company.apply(invoiceDraft({ pricesIncludeVat: true, lines }));
  const net = cents.lines.map(({ amountMinor }) => amountMinor);
  t.strictSame([...net, ...Object.values(cents.totals)], [1, 1, 0, 2, 1, 3]);
});

onEachEngine('discounts and charges of lines and of the document are taken and added', async (t, office) => {
  const company = await openIssuer(office);
  const pair = line({ unitPriceMinor: 5000, allowances: [{ percent: '10', ...why }] });
  const others = [
    line({ unitPriceMinor: 3000, charges: [{ amountMinor: 250, reasonCode: 'FC' }] }),
    lineIn('Z', { unitPriceMinor: 1000 }),
  ];
  const delivery = { reason: 'Delivery', vatCategory: 'S' as const, vatRateBasisPoints: 1350 };
  const terms = {
    lines: [{ ...pair, quantity: '2' }, ...others],
    allowances: [{ percent: '5', ...why, ...of23 }],
    charges: [{ amountMinor: 1000, ...delivery }],
  };
  const draft = await company.apply(invoiceDraft(terms));
  const net = draft.lines.map(({ amountMinor }) => amountMinor);
  t.strictSame(net, [9000, 3250, 1000]);
  // 5 % of 122.50 is 6.125.
  const breakdown = [
    { category: 'S', rateBasisPoints: 2300, taxableMinor: 11_637, vatMinor: 2677 },
    { category: 'S', rateBasisPoints: 1350, taxableMinor: 1000, vatMinor: 135 },
    { category: 'Z', rateBasisPoints: 0, taxableMinor: 1000, vatMinor: 0 },
  ];
  t.strictSame(draft.vatBreakdown, breakdown);
  const { id } = draft;
  const edited = await company.apply(edit(id, { note: 'Thank you.' }));
  t.strictSame(amountsOf(edited), amountsOf(draft), 'an edit of something else keeps them');
  const other = await company.apply(edit(id, { allowances: [], charges: [] }));
  t.equal(other.totals.netMinor, 13_250, 'they can be taken out');
  await company.apply(edit(id, terms));
  const invoice = await company.apply(issue(id));
  t.strictSame(invoice.vatBreakdown, breakdown);
  const half = await issued(company, creditNoteOf(invoice, { lines: [pair] }));
  // 45.00 of 122.50, less that part of 6.13; and that part of 132.50, which all lines are, of the delivery.
  const taken = half.vatBreakdown.map(({ taxableMinor }) => taxableMinor);
  t.strictSame(taken, [4500 - 225, 340]);
  await issued(company, creditNoteOf(invoice, { lines: [pair, ...others] }));
  t.strictSame(await balanceOf(company, invoice), [0, 0]);
});

onSqlite('a line below zero corrects another with its discount and charge', async (t, office) => {
  const company = await openIssuer(office);
  const adjusted = { allowances: [{ percent: '10', ...why }] };
  const lines = [
    line({ quantity: '2', ...adjusted, charges: [{ amountMinor: 500, reasonCode: 'FC' }] }),
    line({ quantity: '-1', ...adjusted, charges: [{ amountMinor: -250, reasonCode: 'FC' }] }),
  ];
  for (const pricesIncludeVat of [false, true]) {
    const given = { lines, pricesIncludeVat };
    const invoice = await issued(company, invoiceDraft(given));
    t.equal(invoice.totals[pricesIncludeVat ? 'grossMinor' : 'netMinor'], 18_500 - 9250);
    await issued(company, creditNoteOf(invoice, given));
    t.strictSame(await balanceOf(company, invoice), [0, 0]);
  }
});

onSqlite('credit notes of any kind after one another come back to zero', async (t, office) => {
  const company = await openIssuer(office);
  const at = (unitPriceMinor: number) => [lineIn('Z', { unitPriceMinor })];
  const pipe = line({ description: 'Pipe' });
  const discounted = { allowances: [{ percent: '10', ...why }] };
  const cheaper = [{ ...pipe, ...discounted }];
  const cases: [what: string, of: Partial<NewInvoice>, notes: DraftLine[][]][] = [
    ['more rounding than is left', { lines: at(100), roundingMinor: -2 }, [at(99), at(1)]],
    ['a line that is taken back already', { lines: [...cheaper, line()] }, [cheaper, [pipe]]],
  ];
  for (const [what, of, notes] of cases) {
    const invoice = await issued(company, invoiceDraft(of));
    for (const lines of notes) await issued(company, creditNoteOf(invoice, { lines }));
    t.strictSame(await balanceOf(company, invoice), [0, 0], what);
  }
});

onSqlite('a credit note has prices with VAT if its invoice has', async (t, office) => {
  const company = await openIssuer(office);
  for (const pricesIncludeVat of [false, true]) {
    const invoice = await issued(company, invoiceDraft({ pricesIncludeVat }));
    const other = { pricesIncludeVat: !pricesIncludeVat };
    const expected = { code: 'invalid_change', path: '/with/pricesIncludeVat', message: /of the invoice/ };
    t.match(await company.refusal(creditNoteOf(invoice, other)), expected);
    const { id } = await company.apply(creditNoteOf(invoice, { pricesIncludeVat }));
    t.match(await company.refusal(edit(id, other)), expected);
  }
});

onSqlite('prices have up to six decimals, and are for a number of units', async (t, office) => {
  const company = await openIssuer(office);
  const lines = [
    line({ quantity: '1500', unitPrice: '84.275', priceBaseQuantity: '100' }),
    line({ quantity: '1000', unitPrice: '0.000499' }),
    line({ quantity: '3', unitPriceMinor: 1000, priceBaseQuantity: '7' }),
  ];
  const invoice = await issued(company, invoiceDraft({ lines }));
  t.strictSame(amountsOf(invoice).lines.flat(), [84, 126_413, 0, 50, 143, 429]);
  const shown = invoice.lines.map(
    ({ id: _id, position: _position, amountMinor: _amount, ...own }) => own as DraftLine,
  );
  const credit = await issued(company, creditNoteOf(invoice, { lines: shown }));
  t.strictSame(amountsOf(credit), amountsOf(invoice), 'a reader of the API credits them by what it shows');
});

onSqlite('a quote keeps them, and the invoice that is made of it has them', async (t, office) => {
  const company = await openIssuer(office);
  const lines = [line({ unitPrice: '100.005', quantity: '3' })];
  const allowances = [{ percent: '10', ...why, ...of23 }];
  const { id } = await acceptedQuote(company, { pricesIncludeVat: true, lines, allowances });
  const { convertedInvoiceId } = await company.apply({ change: 'quote.convert_to_invoice', with: { id } });
  const invoice = await company.apply(issue(convertedInvoiceId ?? ''));
  // 300.015, rounded, less 30.002, rounded.
  t.equal(invoice.totals.grossMinor, 30_002 - 3000);
});

const of = (given: Partial<DraftLine>) => ({ lines: [line(given)] });
const one = (given: object) => ({ ...why, ...of23, ...given });
const exempt = { amountMinor: 5, vatCategory: 'E' as const, vatRateBasisPoints: 0 };
const unpriced = { lines: [{ ...line(), unitPriceMinor: undefined } as never] };
const share = (percent: string, given: object = why) => [{ percent, ...given }];
const sum = (amountMinor: number, given: object = why) => [{ amountMinor, ...given }];
const at0 = (vatCategory: 'K' | 'E' | 'S', vatRateBasisPoints: number) => ({
  charges: [one({ percent: '5', vatCategory, vatRateBasisPoints })],
});

const off = (allowances: NonNullable<DraftLine['allowances']>, quantity = '1') =>
  of({ quantity, allowances });
const unlike = { ...exempt, vatExemptionReason: 'x' };
const back = of({ quantity: '-1' });
const at9 = one({ percent: '5', vatRateBasisPoints: 900 });
const exported = one({ ...unlike, vatExemptionReasonCode: 'VATEX-EU-G' });
const reasoned = one({ amountMinor: 5, vatExemptionReason: 'x' });
const [discounts, charges] = ['lines/0/allowances', 'lines/0/charges'];

/** Discounts, charges and prices that can't be, by their path and the rule. */
const wrongs: [path: string, rule: RegExp, draft: Partial<NewInvoice>][] = [
  ['lines/0/unitPriceMinor', /no unitPriceMinor/, unpriced],
  ['lines/0/unitPrice', /one of them/, of({ unitPriceMinor: 1, unitPrice: '0.01' })],
  [`${discounts}/0/percent`, /at most 100 %/, off(share('100.0001'))],
  [discounts, /more than the 10000/, off(sum(10_001))],
  [discounts, /more than the -10000 that the line comes to/, off(sum(-10_001), '-1')],
  [`${discounts}/0`, /neither amountMinor nor percent/, off([why])],
  [`${discounts}/0/reason`, /neither reason nor/, off(share('5', {}))],
  [`${discounts}/0/reasonCode`, /5189/, off(share('5', { reasonCode: '43' }))],
  [`${charges}/0/reasonCode`, /7161/, of({ charges: share('5', { reasonCode: '95' }) })],
  [`${discounts}/0/amountMinor`, /5 % of 10000 is 500/, off(share('5', { amountMinor: 502, ...why }))],
  [
    `${discounts}/0/amountMinor`,
    /is 9 of 5; a discount is at most 100 %/,
    off(sum(9, { baseMinor: 5, ...why })),
  ],
  [`${discounts}/0/amountMinor`, /is -1; a discount is below zero only on a line that is/, off(sum(-1))],
  [
    'charges/0/percent',
    /is -500; a charge is below zero only on/,
    { ...back, charges: [one({ percent: '5' })] },
  ],
  ['allowances/0/vatCategory', /which no line has/, { allowances: [at9] }],
  ['charges/0/vatCategory', /which no line has/, at0('K', 0)],
  ['charges/0/vatCategory', /which no line has/, at0('E', 1)],
  ['charges/0/vatCategory', /which no line has/, at0('S', 0)],
  ['charges/0/vatExemptionReason', /has no vatExemptionReason/, { charges: [one(exempt)] }],
  ['charges/0/vatExemptionReasonCode', /VATEX-EU-G.*VATEX for category E/, { charges: [exported] }],
  ['charges/0/vatExemptionReason', /for a charge in a category E that no line has/, { charges: [reasoned] }],
  [
    'allowances/0',
    /take 6, and its lines and charges come to 5/,
    { charges: [one(unlike)], allowances: [one({ ...exempt, amountMinor: 6 })] },
  ],
  [
    'allowances/1',
    /take 10001, and its lines and charges come to 10000/,
    { allowances: [one({ percent: '100' }), one({ amountMinor: 1 })] },
  ],
  ['roundingMinor', /at most one unit of EUR, 100/, { roundingMinor: -101 }],
  ['cashRounding', /one of both/, { roundingMinor: 1, cashRounding: true }],
];

onSqlite('bad discounts, charges and prices are refused by their path and the rule', async (t, office) => {
  const company = await openIssuer(office);
  for (const [path, rule, draft] of wrongs) {
    const refusal = await company.refusal(invoiceDraft(draft));
    t.equal(inShort(refusal), `invalid_change /with/${path}`, refusal.message);
    t.match(refusal.message, rule);
  }
  const tooFine = await company.refusal(invoiceDraft(of({ unitPrice: '1.0000001' })));
  t.equal(tooFine.code, 'invalid_change', 'by the schema');
  const customer = customerIn('GB', 'GBP');
  const british = await openIssuer(office, { company: britishCompany, customer });
  const inBritain = await british.refusal(invoiceDraft({ cashRounding: true }));
  t.match(inBritain, { path: '/with/cashRounding', message: /for EUR in IE/ });
});

onSqlite('the amount to pay is rounded, and the balance with it', async (t, office) => {
  const company = await openIssuer(office);
  const given = { lines: [line({ unitPriceMinor: 10_003 })] };
  const invoice = await issued(company, invoiceDraft({ ...given, cashRounding: true }));
  // 123.04 in cash.
  t.strictSame([invoice.totals.grossMinor, invoice.amountDueMinor], [12_304, 12_305]);
  await company.apply(payment(invoice, { amountMinor: 12_305 }));
  t.strictSame(await balanceOf(company, invoice), [0, 0]);
  const kinds = (await company.events()).map(({ kind }) => kind);
  t.strictSame(kinds, ['invoice.issued', 'payment.recorded', 'invoice.paid']);
  await issued(company, creditNoteOf(invoice, given));
  t.strictSame(await balanceOf(company, invoice), [0, 12_305], 'what was paid is owed back');
  // Divided by five, it would lie nearer to the next number that a double has.
  const large = {
    lines: [line({ unitPriceMinor: 9_007_198_997_982_762, vatCategory: 'Z', vatRateBasisPoints: 0 })],
  };
  t.equal(
    (await issued(company, invoiceDraft({ ...large, cashRounding: true }))).amountDueMinor,
    9_007_198_997_982_760,
  );
});
