import { moneyFormat, quantityText, shareText } from './amounts.ts';
import { naturalWidths, placeColumns } from './columns.ts';
import type { Column, PlacedColumn } from './columns.ts';
import { ACCENT, BOTTOM, CONTENT_WIDTH, LEFT, RULE, STYLES } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet, Tag } from './sheet.ts';
import type { TextBlock } from './text-blocks.ts';
import { unitText } from './units.ts';
import { showsVat, vatOfLine } from './wording.ts';

/** The unit of things that are only counted (UN/ECE Recommendation 20). */
const ONE = 'C62';
/** Above and below the text of a row. */
const PADDING = 4.5;
/** A description of more lines is set as several rows, so that every row fits on a page. */
const ROW_LINES_MAX = 40;
/** For the sum that is carried to the next page, and again at its top. */
const CARRIED_HEIGHT = STYLES.cellStrong.leading + 2 * PADDING;

interface Row {
  cells: TextBlock[];
  height: number;
  /** The amount of the line; zero on a row that continues the one before. */
  amountMinor: number;
}

/** Shared by all pages of the table. */
interface LinesTable {
  sheet: Sheet;
  columns: PlacedColumn[];
  heads: TextBlock[];
  headHeight: number;
  plain: (amountMinor: number) => string;
}

/**
 * Draws the lines of a document. Where they don't fit on a page, the sum so far is carried to the next one, which
 * repeats the heads. The last row stays together with `tailHeight` points of what follows it.
 */
export function drawLines(sheet: Sheet, printed: PrintedDocument, tailHeight: number): void {
  const table = layTable(sheet, printed);
  const rows = printed.record.lines.flatMap((line) =>
    rowsOf(table, textsOf(printed, line), line.amountMinor),
  );
  const tag = sheet.group(sheet.root, 'Table');
  sheet.makeRoom(
    table.headHeight + (rows[0]?.height ?? 0) + (rows.length === 1 ? tailHeight : CARRIED_HEIGHT),
  );
  drawHeads(table, tag);
  const body = sheet.group(tag, 'TBody');
  let carriedMinor = 0;
  let isFirstOfPage = true;
  rows.forEach((row, index) => {
    const isLast = index === rows.length - 1;
    const needed = row.height + (isLast ? tailHeight : CARRIED_HEIGHT);
    // A row that is the first on its page has no more room on another one.
    if (sheet.y + needed > BOTTOM && !isFirstOfPage) {
      drawCarried(table, 'Carried forward', carriedMinor);
      sheet.addPage();
      drawHeads(table, undefined);
      drawCarried(table, 'Brought forward', carriedMinor);
    }
    drawRow(table, body, row);
    isFirstOfPage = false;
    carriedMinor += row.amountMinor;
  });
  body.end();
  tag.end();
}

function columnsOf({ record }: PrintedDocument): Column[] {
  const { currency } = record;
  const vat: Column[] = showsVat(record) ? [{ head: 'VAT', align: 'right', widthMax: 88 }] : [];
  return [
    { head: 'Description', align: 'left', widthMax: CONTENT_WIDTH },
    { head: 'Quantity', align: 'right', widthMax: 92 },
    { head: 'Unit', align: 'left', widthMax: 60 },
    { head: `Unit price (${currency})`, align: 'right', widthMax: 92 },
    ...vat,
    { head: `Amount (${currency})`, align: 'right', widthMax: 104 },
  ];
}

function textsOf(printed: PrintedDocument, line: PrintedDocument['record']['lines'][number]): string[] {
  const { plain } = moneyFormat(printed.record.currency);
  // A negative part of one is a discount, and -0.05 units are shown as -5 %.
  const share = line.unitCode === ONE ? shareText(line.quantity) : undefined;
  return [
    line.description,
    share ?? quantityText(line.quantity),
    share === undefined ? unitText(line.unitCode, line.quantity) : '',
    plain(line.unitPriceMinor),
    ...(showsVat(printed.record) ? [vatOfLine(line, printed)] : []),
    plain(line.amountMinor),
  ];
}

