import type { Align, Sheet, Tag } from './sheet.ts';
import type { TextBlock, TextStyle } from './text-blocks.ts';

/** A column of a table, with its place on the page. Measures are in points, here and below. */
export interface PrintedColumn {
  head?: string;
  x: number;
  width: number;
  align?: Align;
  /** The style of its texts, if different from the row's. */
  style?: TextStyle;
  /** The distance by which its texts are lowered. */
  drop?: number;
}

/** A table before layout, for the page and for other ways of showing it. */
export interface TextTable {
  columns: readonly NaturalColumn[];
  rows: readonly (readonly string[])[];
}

/** A column as wide as its widest text, up to `widthMax`; longer text is wrapped. */
export interface NaturalColumn {
  head: string;
  align: Align;
  widthMax: number;
}

type Rule = readonly [color: string, thickness?: number];

export interface PrintedRow {
  texts: readonly string[];
  style: TextStyle;
  /** The height of one line, if different from the style's. */
  leading?: number;
  padding: number;
  /** Draws the background of the text, from the current position. */
  behind?: () => void;
  below?: Rule;
}

export interface PrintedTable {
  columns: readonly PrintedColumn[];
  /** The style of the column headings, if any; they are drawn on each page. */
  heads?: Omit<PrintedRow, 'texts'>;
  rows: readonly PrintedRow[];
  hasRowHeads: boolean;
}

/** The behaviour of a table at page breaks. */
export interface Flow {
  /** The height of the content after the table that must stay on a page with its last row. */
  tailHeight?: number;
  /** The most lines of a row that are kept together; a longer row can itself span pages. */
  keptLinesMax?: number;
  /** Ends a page and begins the next one; `begun` is the number of rows begun so far. */
  carried?: { height: number; draw: (label: 'Carried forward' | 'Brought forward', begun: number) => void };
}

export interface LaidTable {
  height: number;
  draw: (parent: Tag, flow?: Flow) => void;
}

/** The fewest lines of a row before and after a page break. */
const PIECE_LINES_MIN = 3;
const GUTTER = 10;

/** Returns the widths that columns need for their texts, in points. */
export function naturalWidths(
  sheet: Sheet,
  columns: readonly NaturalColumn[],
  rows: readonly (readonly string[])[],
  styles: { head: TextStyle; cell: TextStyle },
): number[] {
  return columns.map(({ head, widthMax }, index) => {
    const widths = rows.map((row) => sheet.textWidth(row[index] ?? '', styles.cell));
    // Rounding must not break a line that was just measured.
    return Math.min(widthMax, Math.max(sheet.textWidth(head, styles.head), ...widths) + 0.01);
  });
}

export function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GUTTER, -GUTTER);
}

/** Places columns from left to right; the first one gets the remaining width. */
export function placeColumns(
  columns: readonly NaturalColumn[],
  [, ...others]: readonly number[],
  space: { x: number; width: number },
): PrintedColumn[] {
  const widths = [space.width - sumWidths(others) - GUTTER, ...others];
  return columns.map(({ head, align }, index) => {
    const before = widths.slice(0, index);
    return { head, align, x: space.x + sumWidths(before) + GUTTER, width: widths[index] ?? 0 };
  });
}

/** Lays out a table of any kind. */
export function layTable(sheet: Sheet, { columns, heads, rows, hasRowHeads }: PrintedTable): LaidTable {
  const head = heads && layHead(sheet, columns, heads);
  const body = rows.map((row) => {
    const laid = layRow(sheet, columns, row);
    if (hasRowHeads && laid.cells[0]) laid.cells[0].scope = 'Row';
    return laid;
  });
  return {
    height: body.reduce((sum, row) => sum + heightOf(row), head ? heightOf(head) : 0),
    draw: (parent, flow = {}) => drawTable(sheet, parent, { head, rows: body }, flow),
  };
}

interface Cell extends PrintedColumn {
  block: TextBlock;
  scope?: 'Row' | 'Column';
}

interface LaidRow extends PrintedRow {
  cells: readonly Cell[];
  lineCount: number;
  leading: number;
}

function layRow(sheet: Sheet, columns: readonly PrintedColumn[], row: PrintedRow): LaidRow {
  const cells = columns.map((column, index): Cell => {
    const block = sheet.text(row.texts[index] ?? '', column.style ?? row.style, column.width);
    return { ...column, block };
  });
  const lineCount = Math.max(...cells.map(({ block }) => block.lines.length));
  return { leading: row.style.leading, ...row, cells, lineCount };
}

function layHead(sheet: Sheet, columns: readonly PrintedColumn[], heads: Omit<PrintedRow, 'texts'>): LaidRow {
  const row = layRow(sheet, columns, { ...heads, texts: columns.map(({ head = '' }) => head) });
  const highest = Math.max(...row.cells.map(({ block }) => block.height));
  const cells = row.cells.map((cell) => ({
    ...cell,
    drop: highest - cell.block.height,
    scope: 'Column' as const,
  }));
  return { ...row, cells };
}

