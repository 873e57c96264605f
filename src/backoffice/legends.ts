import type { DraftLine } from '../contract/feed.ts';
import { lineAmountMinor, sumMinor, vatMinor } from './vat.ts';

/** The countries whose documents can be issued (service.md, "What the service does"). */
export type SupportedCountry = 'IE' | 'GB';

/** Prescribed by Revenue, Tax Briefing 69; neither rate nor amount may stand beside it. */
export const PRINCIPAL_CONTRACTOR = 'VAT on this supply to be accounted for by the Principal Contractor.';
const REVERSE_CHARGE = 'Reverse charge';
/** One of the wordings that HMRC accepts (VATREVCON37100). */
const DOMESTIC_REVERSE_CHARGE = 'Reverse charge: Customer to pay the VAT to HMRC';
const INTRA_COMMUNITY = 'Intra-Community supply of goods';
const EXPORT: Record<SupportedCountry, string> = { IE: 'Export outside the EU', GB: 'Zero-rated export' };
const OUTSIDE_SCOPE = 'Not subject to VAT';

/** Between whom a document is. */
export interface Parties {
  supplierCountry: string | undefined;
  buyerCountry: string;
  currency: string;
}

export function isSupported(country: string | undefined): country is SupportedCountry {
  return country === 'IE' || country === 'GB';
}

/** Whether a reverse charge between these is the one on construction within a country. */
export function isDomestic({ supplierCountry, buyerCountry }: Parties): boolean {
  return supplierCountry === buyerCountry;
}

/**
 * The words that the law asks for on a line without VAT; null where they depend on more than the parties (an
 * exemption), where VAT is charged, and where the supplier's country isn't supported.
 */
export function legendOf(
  category: DraftLine['vatCategory'],
  parties: Parties,
  lines: readonly DraftLine[],
): string | null {
  const { supplierCountry } = parties;
  if (!isSupported(supplierCountry)) return null;
  if (category === 'K') return INTRA_COMMUNITY;
  if (category === 'G') return EXPORT[supplierCountry];
  if (category === 'O') return OUTSIDE_SCOPE;
  if (category !== 'AE') return null;
  if (!isDomestic(parties)) return REVERSE_CHARGE;
  return supplierCountry === 'IE' ? PRINCIPAL_CONTRACTOR : domesticLegend(parties.currency, lines);
}

/** A British document states the VAT that the customer accounts for, and leaves it out of its totals. */
function domesticLegend(currency: string, lines: readonly DraftLine[]): string {
  const charged = lines.filter(({ vatCategory }) => vatCategory === 'AE');
  const rates = [...new Set(charged.map((line) => line.reverseChargeRateBasisPoints ?? 0))]
    .filter((rate) => rate > 0)
    .sort((a, b) => b - a);
  const amounts = rates.map((rate) => {
    const ofRate = charged.filter((line) => line.reverseChargeRateBasisPoints === rate);
    const taxableMinor = sumMinor(
      ofRate.map(({ quantity, unitPriceMinor }) => lineAmountMinor(quantity, unitPriceMinor)),
    );
    return `${rate / 100}% = ${moneyText(vatMinor(taxableMinor, rate), currency)}`;
  });
  return amounts.length === 0
    ? DOMESTIC_REVERSE_CHARGE
    : `${DOMESTIC_REVERSE_CHARGE} (${amounts.join('; ')})`;
}

function moneyText(amountMinor: number, currency: string): string {
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  const text = String(Math.abs(amountMinor)).padStart(digits + 1, '0');
  const decimal = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  // As text, an amount beyond a double's fifteen digits keeps its cents.
  return format.format(`${amountMinor < 0 ? '-' : ''}${decimal}` as Intl.StringNumericLiteral);
}
