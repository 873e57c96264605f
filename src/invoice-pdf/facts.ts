import type { Invoice } from '../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import { dateText, periodText } from './dates.ts';
import { ADDRESS_TOP, COLUMN, RIGHT, RULE, STYLES } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet } from './sheet.ts';
import type { TextStyle } from './text-blocks.ts';
import { numberOf, titleOf, warningOf } from './wording.ts';

const WIDTH = RIGHT - COLUMN;
const LABEL_WIDTH = 92;

/** Draws what the document is, its number, its dates and references, and answers with where that ends. */
export function drawFacts(sheet: Sheet, { record }: PrintedDocument, top: number): number {
  const box = { x: COLUMN, y: Math.max(top, ADDRESS_TOP - 6), width: WIDTH };
  const title = sheet.text(titleOf(record), STYLES.title, WIDTH);
  const number = sheet.text(numberOf(record), STYLES.number, WIDTH);
  sheet.tagged(sheet.root, 'H1', () => {
    sheet.draw(title, box);
    sheet.draw(number, { ...box, y: box.y + title.height });
  });
  let y = box.y + title.height + number.height + 5;
  const warning = warningOf(record);
  if (warning !== undefined) {
    const block = sheet.text(warning, STYLES.warning, WIDTH);
    sheet.tagged(sheet.root, 'P', () => sheet.draw(block, { ...box, y: y - 1 }));
    y += block.height + 4;
  }
  return drawRows(sheet, rowsOf(record), y);
}

type Row = readonly [label: string, value: string | null, style?: TextStyle];

function rowsOf(record: Invoice): Row[] {
  const { supplyDate, supplyPeriod, creditedInvoice, kind } = record;
  const rows: Row[] = [
    ['Date of issue', dateOrNull(record.issueDate)],
    supplyPeriod === null
      ? ['Date of supply', dateOrNull(supplyDate)]
      : ['Period of supply', periodText(supplyPeriod)],
    ['Due date', kind === 'credit_note' ? null : dateOrNull(record.dueDate)],
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

/** What is asked for or given back. An issued document says it as at its issue: later payments don't change it. */
function amountRow({ kind, totals, currency }: Invoice): Row {
  const amount = moneyFormat(currency).withSymbol(totals.grossMinor);
  return [kind === 'credit_note' ? 'Credit total' : 'Amount due', amount, STYLES.strong];
}

function drawRows(sheet: Sheet, rows: Row[], top: number): number {
  const table = sheet.group(sheet.root, 'Table');
  let y = top;
  for (const [label, value, style = STYLES.body] of rows) {
    const name = sheet.text(label, STYLES.small, LABEL_WIDTH - 8);
    const block = sheet.text(value ?? '', style, WIDTH - LABEL_WIDTH);
    const at = y;
    sheet.artifact(() => sheet.rule(at, { x: COLUMN, width: WIDTH }, RULE));
    const row = sheet.group(table, 'TR');
    // The small label stands on the line of its value.
    const shift = (style.leading - STYLES.small.leading) / 2;
    sheet.tagged(row, 'TH', () => sheet.draw(name, { x: COLUMN, y: y + 2.5 + shift, width: LABEL_WIDTH }), {
      scope: 'Row',
    });
    const valueBox = { x: COLUMN + LABEL_WIDTH, y: y + 2.5, width: WIDTH - LABEL_WIDTH };
    sheet.tagged(row, 'TD', () => sheet.draw(block, valueBox));
    row.end();
    y += Math.max(block.height, name.height) + 5;
  }
  table.end();
  return y;
}