function layTable(sheet: Sheet, printed: PrintedDocument): LinesTable {
  const columns = columnsOf(printed);
  const rows = printed.record.lines.map((line) => textsOf(printed, line));
  const widths = naturalWidths(sheet, columns, rows, { head: STYLES.head, cell: STYLES.cell });
  const placed = placeColumns(columns, widths, { x: LEFT, width: CONTENT_WIDTH });
  const heads = placed.map(({ head, width }) => sheet.text(head, STYLES.head, width));
  return {
    sheet,
    columns: placed,
    heads,
    headHeight: Math.max(...heads.map(({ height }) => height)) + 2 * PADDING,
    plain: moneyFormat(printed.record.currency).plain,
  };
}

function rowsOf({ sheet, columns }: LinesTable, texts: string[], amountMinor: number): Row[] {
  const cells = columns.map(({ width }, index) => sheet.text(texts[index] ?? '', STYLES.cell, width));
  const [description, ...others] = cells;
  if (!description || description.lines.length <= ROW_LINES_MAX) return [rowOf(cells, amountMinor)];
  const rows: Row[] = [];
  for (let start = 0; start < description.lines.length; start += ROW_LINES_MAX) {
    const lines = description.lines.slice(start, start + ROW_LINES_MAX);
    const part = { ...description, lines, height: lines.length * description.style.leading };
    const rest = start === 0 ? others : others.map((cell) => ({ ...cell, lines: [], height: 0 }));
    rows.push(rowOf([part, ...rest], start === 0 ? amountMinor : 0));
  }
  return rows;
}

function rowOf(cells: TextBlock[], amountMinor: number): Row {
  return { cells, height: Math.max(...cells.map(({ height }) => height)) + 2 * PADDING, amountMinor };
}

/** Draws the heads, tagged once; on the pages that follow they are repeated as artifacts. */
function drawHeads({ sheet, columns, heads, headHeight }: LinesTable, tag: Tag | undefined): void {
  const bottom = sheet.y + headHeight - PADDING;
  const draw = (index: number) => {
    const head = heads[index];
    const column = columns[index];
    if (head && column) sheet.draw(head, { ...column, y: bottom - head.height }, column.align);
  };
  if (tag) {
    const group = sheet.group(tag, 'THead');
    const row = sheet.group(group, 'TR');
    heads.forEach((_, index) => sheet.tagged(row, 'TH', () => draw(index), { scope: 'Column' }));
    row.end();
    group.end();
  } else sheet.artifact(() => heads.forEach((_, index) => draw(index)), 'Pagination');
  sheet.y += headHeight;
  sheet.artifact(() => sheet.rule(sheet.y, { x: LEFT, width: CONTENT_WIDTH }, ACCENT, 1));
}

function drawRow({ sheet, columns }: LinesTable, body: Tag, { cells, height }: Row): void {
  const row = sheet.group(body, 'TR');
  columns.forEach((column, index) => {
    const cell = cells[index];
    if (!cell || cell.lines.length === 0) sheet.empty(row, 'TD');
    else sheet.tagged(row, 'TD', () => sheet.draw(cell, { ...column, y: sheet.y + PADDING }, column.align));
  });
  row.end();
  sheet.y += height;
  sheet.artifact(() => sheet.rule(sheet.y, { x: LEFT, width: CONTENT_WIDTH }, RULE));
}

function drawCarried({ sheet, plain }: LinesTable, label: string, amountMinor: number): void {
  const box = { x: LEFT, y: sheet.y + PADDING, width: CONTENT_WIDTH };
  const name = sheet.text(label, STYLES.cellStrong, 200);
  const amount = sheet.text(plain(amountMinor), STYLES.cellStrong, 200);
  sheet.artifact(() => {
    sheet.draw(name, box);
    sheet.draw(amount, box, 'right');
    sheet.rule(sheet.y + CARRIED_HEIGHT, { x: LEFT, width: CONTENT_WIDTH }, RULE);
  }, 'Pagination');
  sheet.y += CARRIED_HEIGHT;
}