function heightOf({ leading, padding, ...row }: LaidRow, lineCount = row.lineCount): number {
  return lineCount * leading + 2 * padding;
}

function drawTable(
  sheet: Sheet,
  parent: Tag,
  { head, rows }: { head: LaidRow | undefined; rows: readonly LaidRow[] },
  { tailHeight = 0, keptLinesMax = Infinity, carried }: Flow,
): void {
  const carriedHeight = carried?.height ?? 0;
  const heightAfter = (index: number) => (index === rows.length - 1 ? tailHeight : carriedHeight);
  const isLong = ({ lineCount }: LaidRow) => lineCount > keptLinesMax;
  const heightBegun = (row: LaidRow) =>
    isLong(row) ? heightOf(row, PIECE_LINES_MIN) + carriedHeight : heightOf(row) + heightAfter(0);
  sheet.makeRoom((head ? heightOf(head) : 0) + (rows[0] ? heightBegun(rows[0]) : 0));
  const table = sheet.group(parent, 'Table');
  if (head) {
    const group = sheet.group(table, 'THead');
    drawRow(sheet, group, head, (draw) => draw(0, head.lineCount));
    group.end();
  }
  const body = head ? sheet.group(table, 'TBody') : table;
  let isFirstOfPage = true;
  rows.forEach((row, index) =>
    drawRow(sheet, body, row, (draw) => {
      for (let from = 0; from < row.lineCount;) {
        const after = heightAfter(index);
        const pieceAfter = isLong(row) ? carriedHeight : Infinity;
        const count = linesThatFit(sheet, row, { from, after, pieceAfter, isFirstOfPage });
        if (count > 0) draw(from, from + count);
        from += count;
        isFirstOfPage = from < row.lineCount;
        if (!isFirstOfPage) continue;
        const begun = from > 0 ? index + 1 : index;
        carried?.draw('Carried forward', begun);
        sheet.nextPage();
        if (head) repeatHead(sheet, head);
        carried?.draw('Brought forward', begun);
      }
    }),
  );
  if (head) body.end();
  table.end();
}

/** Returns the number of a row's lines that fit: all remaining with the content after them, some of them, or none. */
function linesThatFit(
  sheet: Sheet,
  row: LaidRow,
  given: { from: number; after: number; pieceAfter: number; isFirstOfPage: boolean },
): number {
  const room = (below: number) =>
    Math.floor((sheet.bottom - sheet.y - below - heightOf(row, 0)) / row.leading);
  const left = row.lineCount - given.from;
  if (left <= room(given.after)) return left;
  const piece = Math.min(room(given.pieceAfter), left - PIECE_LINES_MIN);
  if (piece >= PIECE_LINES_MIN) return piece;
  // Even a fresh page has no more room.
  return given.isFirstOfPage ? left : 0;
}

/** Draws a row with its tags and rules; `drawAll` draws its lines in pieces. */
function drawRow(
  sheet: Sheet,
  parent: Tag,
  row: LaidRow,
  drawAll: (draw: (from: number, to: number) => void) => void,
): void {
  const tag = sheet.group(parent, 'TR');
  const cells = row.cells.map((cell) => {
    const type = cell.scope ? 'TH' : 'TD';
    return { cell, type, tag: sheet.group(tag, type, cell.scope && { scope: cell.scope }) };
  });
  drawAll((from, to) => {
    if (from === 0 && row.behind) sheet.artifact(row.behind);
    for (const { cell, type, tag: cellTag } of cells) {
      const lines = cell.block.lines.slice(from, to);
      if (lines.length > 0) sheet.content(cellTag, type, () => drawCell(sheet, row, cell, lines));
    }
    sheet.y += heightOf(row, to - from);
  });
  for (const { tag: cellTag } of cells) cellTag.end();
  tag.end();
  drawRule(sheet, row, row.below);
}

/** Repeats the headings on a later page as artifacts, because the first page has tagged them. */
function repeatHead(sheet: Sheet, head: LaidRow): void {
  sheet.artifact(() => {
    for (const cell of head.cells) drawCell(sheet, head, cell, cell.block.lines);
  }, 'Pagination');
  sheet.y += heightOf(head);
  drawRule(sheet, head, head.below);
}

function drawCell(sheet: Sheet, { padding }: LaidRow, cell: Cell, lines: TextBlock['lines']): void {
  const y = sheet.y + padding + (cell.drop ?? 0);
  sheet.draw({ ...cell.block, lines }, { ...cell, y }, cell.align);
}

function drawRule(sheet: Sheet, { cells }: LaidRow, rule: Rule | undefined): void {
  const [first, last] = [cells[0], cells.at(-1)];
  if (!rule || !first || !last) return;
  const space = { x: first.x, width: last.x + last.width - first.x };
  sheet.artifact(() => sheet.rule(sheet.y, space, ...rule));
}
