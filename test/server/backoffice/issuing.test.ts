import type { CompanySettings } from '../../../src/server/backoffice/companies.ts';
import type { DraftLine, NewInvoice, ChangeContent } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { findPrinted } from '../../../src/server/invoice-pdf/printing.ts';
import { creditNoteOf, invoiceDraft, issued, line, lineIn, openIssuer } from './_documents.ts';
import { exchange, kindsOf } from './_issued.ts';
import { onSqlite } from './_backoffice.ts';
import { customerSave } from './_changes.ts';
import {
  britishCompany,
  customerIn,
  irishCompany,
  northernIrishCompany,
  unregisteredCompany,
  unregisteredProfile,
} from './_parties.ts';

type Sums = readonly [net: number, vat: number, gross: number];

/** A document that may be issued, with the words and figures that the law wants. */
type Case = readonly [
  name: string,
  customer: Partial<ChangeContent<'customer.save'>>,
  lines: DraftLine[],
  totals: Sums,
  /** The vatExemptionReason of every line that isn't taxed. */
  reason?: string | undefined,
  others?: {
    company?: Partial<CompanySettings>;
    given?: Partial<NewInvoice>;
    /** The reason on its credit note, where it is another. */
    creditReason?: string;
    /** The totals in the company's own currency. */
    accounted?: Sums;
  },
];

const PRINCIPAL_CONTRACTOR = 'VAT on this supply to be accounted for by the Principal Contractor.';
const [EXEMPT, UNREGISTERED] = ['Exempt: VATCA 2010 Sch 1 para 7', 'Not registered for VAT'];
const UNION = 'Intra-Community supply of goods';
const discount = { quantity: '-1', unitPriceMinor: 1000 };
const reduced = (given: Partial<DraftLine> = {}) => line({ vatRateBasisPoints: 1350, ...given });
const british = (given: Partial<DraftLine> = {}) => line({ vatRateBasisPoints: 2000, ...given });
const charged = (unitPriceMinor: number, reverseChargeRateBasisPoints: number) =>
  lineIn('AE', { unitPriceMinor, reverseChargeRateBasisPoints });

const toIreland = customerIn('IE', 'EUR');
const toBritain = customerIn('GB', 'GBP');
const toFrance = customerIn('FR', 'EUR');
const toNorth = { ...toBritain, currency: 'EUR', vatId: 'XI123456782' };
const nowhere = { addressLines: [] };
const plain: Sums = [10_000, 0, 10_000];
const unregistered = { company: unregisteredCompany };
const unregisteredBritish = { ...britishCompany, profile: { ...unregisteredProfile, countryCode: 'GB' } };
const twoRates = '(20% = £2,000.00; 5% = £16.67)';
const adjustment = (amounts: string) =>
  `Reverse charge: Customer to account for the output tax adjustment of ${amounts}`;

const construction = [charged(10_000, 1350), lineIn('AE')];
const unregisteredLine = lineIn('O', { vatExemptionReason: UNREGISTERED });
const small = british({ unitPriceMinor: 20_833 });

const irishCases: Case[] = [
  ['at the standard rate', toIreland, [line()], [10_000, 2300, 12_300]],
  ['at a reduced rate, with a discount', toIreland, [reduced(), reduced(discount)], [9000, 1215, 10_215]],
  ['at the zero rate', toIreland, [lineIn('Z')], plain],
  ['exempt, beside the standard rate', toIreland, [lineIn('E'), line()], [20_000, 2300, 22_300], EXEMPT],
  [
    'construction, without rate or amount',
    toIreland,
    construction,
    [20_000, 0, 20_000],
    PRINCIPAL_CONTRACTOR,
  ],
  ['under reverse charge to another member state', toFrance, [lineIn('AE')], plain, 'Reverse charge'],
  ['goods to another member state', toFrance, [lineIn('K')], plain, UNION],
  ['goods to Northern Ireland', toNorth, [lineIn('K')], plain, UNION],
  ['goods that leave the Union', customerIn('US', 'EUR'), [lineIn('G')], plain, 'Export outside the EU'],
  ['outside the scope of VAT', toIreland, [lineIn('O')], plain, 'Not subject to VAT'],
  ['of a company that isn’t registered', toIreland, [unregisteredLine], plain, UNREGISTERED, unregistered],
  [
    'in a foreign currency',
    { ...toIreland, currency: 'USD' },
    [line(), reduced({ unitPriceMinor: 101 })],
    [10_101, 2314, 12_415],
    undefined,
    { given: { exchange }, accounted: [8603, 1971, 10_574] },
  ],
  [
    'small, without an address',
    { ...toIreland, ...nowhere },
    [line({ unitPriceMinor: 8130 })],
    [8130, 1870, 10_000],
  ],
];

const inPounds = { ...toIreland, currency: 'GBP' };

