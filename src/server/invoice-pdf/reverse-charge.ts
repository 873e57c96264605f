import { minorDigits } from '../../contract/currencies.ts';
import { moneyFormat, rateText } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';

type Line = PrintedDocument['record']['lines'][number];

/** HMRC's words for a document on which only some lines are under the domestic reverse charge (VATREVCON37100). */
const MARKED_LINES =
  'Customer to account to HMRC for the reverse charge output tax on the VAT-exclusive price of items marked reverse charge.';
/** The same for a credit note (VATREVCON39200). */
const MARKED_LINES_CREDITED =
  'Customer to account to HMRC for the adjustment to reverse charge output tax on the VAT exclusive price of items marked reverse charge.';

/**
 * Statements about the domestic reverse charge that a British document needs beside the reasons on its lines: the VAT
 * that the customer accounts for at each rate, where no reason states it, and the lines concerned.
 */
export function reverseChargeStatements(printed: PrintedDocument, reasons: readonly string[]): string[] {
  const { record, supplier } = printed;
  const isBritish = supplier.countryCode === 'GB' && record.buyer.countryCode === 'GB';
  const charged = record.lines.filter(({ vatCategory }) => vatCategory === 'AE');
  if (!isBritish || charged.length === 0) return [];
  const statements = amountStatements(printed, charged, reasons);
  if (charged.length === record.lines.length) return statements;
  return [...statements, record.kind === 'credit_note' ? MARKED_LINES_CREDITED : MARKED_LINES];
}

/**
 * The amount must be stated, and not be included in the total (HMRC VATREVCON37100); on a credit note it is a reduction
 * (39100). It is in sterling too where the document isn't (reg. 14(1)(l)).
 */
function amountStatements(
  { record, reverseChargeRates }: PrintedDocument,
  charged: readonly Line[],
  reasons: readonly string[],
): string[] {
  const { withSymbol } = moneyFormat(record.currency);
  const rates = [...new Set(charged.map(({ id }) => reverseChargeRates[id] ?? 0))].filter((rate) => rate > 0);
  return rates.flatMap((rate) => {
    const ofRate = charged.filter(({ id }) => reverseChargeRates[id] === rate);
    const netMinor = ofRate.reduce((sum, { amountMinor }) => sum + BigInt(amountMinor), 0n);
    const vatMinor = divideHalfUp(netMinor * BigInt(rate), 10_000n);
    const vat = [withSymbol(Number(vatMinor)), ...inAccountingCurrency(record, vatMinor)];
    // Reasons have the minus sign of the keyboard.
    const stated = [rateText(rate), ...vat].join(' = ').replaceAll('\u2212', '-');
    if (reasons.some((reason) => reason.includes(stated))) return [];
    const of = `${rateText(rate)} of ${withSymbol(Number(netMinor))}`;
    return record.kind === 'credit_note'
      ? [`Customer to account for the output tax adjustment of ${vat.join(' = ')} (${of}) to HMRC.`]
      : [
          `VAT of ${vat.join(' = ')} (${of}) is for the customer to pay to HMRC, and is not included in the total.`,
        ];
  });
}

function inAccountingCurrency(
  { currency: from, accountingCurrency }: PrintedDocument['record'],
  amountMinor: bigint,
): string[] {
  if (!accountingCurrency) return [];
  const { currency: to, exchangeRate } = accountingCurrency;
  const [whole = '0', fraction = ''] = exchangeRate.split('.');
  const scaled = amountMinor * BigInt(whole + fraction) * 10n ** BigInt(minorDigits(to));
  const amount = divideHalfUp(scaled, 10n ** BigInt(fraction.length + minorDigits(from)));
  return [moneyFormat(to).withSymbol(Number(amount))];
}

/** Rounds half up, away from zero, as the documents' own VAT is rounded. */
function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const rounded = (2n * magnitude + denominator) / (2n * denominator);
  return numerator < 0n ? -rounded : rounded;
}
