import { amountText, rateText } from '../../contract/currencies.ts';
import type { DraftLine } from '../../contract/feed.ts';
import { sumMinor } from '../../contract/exact.ts';
import { type CurrencyConversion, reverseChargeVat } from '../../contract/vat.ts';

/** The countries whose documents can be issued (openapi.yaml, "Invoices"). */
export type SupportedCountry = 'IE' | 'GB';

/** The wording prescribed by Revenue, Tax Briefing 69, beside which no rate or amount may be shown. */
export const PRINCIPAL_CONTRACTOR = 'VAT on this supply to be accounted for by the Principal Contractor.';
const REVERSE_CHARGE = 'Reverse charge';
/** The wording for domestic reverse charge in Britain, one of those that HMRC accepts (VATREVCON37100). */
const DOMESTIC_REVERSE_CHARGE = 'Reverse charge: Customer to pay the VAT to HMRC';
/** Returns HMRC's suggested wording for a credit note, which also states the reduction (VATREVCON39100 and 39200). */
const DOMESTIC_ADJUSTMENT = (amount: string) =>
  `Reverse charge: Customer to account for the output tax adjustment${amount} to HMRC`;
const INTRA_COMMUNITY = 'Intra-Community supply of goods';
const EXPORT: Record<SupportedCountry, string> = { IE: 'Export outside the EU', GB: 'Zero-rated export' };
const OUTSIDE_SCOPE = 'Not subject to VAT';

interface Parties {
  supplierCountry: string | undefined;
  buyerCountry: string;
}

/** The facts about a document that its legal wording depends on. A quote has neither an exchange rate nor a kind. */
export interface LegendTerms extends Parties {
  currency: string;
  isCreditNote: boolean;
  /** The conversion to the company's own currency, in which the VAT is stated too; null if there is none. */
  conversion: CurrencyConversion | null;
}

/** A line with the amount on which legal wording about its VAT is based. */
type StatedLine = Pick<DraftLine, 'vatCategory' | 'reverseChargeRateBasisPoints'> & {
  amountMinor: number;
};

export function isSupported(country: string | undefined): country is SupportedCountry {
  return country === 'IE' || country === 'GB';
}

/** Whether supplier and buyer are in one country, so that any reverse charge is the domestic one on construction. */
export function isWithinCountry({ supplierCountry, buyerCountry }: Parties): boolean {
  return supplierCountry === buyerCountry;
}

/** Wordings for margin schemes by the end of their VATEX code (Directive 2006/112/EC, art. 226 (13) and (14)). */
const MARGIN_SCHEMES: Partial<Record<string, string>> = {
  D: 'Margin scheme: travel agents',
  F: 'Margin scheme: second-hand goods',
  I: 'Margin scheme: works of art',
  J: "Margin scheme: collector's items and antiques",
};

/** Returns the article that a VATEX code stands for, in words: 132(1)(b) for VATEX-EU-132-1B; null for any other code. */
export function exemptionText(code: string | undefined): string | null {
  const [, end = ''] = /^VATEX-EU-(.*)/.exec(code ?? '') ?? [];
  const [, article, paragraph, point] = /^(\d+)-?(\d+)?([A-Z]+)?$/.exec(end) ?? [];
  if (article === undefined) return MARGIN_SCHEMES[end] ?? null;
  const parts = [paragraph, point?.toLowerCase()].flatMap((part) => (part === undefined ? [] : `(${part})`));
  return `Exempt under article ${article}${parts.join('')} of Directive 2006/112/EC`;
}

/**
 * Returns the legally required wording on a line without VAT; null where VAT is charged, for an exemption without a code, and
 * where the supplier's country isn't supported.
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

/** Matches any wording that tells somebody to pay. */
const TO_PAY = /\b(?:pay|paid|account|remit|owe|due|liable)/i;

/**
 * Whether a British credit note's line repeats its invoice's wording that the customer must pay the VAT: a credit note must
 * say the opposite (VATREVCON39100). Wording that only names the law can stay, as HMRC accepts it.
 */
export function asksForReverseCharge(
  { vatCategory, vatExemptionReason }: DraftLine,
  { isCreditNote, supplierCountry }: LegendTerms,
): boolean {
  const isCredited = isCreditNote && supplierCountry === 'GB' && vatCategory === 'AE';
  return isCredited && TO_PAY.test(vatExemptionReason ?? '');
}

/**
 * Returns the British reverse-charge wording with the VAT that the customer accounts for, which the totals leave out; in
 * sterling too where the document is in another currency (reg. 14(1)(l)).
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
