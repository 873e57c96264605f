import { unitCodes } from '../../contract/code-lists.ts';
import { isDeposit } from '../../contract/document-terms.ts';
import type { Invoice } from '../../contract/records.ts';
import { isWithinCountry, PRINCIPAL_CONTRACTOR, type SupportedCountry } from './legends.ts';
import { peppolRule } from './peppol-rule.ts';
import type { Supplier } from '../store/records/suppliers.ts';
import { isToCome } from './times.ts';
import { isVisible, textRules } from './text-rules.ts';
import type { Unpublished } from './unpublished.ts';
import { vatRules } from './vat-rules.ts';

/** A document as it would be printed, but for its number. */
export interface CheckedDocument extends Pick<Unpublished, 'reverseChargeRates' | 'terms' | 'amounts'> {
  document: Omit<Invoice, 'updatedAt' | 'number'>;
  supplier: Supplier;
}

/** A legal requirement and, if a document doesn't meet it, the problem. */
export interface ChecklistItem<Problem = string | undefined> {
  item: string;
  /** The provision of law that contains the requirement. */
  source: string;
  problem: Problem;
}

export type LegalRule = ChecklistItem<(checked: CheckedDocument) => string | undefined>;

/** The currency in which a country requires VAT to be stated, by country. */
const nationalCurrencies: Record<SupportedCountry, string> = { IE: 'EUR', GB: 'GBP' };
const vatIdPatterns: Record<SupportedCountry, RegExp> = { IE: /^IE/, GB: /^(?:GB|XI)/ };
/** The highest total with VAT, in minor units, of a simplified invoice, which needs no customer address; by country. */
const simplifiedMinorMax: Record<SupportedCountry, number> = { IE: 100_00, GB: 250_00 };

/**
 * Returns how a document meets each requirement of Irish and British law for its kind (Irish VAT Regulations 2010 reg. 20;
 * British VAT Regulations 1995 reg. 14 and 15C; EN 16931).
 */
export function checkDocument(checked: CheckedDocument): ChecklistItem[] {
  const ofKind =
    checked.document.kind === 'pro_forma' ? commonRules : [...commonRules, ...taxRules, peppolRule];
  return ofKind.map(({ item, source, problem }) => ({ item, source, problem: problem(checked) }));
}

/** Returns the supplier's country, which is a supported one because `issueInvoice` refuses any other beforehand. */
function countryOf({ supplier }: CheckedDocument): SupportedCountry {
  return supplier.countryCode as SupportedCountry;
}

function when(isWrong: boolean, problem: string): string | undefined {
  return isWrong ? problem : undefined;
}

const commonRules: LegalRule[] = [
  {
    item: "the supplier's full name",
    source: 'IE reg. 20(2)(c), UK reg. 14(1)(d), EN 16931 BR-06',
    problem: ({ supplier }) => when(!isVisible(supplier.legalName), "the company's profile has no legalName"),
  },
  {
    item: "the supplier's address",
    source: 'IE reg. 20(2)(c), UK reg. 14(1)(d), EN 16931 BR-08',
    problem: ({ supplier }) =>
      when(!(supplier.addressLines ?? []).some(isVisible), "the company's profile has no addressLines"),
  },
  {
    item: 'at least one line',
    source: 'IE reg. 20(2)(g), UK reg. 14(1)(g), EN 16931 BR-16',
    problem: ({ document }) => when(document.lines.length === 0, 'it has no lines'),
  },
  {
    item: 'a unit of UN/ECE Recommendation 20 or 21 in every line',
    source: 'EN 16931 BR-CL-23',
    problem: ({ document: { lines } }) => {
      const odd = lines.find(({ unitCode }) => !unitCodes.has(unitCode));
      return (
        odd && `line ${odd.position} has the unitCode ${odd.unitCode}, which isn't one of the Recommendation`
      );
    },
  },
  {
    item: 'a currency of ISO 4217',
    source: 'EN 16931 BR-05',
    problem: ({ document: { currency } }) =>
      when(
        !Intl.supportedValuesOf('currency').includes(currency),
        `its currency ${currency} isn't one of ISO 4217`,
      ),
  },
  {
    item: 'a due day that is not before the day of issue',
    source: 'EN 16931 BT-9',
    problem: ({ document: { dueDate, issueDate } }) =>
      when(
        dueDate !== null && issueDate !== null && dueDate < issueDate,
        `it would be due before its issue, on ${dueDate}`,
      ),
  },
  {
    item: 'an amount that is not below zero',
    source: 'EN 16931, credit notes being documents of their own',
    problem: ({ document: { kind, totals } }) =>
      kind === 'credit_note'
        ? when(totals.grossMinor <= 0, 'a credit note must give something back')
        : when(totals.grossMinor < 0, 'its total is below zero; that takes a credit note'),
  },
  ...textRules,
  ...vatRules,
];

