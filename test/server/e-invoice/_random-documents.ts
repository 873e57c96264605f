/** Sales in which all that a document can say is mixed at random, and their documents, made by the changes of the feed. */
import fc from 'fast-check';

import type { DocumentTerms, DraftLine, NewInvoice, ChangeContent } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { omit } from '../../../src/contract/document-terms.ts';
import type { CompanySettings } from '../../../src/server/backoffice/companies.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import { taxPoints, typeNames } from '../../../src/server/printed-document/wording.ts';
import { charged, draftIn, type LineVat, type RandomDraft, splitQuantities } from '../backoffice/_amounts.ts';
import type { TestBackoffice, TestCompany } from '../backoffice/_backoffice.ts';
import { customerSave } from '../backoffice/_changes.ts';
import { creditNoteOf, invoiceDraft, issue, issued, lineIn, openIssuer } from '../backoffice/_documents.ts';
import { customerIn } from '../backoffice/_parties.ts';
import * as rich from '../invoice-pdf/_rich-documents.ts';
import { british, irish, northernIrish, unregistered } from '../invoice-pdf/_sales.ts';

type Customer = Partial<ChangeContent<'customer.save'>>;

/** A sale of a company to its customer `cus_1`, and what becomes of its invoice. */
interface RandomSale {
  company: Partial<CompanySettings>;
  customer: Customer;
  draft: Omit<Partial<NewInvoice>, 'lines'> & Pick<RandomDraft, 'lines'>;
  /** The part that a pro forma asked for and got before, in per cent of the invoice. */
  askedPercent: number | undefined;
  /** How many of each line are credited, or all; null for no credit note. */
  credited: readonly number[] | 'all' | null;
}

/** A company, its customer, and the VAT of what it sells to it. */
interface Situation {
  company: Partial<CompanySettings>;
  customer: Customer;
  vats: readonly LineVat[];
  /** Of a currency that isn't the company's. */
  exchangeRate?: string;
}

const free = (vatCategory: LineVat['vatCategory'], members: Partial<LineVat> = {}): LineVat => {
  return { vatCategory, vatRateBasisPoints: 0, ...members };
};
const irishVats = [...charged(2300, 1350, 900, 480), free('Z'), exempt('Exempt: VATCA 2010 Sch 1 para 7')];
const britishVats = [...charged(2000, 500), free('Z'), exempt('Exempt: VATA 1994 Sch 9 Group 6')];
const reverse = [2000, 500].map((rate) => free('AE', { reverseChargeRateBasisPoints: rate }));
const [home, leeds, lyon] = [customerIn('IE', 'EUR'), customerIn('GB', 'GBP'), customerIn('FR', 'EUR')];
const boston = customerIn('US', 'USD');

function exempt(vatExemptionReason: string): LineVat {
  return free('E', { vatExemptionReason });
}

const situations: readonly Situation[] = [
  { company: irish, customer: home, vats: irishVats },
  { company: irish, customer: home, vats: irishVats },
  { company: irish, customer: home, vats: [...irishVats, free('AE')] },
  { company: irish, customer: { ...home, vatId: null }, vats: charged(2300, 50, 10_000) },
  { company: irish, customer: lyon, vats: [free('AE'), ...charged(2300)] },
  { company: irish, customer: lyon, vats: [free('K')] },
  { company: irish, customer: boston, vats: [free('G')], exchangeRate: '0.8613' },
  { company: irish, customer: boston, vats: irishVats, exchangeRate: '0.8613' },
  { company: irish, customer: customerIn('IE', 'JPY'), vats: irishVats, exchangeRate: '0.00556' },
  { company: unregistered, customer: home, vats: [free('O')] },
  { company: british, customer: leeds, vats: britishVats },
  { company: british, customer: leeds, vats: [...britishVats, ...reverse] },
  { company: british, customer: home, vats: [free('G')], exchangeRate: '0.853' },
  { company: northernIrish, customer: home, vats: [free('K')], exchangeRate: '0.853' },
];

/** Any of these members, each drawn for itself. */
const anyOf = <T>(members: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record(members, { requiredKeys: [] });

/** All members of the parts, of which the last one has the last word. */
const joined = <T>(...parts: fc.Arbitrary<object>[]): fc.Arbitrary<T> =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as T);

/** Some of the members that there are. */
const someOf = <T extends object>(members: T): fc.Arbitrary<Partial<T>> =>
  fc
    .subarray(Object.entries(members))
    .map((entries) => Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<T>);

