import type { DocumentAdjustment } from '../../contract/document-amounts.ts';
import type { Invoice } from '../../contract/records.ts';
import { sumMinor } from '../../contract/exact.ts';
import { payableMinor } from '../../contract/vat.ts';
import { adjustmentText, shownMinor } from './adjustments.ts';
import type { PrintedDocument } from './printed-document.ts';
import {
  categoryText,
  dateText,
  isDraft,
  isMarginOnly,
  isSilent,
  overpaidMinor,
  pricesIncludeVat,
  showsVat,
} from './wording.ts';

type Sum = [label: string, amountMinor: number];

/** Returns the sums from the lines to the amount to pay, without any that would repeat another. */
export function sumsOf(printed: PrintedDocument): Sum[] {
  const { record, amounts } = printed;
  const { netMinor, vatMinor, grossMinor } = record.totals;
  const toPay = payableSums(printed);
  const overpaid = overpaidMinor(printed);
  const grand: Sum =
    overpaid > 0
      ? ['Credit balance', overpaid]
      : [grandLabel(record, toPay.length > 0), payableMinor(record.totals, amounts)];
  const hasVat = showsVat(record) && !isMarginOnly(record);
  const total: Sum = [vatMinor === 0 ? 'Total' : 'Total including VAT', grossMinor];
  return [
    ...adjustmentSums(printed),
    ...(hasVat ? [['Total excluding VAT', netMinor] as Sum] : []),
    ...(hasVat && !isSilent(printed) ? [['Total VAT', vatMinor] as Sum] : []),
    ...(toPay.length === 0 ? [] : [total, ...toPay]),
    grand,
  ];
}

/** Returns the sum of the lines, and the discounts and charges on the whole document. */
function adjustmentSums(printed: PrintedDocument): Sum[] {
  const { record, amounts } = printed;
  const { allowances = [], charges = [] } = amounts ?? {};
  if (allowances.length + charges.length === 0) return [];
  const vat = ({ vatCategory, vatRateBasisPoints }: DocumentAdjustment) =>
    record.vatBreakdown.length > 1 ? `, ${categoryText(vatCategory, vatRateBasisPoints)}` : '';
  const sumOf = (kind: 'discount' | 'charge', one: DocumentAdjustment): Sum => {
    const { label, countedMinor } = adjustmentText(kind, one, record.currency);
    return [`${label}${vat(one)}`, countedMinor];
  };
  const lines = sumMinor(record.lines.map((line) => shownMinor(line, printed)));
  return [
    [pricesIncludeVat(printed) ? 'Sum of lines including VAT' : 'Sum of lines', lines],
    ...allowances.map((one) => sumOf('discount', one)),
    ...charges.map((one) => sumOf('charge', one)),
  ];
}

/** Returns the rows between the total and the amount to pay. */
function payableSums({ amounts }: PrintedDocument): Sum[] {
  const { roundingMinor = 0, prepayments = [] } = amounts ?? {};
  const paid = prepayments.map(({ paidOn, documentNumber, reference, amountMinor }): Sum => {
    const asked = documentNumber ?? reference;
    return [`Paid on ${dateText(paidOn)}${asked === undefined ? '' : `, ${asked}`}`, -amountMinor];
  });
  return [...(roundingMinor === 0 ? [] : [['Rounding', roundingMinor] as Sum]), ...paid];
}

function grandLabel(record: Invoice, isBelowTotal: boolean): string {
  const hasVat = record.totals.vatMinor !== 0;
  if (isBelowTotal) return record.kind === 'credit_note' ? 'Amount credited' : 'Amount due';
  if (record.kind === 'credit_note') return hasVat ? 'Credit including VAT' : 'Total credit';
  if (isDraft(record)) return hasVat ? 'Total including VAT' : 'Total';
  return 'Amount due';
}
