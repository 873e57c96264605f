import type { DocumentAdjustment } from '../../contract/document-amounts.ts';
import type { Invoice } from '../../contract/records.ts';
import { sumMinor } from '../../contract/exact.ts';
import { payableMinor } from '../../contract/vat.ts';
import { adjustmentText, shownMinor } from './adjustments.ts';
import { moneyFormat } from './amounts.ts';
import { ACCENT, RULE, STYLES, TINT } from './page-design.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { Sheet } from './sheet.ts';
import { type LaidTable, layTable, type PrintedRow } from './table.ts';
import {
  categoryText,
  dateText,
  isDraft,
  isMarginOnly,
  isSilent,
  overpaidMinor,
  pricesIncludeVat,
  showsVat,
} from '../printed-document/wording.ts';

/** The panel's overhang on both sides, in points, which aligns the last amount with those above it. */
const HANG = 9;
const GRAND = STYLES.grand;
const GRAND_PADDING = 7;
/** The space between a label and its amount, in points. */
const GAP = 8;

interface Space {
  x: number;
  width: number;
}

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

/** Lays out the sums of a document. */
export function layTotals(sheet: Sheet, printed: PrintedDocument, space: Space): LaidTable {
  return laySums(sheet, sumsOf(printed), printed.record.currency, space);
}

/** Lays out sums, the last one in a panel. */
export function laySums(
  sheet: Sheet,
  sums: readonly [label: string, amountMinor: number][],
  currency: string,
  space: Space,
): LaidTable {
  const { withSymbol } = moneyFormat(currency);
  const behindGrand = () => {
    const panel = { x: space.x - HANG, y: sheet.y, width: space.width + 2 * HANG };
    sheet.panel(panel, GRAND.leading + 2 * GRAND_PADDING, TINT);
    sheet.rule(sheet.y, panel, ACCENT, 1);
  };
  const rows = sums.map(([label, amountMinor], index): PrintedRow => {
    const texts = [label, withSymbol(amountMinor)];
    return index === sums.length - 1
      ? { texts, style: GRAND, padding: GRAND_PADDING, behind: behindGrand }
      : { texts, style: STYLES.body, padding: 3.5, below: [RULE] };
  });
  const widest = Math.max(...rows.map(({ texts: [, amount = ''], style }) => sheet.textWidth(amount, style)));
  const labels = { ...space, width: space.width - widest - GAP };
  return layTable(sheet, { columns: [labels, { ...space, align: 'right' }], rows, hasRowHeads: true });
}