const names = fc.constantFrom(
  ...Object.values(rich.namesInScripts),
  'Ó Briain & Söhne <GmbH>',
  'L’Hôtel "du Rhône"',
  "Łódź, Ağa's ΑΒΓ Жук",
);
/** Most are Peppol's, some are no addresses of its network, and of one the check digits are wrong. */
const electronicAddress = fc.constantFrom(
  ...Array.from({ length: 4 }, () => ({ scheme: '0088', id: '5391234500004' })),
  { scheme: '0208', id: '0202239951' },
  { scheme: '0208', id: '0202239952' },
  { scheme: '0037', id: '12345678' },
  { scheme: 'EM', id: 'invoices@harbour.example' },
);
const place = { town: 'Galway', region: 'Co. Galway', postcode: 'H91 E2V8' };
const addressLines = ['Harbour House', '1 Quay Street', 'Claddagh', 'Galway', 'H91 E2V8'];
const site = { id: 'site_1', label: 'Boiler house', postcode: null, geo: null, countryCode: 'IE' };

const customers: fc.Arbitrary<Customer> = joined(
  someOf(omit(rich.richCustomer, ['name', 'addressLines', 'town', 'region', 'postcode'])),
  someOf({ peppol: true, sites: [{ ...site, addressLines: ['Rear of 1 Quay Street'] }] }),
  someOf(place),
  anyOf({
    name: names,
    legalName: names,
    contactName: names,
    addressLines: fc.oneof(
      fc.array(names, { minLength: 1, maxLength: 4 }),
      fc.nat(4).map((from) => addressLines.slice(from)),
    ),
    electronicAddress,
  }),
);

const profiles: fc.Arbitrary<CompanySettings['profile']> = joined(
  someOf(omit(rich.richProfile, ['legalName', 'addressLines', 'countryCode', 'vatId', 'companyNumber'])),
  someOf({
    paymentLink: 'https://pay.brennan.example/{number}?amount={amount}',
    latePaymentTerms: 'Interest of 8 % over the ECB’s rate (S.I. 580/2012).',
    pageSize: 'Letter' as const,
    addressLines: ['Unit 4, 2 Dock Road', 'Limerick V94 T2WX'],
  }),
  anyOf({ electronicAddress }),
);

const {
  payment = { meansCode: '' },
  delivery,
  notes = [],
  precedingInvoices = [],
  ...others
} = rich.richTerms;

const payments = fc
  .tuple(
    fc.constantFrom('10', '30', '48', '49', '57', '58', '59', 'ZZZ'),
    someOf(omit(payment, ['meansCode'])),
  )
  .map(([meansCode, members]) => ({ ...members, meansCode }));

/** Some payees are the company itself. */
const payees = fc
  .tuple(
    fc.constantFrom('Factoring Limited', 'Brennan Heating & Electrical Limited', 'Brennan'),
    someOf({ ...rich.richTerms.payee, name: undefined }),
  )
  .map(([name, members]) => ({ ...members, name }));

const terms: fc.Arbitrary<DocumentTerms> = joined<DocumentTerms>(
  someOf({ ...others, payee: undefined }),
  anyOf({
    payment: payments,
    payee: payees,
    delivery: someOf(delivery ?? {}).map((members) => ({ ...members, countryCode: 'IE' })),
    precedingInvoices: fc.subarray(precedingInvoices),
    notes: fc.subarray(notes),
    typeCode: fc.constantFrom(...Object.keys(typeNames)),
    taxPointCode: fc.constantFrom(...Object.keys(taxPoints)),
  }),
)
  // A document has a code of its tax point or the day.
  .map((all) => (all.taxPointCode ? omit(all, ['taxPointDate']) : all));

const quantity = fc.constantFrom('2.5', '0.75', '12.125', '1.015625', '99999.5');
const openPeriod = fc.constantFrom({ startDate: '2026-11-03' }, { endDate: '2026-11-14' });
const details = fc.tuple(
  fc.oneof(fc.constant(''), names),
  someOf({ ...rich.richLine, unitCode: 'HUR' }),
  anyOf({ quantity, supplyPeriod: openPeriod }),
);

const facts = someOf({
  supplyPeriod: { startDate: '2026-11-01', endDate: '2026-11-14' },
  buyerReference: 'Cost centre 12',
  purchaseOrderReference: 'PO-7',
  note: 'Thank you & come again.\n"Gate 2" <rear>',
  paymentTermsDays: 14,
});

/** Prepayments that other systems asked for. */
const prepayments = fc.subarray([
  { amountMinor: 123, paidOn: '2026-11-10', method: 'card' as const, reference: 'DEP-4' },
  { amountMinor: 7, paidOn: '2026-11-11', method: 'cash' as const },
]);

