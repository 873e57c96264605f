import { moneyFormat, rateText } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';

/**
 * The VAT that a British customer accounts for, at each rate that the lines state, where the reasons don't say it
 * (HMRC VATREVCON37100: the amount must be stated, and not be included in the total).
 */
export function reverseChargeStatements(printed: PrintedDocument, reasons: readonly string[]): string[] {
  const { record, supplier, reverseChargeRates } = printed;
  const isBritish = supplier.countryCode === 'GB' && record.buyer.countryCode === 'GB';
  const charged = record.lines.filter(({ vatCategory }) => vatCategory === 'AE');
  if (!isBritish || charged.length === 0) return [];
  const { withSymbol } = moneyFormat(record.currency);
  const rates = [...new Set(charged.map(({ id }) => reverseChargeRates[id] ?? 0))].filter((rate) => rate > 0);
  return rates.flatMap((rate) => {
    const ofRate = charged.filter(({ id }) => reverseChargeRates[id] === rate);
    const netMinor = ofRate.reduce((sum, { amountMinor }) => sum + BigInt(amountMinor), 0n);
    const vat = withSymbol(shareOf(netMinor, rate));
    if (reasons.some((reason) => reason.includes(`${rateText(rate)} = ${vat}`))) return [];
    return [
      `VAT of ${vat} (${rateText(rate)} of ${withSymbol(Number(netMinor))}) is for the customer to pay to HMRC, and is not included in the total.`,
    ];
  });
}

/** Rounds half up, away from zero, as the documents' own VAT is rounded. */
function shareOf(netMinor: bigint, basisPoints: number): number {
  const scaled = netMinor * BigInt(basisPoints);
  const magnitude = scaled < 0n ? -scaled : scaled;
  const rounded = (magnitude + 5_000n) / 10_000n;
  return Number(scaled < 0n ? -rounded : rounded);
}
