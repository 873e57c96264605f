import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import { ACCENT, RULE, STYLES, TINT } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet } from './sheet.ts';
import { isDraft, isMarginOnly, isSilent, showsVat } from './wording.ts';

/** The panel stands out to both sides, so that the last amount is in one column with those above it. */
const HANG = 9;
const PADDING = 3.5;
const ROW_HEIGHT = STYLES.body.leading + 2 * PADDING;
const GRAND_HEIGHT = STYLES.grand.leading + 14;

/** The sums of a document, in the order in which they are added up; the last one is the grand total. */
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

export function totalsHeight(printed: PrintedDocument): number {
  return (sumsOf(printed).length - 1) * ROW_HEIGHT + GRAND_HEIGHT;
}

/** Draws the sums, with the last one in a panel of its own. */
export function drawTotals(
  sheet: Sheet,
  printed: PrintedDocument,
  box: { x: number; y: number; width: number },
): void {
  const { withSymbol } = moneyFormat(printed.record.currency);
  const sums = sumsOf(printed);
  const table = sheet.group(sheet.root, 'Table');
  let { y } = box;
  sums.forEach(([label, amountMinor], index) => {
    const isGrand = index === sums.length - 1;
    const style = isGrand ? STYLES.grand : STYLES.body;
    const height = isGrand ? GRAND_HEIGHT : ROW_HEIGHT;
    const at = y;
    sheet.artifact(() => {
      if (isGrand) {
        sheet.panel({ x: box.x - HANG, y: at, width: box.width + 2 * HANG }, height, TINT);
        sheet.rule(at, { x: box.x - HANG, width: box.width + 2 * HANG }, ACCENT, 1);
      } else sheet.rule(at + height, box, RULE);
    });
    const inner = { x: box.x, y: y + (height - style.leading) / 2, width: box.width };
    const row = sheet.group(table, 'TR');
    const name = sheet.text(label, style, inner.width);
    const amount = sheet.text(withSymbol(amountMinor), style, inner.width);
    sheet.tagged(row, 'TH', () => sheet.draw(name, inner), { scope: 'Row' });
    sheet.tagged(row, 'TD', () => sheet.draw(amount, inner, 'right'));
    row.end();
    y += height;
  });
  table.end();
}
