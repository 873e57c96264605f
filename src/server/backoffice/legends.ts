import { amountText, rateText } from '../../contract/currencies.ts';
import type { DraftLine } from '../../contract/feed.ts';
import { sumMinor } from '../../contract/exact.ts';
import { type CurrencyConversion, reverseChargeVat } from '../../contract/vat.ts';

/** The countries whose documents can be issued (openapi.yaml, "Invoices"). */
export type SupportedCountry = 'IE' | 'GB';

/** Prescribed by Revenue, Tax Briefing 69; neither rate nor amount may stand beside it. */
export const PRINCIPAL_CONTRACTOR = 'VAT on this supply to be accounted for by the Principal Contractor.';
const REVERSE_CHARGE = 'Reverse charge';
/** One of the wordings that HMRC accepts (VATREVCON37100). */
const DOMESTIC_REVERSE_CHARGE = 'Reverse charge: Customer to pay the VAT to HMRC';
/** HMRC suggests it for a credit note, which also states the reduction (VATREVCON39100 and 39200). */
const DOMESTIC_ADJUSTMENT = (amount: string) =>
  `Reverse charge: Customer to account for the output tax adjustment${amount} to HMRC`;
const INTRA_COMMUNITY = 'Intra-Community supply of goods';
const EXPORT: Record<SupportedCountry, string> = { IE: 'Export outside the EU', GB: 'Zero-rated export' };
const OUTSIDE_SCOPE = 'Not subject to VAT';

interface Parties {
  supplierCountry: string | undefined;
  buyerCountry: string;
}

/** The facts that the words on a document depend on. A quote has neither exchange nor a kind. */
export interface LegendTerms extends Parties {
  currency: string;
  isCreditNote: boolean;
  /** From the document's currency to the company's own, in which the VAT is stated too. */
  conversion: CurrencyConversion | null;
}

/** A line with the amount that words about its VAT state. */
type StatedLine = Pick<DraftLine, 'vatCategory' | 'reverseChargeRateBasisPoints'> & {
  amountMinor: number;
};

export function isSupported(country: string | undefined): country is SupportedCountry {
  return country === 'IE' || country === 'GB';
}

/** Whether a reverse charge between these is the one on construction within a country. */
export function isWithinCountry({ supplierCountry, buyerCountry }: Parties): boolean {
  return supplierCountry === buyerCountry;
}

/** The margin schemes in the words of Directive 2006/112/EC, art. 226 (13) and (14), by the ends of their codes. */
const MARGIN_SCHEMES: Partial<Record<string, string>> = {
  D: 'Margin scheme: travel agents',
  F: 'Margin scheme: second-hand goods',
  I: 'Margin scheme: works of art',
  J: "Margin scheme: collector's items and antiques",
};

/** A code of VATEX in words, such as VATEX-EU-132-1B for article 132(1)(b); null where there is none. */
export function exemptionText(code: string | undefined): string | null {
  const [, end = ''] = /^VATEX-EU-(.*)/.exec(code ?? '') ?? [];
  const [, article, paragraph, point] = /^(\d+)-?(\d+)?([A-Z]+)?$/.exec(end) ?? [];
  if (article === undefined) return MARGIN_SCHEMES[end] ?? null;
  const parts = [paragraph, point?.toLowerCase()].flatMap((part) => (part === undefined ? [] : `(${part})`));
  return `Exempt under article ${article}${parts.join('')} of Directive 2006/112/EC`;
}

/**
 * The words that the law asks for on a line without VAT; null where they depend on more than the parties (an exemption
 * without a code), where VAT is charged, and where the supplier's country isn't supported.
 */
export function legendOf(
  { vatCategory: category, vatExemptionReasonCode }: DraftLine,
  terms: LegendTerms,
  lines: readonly StatedLine[],
): string | null {
  const { supplierCountry } = terms;
  if (!isSupported(supplierCountry)) return null;
  if (category === 'E') return exemptionText(vatExemptionReasonCode);
  if (category === 'K') return INTRA_COMMUNITY;
  if (category === 'G') return EXPORT[supplierCountry];
  if (category === 'O') return OUTSIDE_SCOPE;
  if (category !== 'AE') return null;
  if (!isWithinCountry(terms)) return REVERSE_CHARGE;
  return supplierCountry === 'IE' ? PRINCIPAL_CONTRACTOR : domesticLegend(terms, lines);
}

/** How somebody is told to pay, in whatever wording. */
const TO_PAY = /\b(?:pay|paid|account|remit|owe|due|liable)/i;

/**
 * Whether a line of a British credit note has the words of its invoice, which tell the customer to pay the VAT: a credit
 * note has to tell the opposite (VATREVCON39100). Words that only name the law may stay, as HMRC accepts them.
 */
export function asksForReverseCharge(
  { vatCategory, vatExemptionReason }: DraftLine,
  { isCreditNote, supplierCountry }: LegendTerms,
): boolean {
  const isCredited = isCreditNote && supplierCountry === 'GB' && vatCategory === 'AE';
  return isCredited && TO_PAY.test(vatExemptionReason ?? '');
}

/**
 * A British document states the VAT that the customer accounts for, and leaves it out of its totals; in sterling too
 * where it is in another currency (reg. 14(1)(l)).
 */
function domesticLegend(
  { currency, isCreditNote, conversion }: LegendTerms,
  lines: readonly StatedLine[],
): string {
  const charged = lines
    .filter(({ vatCategory }) => vatCategory === 'AE')
    .map(({ amountMinor, reverseChargeRateBasisPoints: rateBasisPoints }) => ({
      amountMinor,
      rateBasisPoints,
    }));
  const vat = reverseChargeVat(charged, currency, conversion).sort(
    (a, b) => b.rateBasisPoints - a.rateBasisPoints,
  );
  const stated = vat.map(({ rateBasisPoints, texts }) => [rateText(rateBasisPoints), ...texts].join(' = '));
  const brackets = stated.length === 0 ? '' : ` (${stated.join('; ')})`;
  if (!isCreditNote) return `${DOMESTIC_REVERSE_CHARGE}${brackets}`;
  const sum = amountText(sumMinor(vat.map(({ ownMinor }) => ownMinor)), conversion?.to ?? currency);
  return `${DOMESTIC_ADJUSTMENT(stated.length === 0 ? '' : ` of ${sum}`)}${brackets}`;
}
