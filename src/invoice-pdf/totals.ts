import type { Invoice } from '../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import { ACCENT, RULE, STYLES, TINT } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet } from './sheet.ts';
import { hidesReverseCharge, showsVat } from './wording.ts';

const PADDING = 3.5;
const ROW_HEIGHT = STYLES.body.leading + 2 * PADDING;
const GRAND_HEIGHT = STYLES.grand.leading + 14;

/** The sums of a document, in the order in which they are added up; the last one is what it comes to. */
function sumsOf(printed: PrintedDocument): [label: string, amountMinor: number][] {
  const { record } = printed;
  const { netMinor, vatMinor, grossMinor } = record.totals;
  const grand: [string, number] = [grandLabel(record), grossMinor];
  if (!showsVat(record)) return [grand];
  // A document that is all Irish construction under reverse charge states no VAT, not even none.
  const isSilent =
    hidesReverseCharge(printed) && record.lines.every(({ vatCategory }) => vatCategory === 'AE');
  return [
    ['Total excluding VAT', netMinor],
    ...(isSilent ? [] : [['Total VAT', vatMinor] as [string, number]]),
    grand,
  ];
}

function grandLabel(record: Invoice): string {
  if (record.kind === 'credit_note') return showsVat(record) ? 'Credit including VAT' : 'Total credit';
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
    const inset = isGrand ? 10 : 0;
    const height = isGrand ? GRAND_HEIGHT : ROW_HEIGHT;
    const at = y;
    sheet.artifact(() => {
      if (isGrand) {
        sheet.panel({ ...box, y: at }, height, TINT);
        sheet.rule(at, box, ACCENT, 1);
      } else sheet.rule(at + height, box, RULE);
    });
    const inner = { x: box.x + inset, y: y + (height - style.leading) / 2, width: box.width - 2 * inset };
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