function saleIn({ company, customer, vats, exchangeRate }: Situation): fc.Arbitrary<RandomSale> {
  const [first] = vats;
  const leaves = first?.vatCategory === 'K' || first?.vatCategory === 'G';
  const exchange = { exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' };
  const isCashThere = company.currency === undefined && exchangeRate === undefined;
  const given = fc.record({
    amounts: draftIn(vats),
    profile: profiles,
    buyer: customers,
    facts,
    own: anyOf({ terms, prepayments }),
    details: fc.array(details, { minLength: 4, maxLength: 4 }),
    returned: fc.subarray([
      lineIn('Z', { ...first, description: 'Returned', quantity: '-1', unitPriceMinor: 199 }),
    ]),
    cash: isCashThere ? someOf({ cashRounding: true }) : fc.constant({}),
    askedPercent: fc.constantFrom(undefined, undefined, 20, 100),
    credited: fc.constantFrom(null, 'all' as const, [1, 0, 2, 3], [0, 3, 1]),
  });
  return given.map(({ amounts, profile, buyer, returned, cash, ...sale }) => ({
    company: { ...company, profile: { ...company.profile, ...profile } },
    customer: { ...buyer, ...omit(customer, ['addressLines']) },
    draft: {
      ...sale.facts,
      ...amounts,
      ...sale.own,
      ...(amounts.roundingMinor === undefined ? cash : {}),
      ...(exchangeRate === undefined ? {} : { exchange: { ...exchange, exchangeRate } }),
      // Goods that leave go to where the customer is.
      ...(buyer.sites && !leaves ? { siteId: site.id } : {}),
      lines: [...amounts.lines.map((line, index) => detailed(line, index, sale.details[index])), ...returned],
    },
    askedPercent: sale.askedPercent,
    credited: sale.credited,
  }));
}

function detailed(
  line: DraftLine,
  index: number,
  [name = '', ...members]: readonly [name?: string, ...members: Partial<DraftLine>[]] = [],
): DraftLine {
  const detail = Object.assign({}, line, ...members) as DraftLine;
  // No two lines have one number.
  const lineNumber = detail.lineNumber && `${detail.lineNumber}${index}`;
  return { ...detail, ...(lineNumber && { lineNumber }), description: `Item ${index + 1}\n${name}`.trim() };
}

export const randomSale: fc.Arbitrary<RandomSale> = fc.oneof(...situations.map(saleIn));

/** Issues the documents of a sale: the pro forma, the invoice and the credit note, as far as none is refused. */
export async function issueSale(
  testBackoffice: TestBackoffice,
  sale: RandomSale,
): Promise<{ company: TestCompany; documents: Invoice[]; refusal?: string }> {
  const company = await openIssuer(testBackoffice, sale);
  // The feed's own rules hold for the profile too.
  await company.apply({ change: 'company.save', with: omit(sale.company.profile ?? {}, ['logo']) });
  const documents: Invoice[] = [];
  try {
    for await (const document of documentsOf(company, sale)) documents.push(document);
    return { company, documents };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { company, documents, refusal: error.message };
  }
}

async function* documentsOf(
  company: TestCompany,
  { customer, draft, askedPercent, credited }: RandomSale,
): AsyncGenerator<Invoice> {
  const { prepayments: paid = [], ...unpaid } = draft;
  const { id, totals } = await company.apply(invoiceDraft(unpaid));
  const all = [...paid];
  if (askedPercent !== undefined && totals.grossMinor > 1000) {
    const ofProForma = { kind: 'pro_forma' as const, terms: omit(unpaid.terms ?? {}, ['typeCode']) };
    const asking = await issued(company, invoiceDraft({ ...unpaid, ...ofProForma }));
    yield asking;
    // Some is left for what was paid besides.
    const amountMinor = Math.floor((totals.grossMinor * askedPercent) / 100) - 900;
    const asked = { paidOn: '2026-11-12', method: 'bank_transfer' as const, documentId: asking.id };
    if (amountMinor > 0) all.push({ ...asked, amountMinor });
  }
  await company.apply({ change: 'invoice.edit', with: { id, prepayments: all } });
  const invoice = await company.apply(issue(id)).catch(async (error: unknown) => {
    if (!(error instanceof Refusal) || !error.message.includes(' for Peppol, ')) throw error;
    await company.apply(customerSave({ ...customer, id: 'cus_1', peppol: false }));
    return company.apply(issue(id));
  });
  yield invoice;
  if (credited === null) return;
  const { lines, pricesIncludeVat = false } = draft;
  const sold = lines.filter(({ quantity }) => !quantity.startsWith('-'));
  const credits = credited === 'all' ? lines : splitQuantities(sold, credited)[0];
  const note = await company.apply(creditNoteOf(invoice, { lines: credits, pricesIncludeVat }));
  if (note.totals.grossMinor > 0) yield await company.apply(issue(note.id));
}