const britishCases: Case[] = [
  ['at the standard rate', toBritain, [british()], [10_000, 2000, 12_000]],
  ['at the reduced rate', toBritain, [british({ vatRateBasisPoints: 500 })], [10_000, 500, 10_500]],
  ['at the zero rate', toBritain, [lineIn('Z')], plain],
  ['exempt', toBritain, [lineIn('E', { vatExemptionReason: 'Exempt' })], plain, 'Exempt'],
  [
    'construction under reverse charge, with the rate and the VAT that is not charged',
    toBritain,
    [charged(120_000, 2000)],
    [120_000, 0, 120_000],
    'Reverse charge: Customer to pay the VAT to HMRC (20% = £240.00)',
    { creditReason: adjustment('£240.00 to HMRC (20% = £240.00)') },
  ],
  [
    'construction under reverse charge at two rates',
    toBritain,
    [charged(33_333, 500), charged(1_000_001, 2000)],
    [1_033_334, 0, 1_033_334],
    `Reverse charge: Customer to pay the VAT to HMRC ${twoRates}`,
    { creditReason: adjustment(`£2,016.67 to HMRC ${twoRates}`) },
  ],
  ['under reverse charge to another country', inPounds, [lineIn('AE')], plain, 'Reverse charge'],
  ['goods from Northern Ireland', inPounds, [lineIn('K')], plain, UNION, { company: northernIrishCompany }],
  ['goods that are exported', inPounds, [lineIn('G')], plain, 'Zero-rated export'],
  ['unregistered', toBritain, [lineIn('O')], plain, 'Not subject to VAT', { company: unregisteredBritish }],
  [
    'in a foreign currency',
    toIreland,
    [british({ unitPriceMinor: 10_050 })],
    [10_050, 2010, 12_060],
    undefined,
    { given: { exchange }, accounted: [8560, 1712, 10_272] },
  ],
  ['small, without an address', { ...toBritain, ...nowhere }, [small], [20_833, 4167, 25_000]],
];

const totalsOf = ([netMinor, vatMinor, grossMinor]: Sums) => ({ netMinor, vatMinor, grossMinor });
const ISSUED = { status: 'issued', issueDate: '2026-11-20', issuedAt: '2026-11-20T12:00:00.000Z' };

for (const [country, own, cases] of [
  ['Ireland', irishCompany, irishCases],
  ['the United Kingdom', britishCompany, britishCases],
] as const) {
  onSqlite(`a document of ${country} is issued`, async (t, office) => {
    for (const [name, customer, lines, totals, reason = null, others = {}] of cases) {
      const { company: settings = own, given, creditReason = reason, accounted } = others;
      const company = await openIssuer(office, { company: settings, customer });
      const check = (document: Invoice, expected: object) => {
        const words = document.kind === 'credit_note' ? creditReason : reason;
        const reasons = lines.map(({ vatCategory }) => (['S', 'Z'].includes(vatCategory) ? null : words));
        const found = document.lines.map(({ vatExemptionReason }) => vatExemptionReason);
        t.strictSame(found, reasons, `${name}, with the words of the law`);
        t.strictSame(document.totals, totalsOf(totals), name);
        t.strictSame(document.accountingCurrency?.totals, accounted && totalsOf(accounted), name);
        t.match(document, { ...ISSUED, ...expected }, name);
      };
      const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma', lines, ...given }));
      check(proForma, { number: 'PF-2026-0001', supplyDate: null, dueDate: '2026-12-20' });
      t.strictSame(await kindsOf(company), [], 'a pro forma sends nothing');

      const invoice = await issued(company, invoiceDraft({ lines, ...given }));
      check(invoice, { number: 'INV-2026-0001', supplyDate: '2026-11-20', dueDate: '2026-12-20' });
      t.match(invoice, { amountDueMinor: totals[2], creditBalanceMinor: 0, payments: [], refunds: [] });

      // A small invoice needn't name the customer's address, and the credit note of it has to.
      const addressed = { ...customerSave().with, ...customer, id: 'cus_1', addressLines: ['1 Quay Street'] };
      await company.apply({ change: 'customer.save', with: addressed });
      const note = await issued(company, creditNoteOf(invoice, { lines }));
      check(note, { number: 'CN-2026-0001', supplyDate: '2026-11-20', dueDate: null });
      const { id, number, issueDate } = invoice;
      t.match(note.creditedInvoice, { id, number, issueDate });
      t.strictSame(await kindsOf(company), ['invoice.issued', 'credit_note.issued']);
    }
  });
}

onSqlite('a firm in Northern Ireland has XI for goods to the Union, and GB otherwise', async (t, office) => {
  const company = await openIssuer(office, { company: northernIrishCompany, customer: inPounds });
  for (const [own, vatId] of [
    [lineIn('K'), 'XI987654353'],
    [british(), 'GB987654353'],
  ] as const) {
    const { id } = await issued(company, invoiceDraft({ lines: [own] }));
    t.equal((await findPrinted(office.engine.db, company.id, id))?.printed.supplier.vatId, vatId);
  }
});