const taxRules: LegalRule[] = [
  {
    item: "the supplier's VAT number",
    source: 'IE reg. 20(2)(c), UK reg. 14(1)(d), EN 16931 BR-CO-09',
    problem: vatIdProblem,
  },
  {
    item: "the customer's address",
    source: 'IE reg. 20(2)(d), UK reg. 14(1)(e)',
    problem: (checked) =>
      when(
        !checked.document.buyer.addressLines.some(isVisible) && !isSimplified(checked),
        'the customer has no addressLines',
      ),
  },
  {
    item: 'the day of the supply',
    source: 'IE reg. 20(2)(h), UK reg. 14(1)(b), EN 16931 BR-IC-11',
    problem: ({ document: { supplyDate, vatBreakdown }, terms }) => {
      // A payment on account has no supply yet.
      const isNeeded = !isDeposit(terms) || vatBreakdown.some(({ category }) => category === 'K');
      return when(supplyDate === null && isNeeded, 'it has no supplyDate');
    },
  },
  {
    item: 'a supply that has happened, or the period of one that is invoiced in advance',
    source: 'IE reg. 20(2)(h), UK reg. 14(1)(b)',
    problem: ({ document: { supplyDate, supplyPeriod, issueDate } }) =>
      when(
        // The issue is the tax point of a contract that is invoiced ahead (UK VATA 1994 s.6(4), IE VATCA 2010 s.74).
        supplyPeriod === null && isToCome(supplyDate, issueDate),
        `its supplyDate is on ${supplyDate ?? ''}, after the day of issue; a supply in advance has a supplyPeriod`,
      ),
  },
  {
    item: 'a rate of exchange that is known',
    source: 'IE s.37(4) VATCA 2010, UK reg. 14(1)(l)',
    problem: ({ document: { accountingCurrency, issueDate } }) => {
      const day = accountingCurrency?.exchangeRateDate ?? null;
      return when(isToCome(day, issueDate), `its exchangeRateDate is ${day ?? ''}, after the day of issue`);
    },
  },
  {
    item: 'the VAT in the national currency',
    source: 'IE s.37(4) VATCA 2010, UK reg. 14(1)(l), Directive 2006/112/EC art. 230',
    problem: currencyProblem,
  },
  {
    item: 'the reason for the credit note',
    source: "Revenue, 'Credit notes: information required'; UK reg. 15C",
    problem: ({ document: { kind, note } }) =>
      when(kind === 'credit_note' && !isVisible(note), 'a credit note needs its reason in note'),
  },
  {
    item: 'a credit note that is not older than its invoice',
    source: 'UK reg. 15C(3)(e)',
    problem: ({ document: { creditedInvoice, issueDate } }) =>
      when(
        creditedInvoice !== null && issueDate !== null && issueDate < creditedInvoice.issueDate,
        `it would be issued before its invoice, which is of ${creditedInvoice?.issueDate ?? ''}`,
      ),
  },
  {
    item: 'the Irish words for construction under reverse charge, without rate or amount',
    source: 'Revenue, Tax Briefing 69',
    problem: principalContractorProblem,
  },
  {
    item: "the words 'reverse charge'",
    source: 'IE reg. 20(2)(e), UK reg. 14(1)(o)',
    problem: reverseChargeProblem,
  },
  {
    item: 'the rate of the British domestic reverse charge',
    source: 'HMRC VATREVCON37100',
    problem: notionalRateProblem,
  },
];

