import { rateText } from '../../contract/currencies.ts';
import { reverseChargeVat } from '../../contract/vat.ts';
import { moneyFormat, withMinus } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';

type Line = PrintedDocument['record']['lines'][number];

/** HMRC's wording for a document with only some lines under the domestic reverse charge (VATREVCON37100). */
const MARKED_LINES =
  'Customer to account to HMRC for the reverse charge output tax on the VAT-exclusive price of items marked reverse charge.';
/** HMRC's wording for a credit note (VATREVCON39200). */
const MARKED_LINES_CREDITED =
  'Customer to account to HMRC for the adjustment to reverse charge output tax on the VAT exclusive price of items marked reverse charge.';

/**
 * Returns the domestic reverse charge statements that a British document needs beside the reasons on its lines: the VAT
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
  const { currency, accountingCurrency } = record;
  const lines = charged.map(({ id, amountMinor }) => ({
    amountMinor,
    rateBasisPoints: reverseChargeRates[id],
  }));
  const conversion = accountingCurrency && {
    ...accountingCurrency,
    from: currency,
    to: accountingCurrency.currency,
  };
  return reverseChargeVat(lines, currency, conversion).flatMap(({ rateBasisPoints, netMinor, texts }) => {
    const rate = rateText(rateBasisPoints);
    if (reasons.some((reason) => reason.includes([rate, ...texts].join(' = ')))) return [];
    const vat = texts.map(withMinus).join(' = ');
    const of = `${rate} of ${moneyFormat(currency).withSymbol(netMinor)}`;
    return record.kind === 'credit_note'
      ? [`Customer to account for the output tax adjustment of ${vat} (${of}) to HMRC.`]
      : [`VAT of ${vat} (${of}) is for the customer to pay to HMRC, and is not included in the total.`];
  });
}
