import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import { ACCENT, RULE, STYLES, TINT } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet } from './sheet.ts';
import { type LaidTable, layTable, type Row } from './table.ts';
import { isDraft, isMarginOnly, isSilent, showsVat } from './wording.ts';

/** The panel stands out to both sides, so that the last amount is in one column with those above it. */
const HANG = 9;
const GRAND = STYLES.grand;
const GRAND_PADDING = 7;

interface Space {
  x: number;
  width: number;
}

function sumsOf(printed: PrintedDocument): [label: string, amountMinor: number][] {
  const { record } = printed;
  const { netMinor, vatMinor, grossMinor } = record.totals;
  const grand: [string, number] = [grandLabel(record), grossMinor];
  if (!showsVat(record) || isMarginOnly(record)) return [grand];
  return [
    ['Total excluding VAT', netMinor],
    ...(isSilent(printed) ? [] : [['Total VAT', vatMinor] as [string, number]]),
    grand,
  ];
}

function grandLabel(record: Invoice): string {
  const hasVat = record.totals.vatMinor !== 0;
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
  const rows = sums.map(([label, amountMinor], index): Row => {
    const texts = [label, withSymbol(amountMinor)];
    return index === sums.length - 1
      ? { texts, style: GRAND, padding: GRAND_PADDING, behind: behindGrand }
      : { texts, style: STYLES.body, padding: 3.5, below: [RULE] };
  });
  return layTable(sheet, { columns: [space, { ...space, align: 'right' }], rows, hasRowHeads: true });
}