function vatIdProblem(checked: CheckedDocument): string | undefined {
  const { supplier, document } = checked;
  const { vatId } = supplier;
  if (vatId !== undefined) {
    return when(
      !vatIdPatterns[countryOf(checked)].test(vatId),
      `the company's VAT number ${vatId} isn't of its country`,
    );
  }
  return when(
    document.lines.some(({ vatCategory }) => vatCategory !== 'O'),
    "the company's profile has no vatId, so every line must be in category O",
  );
}

function isSimplified(checked: CheckedDocument): boolean {
  const { kind, totals, accountingCurrency } = checked.document;
  const { grossMinor } = accountingCurrency?.totals ?? totals;
  return kind === 'invoice' && grossMinor <= simplifiedMinorMax[countryOf(checked)];
}

function currencyProblem(checked: CheckedDocument): string | undefined {
  const { document, supplier } = checked;
  const national = nationalCurrencies[countryOf(checked)];
  if (supplier.vatId === undefined || document.currency === national) return undefined;
  if (document.accountingCurrency === null) return `it is in ${document.currency} and has no exchange`;
  const { currency } = document.accountingCurrency;
  return when(currency !== national, `its VAT would be stated in ${currency}, and not in ${national}`);
}

const linesUnderReverseCharge = ({ document }: CheckedDocument) =>
  document.lines.filter(({ vatCategory }) => vatCategory === 'AE');

const isDomesticDocument = ({ supplier, document }: CheckedDocument) =>
  isWithinCountry({ supplierCountry: supplier.countryCode, buyerCountry: document.buyer.countryCode });

function principalContractorProblem(checked: CheckedDocument): string | undefined {
  if (countryOf(checked) !== 'IE' || !isDomesticDocument(checked)) return undefined;
  const reasons = linesUnderReverseCharge(checked).map(({ vatExemptionReason }) => vatExemptionReason ?? '');
  if (reasons.some((reason) => !reason.includes(PRINCIPAL_CONTRACTOR))) {
    return `a line in category AE doesn't say "${PRINCIPAL_CONTRACTOR}"`;
  }
  return when(
    reasons.some((reason) => /[%€]|\bEUR\b/.test(reason)),
    'a line in category AE states a rate or an amount, which an Irish one must not',
  );
}

function reverseChargeProblem(checked: CheckedDocument): string | undefined {
  if (countryOf(checked) === 'IE' && isDomesticDocument(checked)) return undefined;
  const isSilent = linesUnderReverseCharge(checked).some(
    ({ vatExemptionReason }) => !/reverse charge/i.test(vatExemptionReason ?? ''),
  );
  return when(isSilent, 'a line in category AE doesn\'t say "Reverse charge"');
}

function notionalRateProblem(checked: CheckedDocument): string | undefined {
  if (countryOf(checked) !== 'GB' || !isDomesticDocument(checked)) return undefined;
  const { allowances = [], charges = [] } = checked.amounts ?? {};
  // The legal wording states only the VAT of lines.
  if ([...allowances, ...charges].some(({ vatCategory }) => vatCategory === 'AE'))
    return 'a discount or charge in category AE is on the document, and must be on its lines';
  const isWithout = linesUnderReverseCharge(checked).some(
    ({ id }) => (checked.reverseChargeRates[id] ?? 0) === 0,
  );
  return when(isWithout, 'a line in category AE has no reverseChargeRateBasisPoints');
}
