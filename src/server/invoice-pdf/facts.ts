import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import { ADDRESS_TOP, COLUMN, RIGHT, RULE, STYLES } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet } from './sheet.ts';
import type { TextBlock, TextStyle } from './text-blocks.ts';
import {
  asksForPayment,
  dateText,
  isDraft,
  numberOf,
  periodText,
  taxPointOf,
  titleOf,
  warningOf,
} from './wording.ts';

const WIDTH = RIGHT - COLUMN;
const LABEL_WIDTH = 92;

/** Draws the title, the number, the dates and the references in the right column. */
export function drawFacts(sheet: Sheet, { record }: PrintedDocument): void {
  const title = sheet.textThatGoesOn(titleOf(record), STYLES.title, WIDTH);
  const number = sheet.text(numberOf(record), STYLES.number, WIDTH);
  if (sheet.page === 0) sheet.y = Math.max(sheet.y + 16, ADDRESS_TOP - 7);
  sheet.makeRoom(title.height + number.height);
  sheet.tagged(sheet.root, 'H1', () => {
    drawDown(sheet, title);
    drawDown(sheet, number);
  });
  sheet.y += 5;
  const warning = warningOf(record);
  if (warning !== undefined) {
    const block = sheet.text(warning, STYLES.warning, WIDTH);
    sheet.makeRoom(block.height);
    sheet.tagged(sheet.root, 'P', () => drawDown(sheet, block));
    sheet.y += 3;
  }
  drawRows(sheet, rowsOf(record));
}

function drawDown(sheet: Sheet, block: TextBlock): void {
  sheet.draw(block, { x: COLUMN, y: sheet.y, width: WIDTH });
  sheet.y += block.height;
}

type Row = readonly [label: string, value: string | null, style?: TextStyle];

function rowsOf(record: Invoice): Row[] {
  const { supplyDate, supplyPeriod, creditedInvoice } = record;
  const rows: Row[] = [
    ['Date of issue', dateOrNull(record.issueDate)],
    supplyPeriod === null
      ? ['Date of supply', dateOrNull(supplyDate)]
      : ['Period of supply', periodText(supplyPeriod)],
    ['Tax point', dateOrNull(taxPointOf(record))],
    ['Due date', asksForPayment(record) ? dateOrNull(record.dueDate) : null],
    ['Your reference', record.buyerReference],
    ['Purchase order', record.purchaseOrderReference],
    ['Credits invoice', creditedInvoice?.number ?? null],
    ['Invoice dated', dateOrNull(creditedInvoice?.issueDate ?? null)],
    amountRow(record),
  ];
  return rows.filter(([, value]) => value !== null);
}

function dateOrNull(date: string | null): string | null {
  return date === null ? null : dateText(date);
}

/** The amount due or credited. An issued document shows it as at its issue: later payments don't change it. */
function amountRow(record: Invoice): Row {
  const amount = moneyFormat(record.currency).withSymbol(record.totals.grossMinor);
  const asked = isDraft(record) ? 'Total' : 'Amount due';
  return [record.kind === 'credit_note' ? 'Credit total' : asked, amount, STYLES.strong];
}

function drawRows(sheet: Sheet, rows: Row[]): void {
  const table = sheet.group(sheet.root, 'Table');
  for (const [label, value, style = STYLES.body] of rows) {
    const name = sheet.text(label, STYLES.small, LABEL_WIDTH - 8);
    const block = sheet.text(value ?? '', style, WIDTH - LABEL_WIDTH);
    const height = Math.max(block.height, name.height) + 5;
    sheet.makeRoom(height);
    const { y } = sheet;
    sheet.artifact(() => sheet.rule(y, { x: COLUMN, width: WIDTH }, RULE));
    const row = sheet.group(table, 'TR');
    // The small label stands on the line of its value.
    const labelY = y + 2.5 + (style.leading - STYLES.small.leading) / 2;
    sheet.tagged(row, 'TH', () => sheet.draw(name, { x: COLUMN, y: labelY, width: LABEL_WIDTH }), {
      scope: 'Row',
    });
    const valueBox = { x: COLUMN + LABEL_WIDTH, y: y + 2.5, width: WIDTH - LABEL_WIDTH };
    sheet.tagged(row, 'TD', () => sheet.draw(block, valueBox));
    row.end();
    sheet.y += height;
  }
  table.end();
}
