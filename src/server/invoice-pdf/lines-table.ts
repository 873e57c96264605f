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
/** A row of more lines may go on from page to page. */
const KEPT_LINES_MAX = 12;
/** So many of its lines stay together before and after. */
const PIECE_LINES_MIN = 3;
/** For the sum that is carried to the next page, and again at its top. */
const CARRIED_HEIGHT = STYLES.cellStrong.leading + 2 * PADDING;

interface Row {
  cells: TextBlock[];
  /** Of its longest cell. */
  lineCount: number;
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
  const rows = printed.record.lines.map((line) => rowOf(table, textsOf(printed, line), line.amountMinor));
  const afterRow = (index: number) => (index === rows.length - 1 ? tailHeight : CARRIED_HEIGHT);
  const tag = sheet.group(sheet.root, 'Table');
  sheet.makeRoom(table.headHeight + heightBegun(rows[0], afterRow(0)));
  drawHeads(table, tag);
  const body = sheet.group(tag, 'TBody');
  let carriedMinor = 0;
  let isFirstOfPage = true;
  rows.forEach((row, index) => {
    const rowTag = sheet.group(body, 'TR');
    const cellTags = row.cells.map(() => sheet.group(rowTag, 'TD'));
    for (let from = 0; from < row.lineCount;) {
      const count = linesThatFit(table, row, { from, after: afterRow(index), isFirstOfPage });
      if (count > 0) drawPiece(table, cellTags, row, from, from + count);
      // The first piece shows the amount.
      if (count > 0 && from === 0) carriedMinor += row.amountMinor;
      from += count;
      isFirstOfPage = from < row.lineCount;
      if (!isFirstOfPage) continue;
      drawCarried(table, 'Carried forward', carriedMinor);
      sheet.addPage();
      drawHeads(table, undefined);
      drawCarried(table, 'Brought forward', carriedMinor);
    }
    for (const cellTag of cellTags) cellTag.end();
    rowTag.end();
    sheet.artifact(() => sheet.rule(sheet.y, { x: LEFT, width: CONTENT_WIDTH }, RULE));
  });
  body.end();
  tag.end();
}

function heightOf(lineCount: number): number {
  return lineCount * STYLES.cell.leading + 2 * PADDING;
}

/** The height that the first row needs on the page on which it begins. */
function heightBegun(row: Row | undefined, after: number): number {
  const lineCount = row?.lineCount ?? 0;
  return lineCount > KEPT_LINES_MAX
    ? heightOf(PIECE_LINES_MIN) + CARRIED_HEIGHT
    : heightOf(lineCount) + after;
}

/** How many lines of a row the page takes: all that are left, with what is to follow them, or a piece, or none. */
function linesThatFit(
  { sheet }: LinesTable,
  { lineCount }: Row,
  { from, after, isFirstOfPage }: { from: number; after: number; isFirstOfPage: boolean },
): number {
  const room = (below: number) => Math.floor((BOTTOM - sheet.y - below - heightOf(0)) / STYLES.cell.leading);
  const left = lineCount - from;
  if (left <= room(after)) return left;
  const piece = Math.min(room(CARRIED_HEIGHT), left - PIECE_LINES_MIN);
  if (lineCount > KEPT_LINES_MAX && piece >= PIECE_LINES_MIN) return piece;
  // Another page has no more room.
  return isFirstOfPage ? left : 0;
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

function rowOf({ sheet, columns }: LinesTable, texts: string[], amountMinor: number): Row {
  const cells = columns.map(({ width }, index) => sheet.text(texts[index] ?? '', STYLES.cell, width));
  return { cells, lineCount: Math.max(...cells.map(({ lines }) => lines.length)), amountMinor };
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

function drawPiece(
  { sheet, columns }: LinesTable,
  tags: Tag[],
  { cells }: Row,
  from: number,
  to: number,
): void {
  columns.forEach((column, index) => {
    const [cell, tag] = [cells[index], tags[index]];
    const lines = cell?.lines.slice(from, to) ?? [];
    if (!cell || !tag || lines.length === 0) return;
    const box = { ...column, y: sheet.y + PADDING };
    sheet.content(tag, 'TD', () => sheet.draw({ ...cell, lines }, box, column.align));
  });
  sheet.y += heightOf(to - from);
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
