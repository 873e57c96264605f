import type { CompanySettings } from '../../../src/server/access/companies.ts';
import type { DraftLine, NewInvoice, WithOf } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { creditNoteOf, invoiceDraft, issue, issued, line, lineIn, openIssuer } from './_documents.ts';
import { onEachEngine, type TestCompany } from './_backoffice.ts';
import {
  britishCompany,
  customerIn,
  irishCompany,
  northernIrishCompany,
  unregisteredCompany,
  unregisteredProfile,
} from './_vat-situations.ts';

/** A document that may be issued, with the words and figures that the law wants. */
interface Situation {
  name: string;
  company: Partial<CompanySettings>;
  customer: Partial<WithOf<'customer.save'>>;
  lines: DraftLine[];
  given?: Partial<NewInvoice>;
  /** The vatExemptionReason of each line. */
  reasons: (string | null)[];
  /** The same on its credit note, where it is another. */
  creditReasons?: (string | null)[];
  totals: [net: number, vat: number, gross: number];
  /** The totals in the company's own currency. */
  accounted?: [net: number, vat: number, gross: number];
}

const EXEMPT = 'Exempt: VATCA 2010 Sch 1 para 7';
const PRINCIPAL_CONTRACTOR = 'VAT on this supply to be accounted for by the Principal Contractor.';
const British = (given: Partial<DraftLine> = {}) => line({ vatRateBasisPoints: 2000, ...given });
const exchange = { exchangeRate: '0.8517', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' };

const toIreland = customerIn('IE', 'EUR');
const toBritain = customerIn('GB', 'GBP');
const toFrance = customerIn('FR', 'EUR');
const toAmerica = customerIn('US', 'EUR');

const irish: Situation[] = [
  {
    name: 'at the standard rate',
    company: irishCompany,
    customer: toIreland,
    lines: [line()],
    reasons: [null],
    totals: [10_000, 2300, 12_300],
  },
  {
    name: 'at a reduced rate, with a discount',
    company: irishCompany,
    customer: toIreland,
    lines: [
      line({ vatRateBasisPoints: 1350 }),
      line({ vatRateBasisPoints: 1350, quantity: '-1', unitPriceMinor: 1000 }),
    ],
    reasons: [null, null],
    totals: [9000, 1215, 10_215],
  },
  {
    name: 'at the zero rate',
    company: irishCompany,
    customer: toIreland,
    lines: [lineIn('Z')],
    reasons: [null],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'exempt, beside the standard rate',
    company: irishCompany,
    customer: toIreland,
    lines: [lineIn('E'), line()],
    reasons: [EXEMPT, null],
    totals: [20_000, 2300, 22_300],
  },
  {
    name: 'construction under reverse charge, without rate or amount',
    company: irishCompany,
    customer: toIreland,
    lines: [lineIn('AE', { reverseChargeRateBasisPoints: 1350 }), lineIn('AE')],
    reasons: [PRINCIPAL_CONTRACTOR, PRINCIPAL_CONTRACTOR],
    totals: [20_000, 0, 20_000],
  },
  {
    name: 'under reverse charge to another member state',
    company: irishCompany,
    customer: toFrance,
    lines: [lineIn('AE')],
    reasons: ['Reverse charge'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'goods to another member state',
    company: irishCompany,
    customer: toFrance,
    lines: [lineIn('K')],
    reasons: ['Intra-Community supply of goods'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'goods to Northern Ireland',
    company: irishCompany,
    customer: { ...toBritain, currency: 'EUR', vatId: 'XI123456782' },
    lines: [lineIn('K')],
    reasons: ['Intra-Community supply of goods'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'goods that leave the Union',
    company: irishCompany,
    customer: toAmerica,
    lines: [lineIn('G')],
    reasons: ['Export outside the EU'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'outside the scope of VAT',
    company: irishCompany,
    customer: toIreland,
    lines: [lineIn('O')],
    reasons: ['Not subject to VAT'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'of a company that is not registered',
    company: unregisteredCompany,
    customer: toIreland,
    lines: [lineIn('O', { vatExemptionReason: 'Not registered for VAT' })],
    reasons: ['Not registered for VAT'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'in a foreign currency',
    company: irishCompany,
    customer: { ...toIreland, currency: 'USD' },
    lines: [line(), line({ vatRateBasisPoints: 1350, unitPriceMinor: 101 })],
    given: { exchange },
    reasons: [null, null],
    totals: [10_101, 2314, 12_415],
    accounted: [8603, 1971, 10_574],
  },
  {
    name: 'of a small amount, to a customer without an address',
    company: irishCompany,
    customer: { ...toIreland, addressLines: [] },
    lines: [line({ unitPriceMinor: 8130 })],
    reasons: [null],
    totals: [8130, 1870, 10_000],
  },
];

const british: Situation[] = [
  {
    name: 'at the standard rate',
    company: britishCompany,
    customer: toBritain,
    lines: [British()],
    reasons: [null],
    totals: [10_000, 2000, 12_000],
  },
  {
    name: 'at the reduced rate',
    company: britishCompany,
    customer: toBritain,
    lines: [British({ vatRateBasisPoints: 500 })],
    reasons: [null],
    totals: [10_000, 500, 10_500],
  },
  {
    name: 'at the zero rate',
    company: britishCompany,
    customer: toBritain,
    lines: [lineIn('Z')],
    reasons: [null],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'exempt',
    company: britishCompany,
    customer: toBritain,
    lines: [lineIn('E', { vatExemptionReason: 'Exempt: VATA 1994 Sch 9 Group 1' })],
    reasons: ['Exempt: VATA 1994 Sch 9 Group 1'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'construction under reverse charge, with the rate and the VAT that is not charged',
    company: britishCompany,
    customer: toBritain,
    lines: [lineIn('AE', { unitPriceMinor: 120_000, reverseChargeRateBasisPoints: 2000 })],
    reasons: ['Reverse charge: Customer to pay the VAT to HMRC (20% = £240.00)'],
    creditReasons: [
      'Reverse charge: Customer to account for the output tax adjustment of £240.00 to HMRC (20% = £240.00)',
    ],
    totals: [120_000, 0, 120_000],
  },
  {
    name: 'construction under reverse charge at two rates',
    company: britishCompany,
    customer: toBritain,
    lines: [
      lineIn('AE', { unitPriceMinor: 33_333, reverseChargeRateBasisPoints: 500 }),
      lineIn('AE', { unitPriceMinor: 1_000_001, reverseChargeRateBasisPoints: 2000 }),
    ],
    reasons: Array<string>(2).fill(
      'Reverse charge: Customer to pay the VAT to HMRC (20% = £2,000.00; 5% = £16.67)',
    ),
    creditReasons: Array<string>(2).fill(
      'Reverse charge: Customer to account for the output tax adjustment of £2,016.67 to HMRC (20% = £2,000.00; 5% = £16.67)',
    ),
    totals: [1_033_334, 0, 1_033_334],
  },
  {
    name: 'under reverse charge to another country',
    company: britishCompany,
    customer: { ...toIreland, currency: 'GBP' },
    lines: [lineIn('AE')],
    reasons: ['Reverse charge'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'goods from Northern Ireland to a member state',
    company: northernIrishCompany,
    customer: { ...toIreland, currency: 'GBP' },
    lines: [lineIn('K')],
    reasons: ['Intra-Community supply of goods'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'goods that are exported',
    company: britishCompany,
    customer: { ...toIreland, currency: 'GBP' },
    lines: [lineIn('G')],
    reasons: ['Zero-rated export'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'of a company that is not registered',
    company: { ...britishCompany, profile: { ...unregisteredProfile, countryCode: 'GB' } },
    customer: toBritain,
    lines: [lineIn('O')],
    reasons: ['Not subject to VAT'],
    totals: [10_000, 0, 10_000],
  },
  {
    name: 'in a foreign currency',
    company: britishCompany,
    customer: toIreland,
    lines: [British({ unitPriceMinor: 10_050 })],
    given: { exchange },
    reasons: [null],
    totals: [10_050, 2010, 12_060],
    accounted: [8560, 1712, 10_272],
  },
  {
    name: 'of a small amount, to a customer without an address',
    company: britishCompany,
    customer: { ...toBritain, addressLines: [] },
    lines: [British({ unitPriceMinor: 20_833 })],
    reasons: [null],
    totals: [20_833, 4167, 25_000],
  },
];

const totalsOf = ([netMinor, vatMinor, grossMinor]: Situation['totals']) => ({
  netMinor,
  vatMinor,
  grossMinor,
});

/** The words and totals of a document that was issued in a situation, beside the expected ones. */
const shownIn = (
  { reasons, creditReasons = reasons, totals, accounted }: Situation,
  { kind, lines, accountingCurrency }: Invoice,
) => ({
  reasons: lines.map(({ vatExemptionReason }) => vatExemptionReason),
  expectedReasons: kind === 'credit_note' ? creditReasons : reasons,
  totals: totalsOf(totals),
  accounted: accountingCurrency?.totals ?? null,
  expectedAccounted: accounted ? totalsOf(accounted) : null,
});

const kindsOf = async (company: TestCompany) => (await company.events()).map(({ kind }) => kind);

for (const [country, cases] of [
  ['Ireland', irish],
  ['the United Kingdom', british],
] as const) {
  onEachEngine(`a document of ${country} is issued`, async (t, testBackoffice) => {
    for (const situation of cases) {
      const { name, company: settings, customer, lines, given } = situation;
      await t.test(name, async (t) => {
        const company = await openIssuer(testBackoffice, { company: settings, customer });
        const check = (document: Invoice) => {
          const { reasons, expectedReasons, accounted, expectedAccounted, totals } = shownIn(
            situation,
            document,
          );
          t.strictSame(reasons, expectedReasons, 'with the words of the law');
          t.strictSame(document.totals, totals);
          t.strictSame(accounted, expectedAccounted);
          t.match(document, {
            status: 'issued',
            issueDate: '2026-11-20',
            issuedAt: '2026-11-20T12:00:00.000Z',
          });
        };
        const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma', lines, ...given }));
        check(proForma);
        t.match(proForma, {
          kind: 'pro_forma',
          number: 'PF-2026-0001',
          supplyDate: null,
          dueDate: '2026-12-20',
        });
        t.strictSame(await kindsOf(company), [], 'a pro forma sends nothing');

        const invoice = await issued(company, invoiceDraft({ lines, ...given }));
        check(invoice);
        t.match(invoice, {
          kind: 'invoice',
          number: 'INV-2026-0001',
          supplyDate: '2026-11-20',
          dueDate: '2026-12-20',
        });
        t.match(invoice, {
          amountDueMinor: situation.totals[2],
          creditBalanceMinor: 0,
          payments: [],
          refunds: [],
        });

        // A small invoice needn't name the customer's address, and the credit note of it has to.
        await company.apply({ change: 'customer.save', with: { ...wholeCustomer(customer), id: 'cus_1' } });
        const note = await issued(company, creditNoteOf(invoice, { lines }));
        check(note);
        t.match(note, {
          kind: 'credit_note',
          number: 'CN-2026-0001',
          supplyDate: '2026-11-20',
          dueDate: null,
        });
        t.match(note.creditedInvoice, {
          id: invoice.id,
          number: invoice.number,
          issueDate: invoice.issueDate,
        });
        t.strictSame(await kindsOf(company), ['invoice.issued', 'credit_note.issued']);
      });
    }
  });
}

function wholeCustomer(customer: Partial<WithOf<'customer.save'>>): Omit<WithOf<'customer.save'>, 'id'> {
  const addressLines = ['1 Quay Street'];
  const blank = { name: 'Harbour View Hotel', countryCode: 'IE', currency: 'EUR', paymentTermsDays: 30 };
  return { ...blank, ...customer, addressLines };
}

onEachEngine('a draft', async (t, testBackoffice) => {
  await t.test('becomes the issued document, which names what was true at its issue', async (t) => {
    const company = await openIssuer(testBackoffice);
    const draft = await company.apply(
      invoiceDraft({
        supplyDate: '2026-11-10',
        paymentTermsDays: 14,
        buyerReference: 'Kitchen',
        note: 'Thank you.',
      }),
    );
    t.match(draft, { status: 'draft', number: null, issueDate: null, issuedAt: null, dueDate: null });
    t.notOk('payments' in draft || 'amountDueMinor' in draft, 'a draft has no payments');
    testBackoffice.setNow('2026-11-21T09:30:00.000Z');
    const document = await company.apply({ ...issue(draft.id), at: '2026-11-20T23:30:00.000Z' });
    t.strictSame(document, {
      ...draft,
      status: 'issued',
      number: 'INV-2026-0001',
      issueDate: '2026-11-20',
      issuedAt: '2026-11-20T23:30:00.000Z',
      dueDate: '2026-12-04',
      payments: [],
      amountDueMinor: 12_300,
      refunds: [],
      creditBalanceMinor: 0,
      updatedAt: '2026-11-21T09:30:00.000Z',
    });
    t.strictSame(await company.record('invoices', draft.id), document);
  });
});
