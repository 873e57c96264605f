import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import { GUTTER, naturalWidths, placeColumns } from './columns.ts';
import type { Column, PlacedColumn } from './columns.ts';
import { ACCENT, LEFT, RULE, STYLES } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet, Tag } from './sheet.ts';
import type { TextBlock, TextStyle } from './text-blocks.ts';
import {
  categoryText,
  dateText,
  hidesReverseCharge,
  isMargin,
  isMarginOnly,
  isSilent,
  showsVat,
} from './wording.ts';

type Breakdown = Invoice['vatBreakdown'];
type Totals = Invoice['totals'];

/** The sums of each VAT category and rate, measured before they are drawn. */
export interface VatSummary {
  height: number;
  /** Whether it leaves the right column to the totals. */
  isNarrow: boolean;
  /** Draws it from where the sheet is, going on from page to page. */
  draw: () => void;
}

/** A higher summary isn't set beside the totals. */
const NARROW_HEIGHT_MAX = 330;
const PADDING = 3;
const GAP = 12;
const ROW_HEIGHT = STYLES.cell.leading + 2 * PADDING;

interface Amounts {
  currency: string;
  vatBreakdown: Breakdown;
  totals: Totals | undefined;
  caption: string | undefined;
}

/**
 * Measures the VAT for each category and rate, in the document's currency and in that of the VAT return. It is
 * `narrow` points wide, or `wide` where its amounts need it. Undefined on a document without VAT.
 */
export function vatSummary(
  sheet: Sheet,
  printed: PrintedDocument,
  narrow: number,
  wide: number,
): VatSummary | undefined {
  const { record } = printed;
  if (!showsVat(record) || isSilent(printed) || isMarginOnly(record)) return undefined;
  const inputs = amountsOf(record).map((amounts) => measure(sheet, printed, amounts));
  const natural = Math.max(
    ...inputs.map(({ widths }) => widths.reduce((sum, width) => sum + width + GUTTER, -GUTTER)),
  );
  const height = heightOf(inputs.map((input) => layTable(sheet, input, narrow)));
  const isNarrow = natural <= narrow && height <= NARROW_HEIGHT_MAX;
  const tables = inputs.map((input) => layTable(sheet, input, isNarrow ? narrow : wide));
  return {
    isNarrow,
    height: heightOf(tables),
    draw: () =>
      tables.forEach((table, index) => {
        if (index > 0) sheet.y += GAP;
        drawTable(sheet, table);
      }),
  };
}

function heightOf(tables: readonly LaidTable[]): number {
  return tables.reduce((sum, { height }) => sum + height + GAP, -GAP);
}

function amountsOf({ currency, vatBreakdown, accountingCurrency }: Invoice): Amounts[] {
  const own = { currency, vatBreakdown, totals: undefined, caption: undefined };
  if (!accountingCurrency) return [own];
  const { exchangeRate, exchangeRateDate, exchangeRateSource } = accountingCurrency;
  const rate = `1 ${currency} = ${exchangeRate} ${accountingCurrency.currency}`;
  const caption = `${rate} (${exchangeRateSource}, ${dateText(exchangeRateDate)})`;
  return [own, { ...accountingCurrency, caption }];
}

interface Measured {
  title: string;
  caption: string | undefined;
  columns: Column[];
  rows: string[][];
  widths: number[];
}

function measure(sheet: Sheet, printed: PrintedDocument, amounts: Amounts): Measured {
  const { currency, caption } = amounts;
  const columns: Column[] = [
    { head: 'Rate', align: 'left', widthMax: 110 },
    { head: `Net (${currency})`, align: 'right', widthMax: 130 },
    { head: `VAT (${currency})`, align: 'right', widthMax: 130 },
  ];
  const rows = rowsOf(printed, amounts);
  const widths = naturalWidths(sheet, columns, rows, { head: STYLES.head, cell: STYLES.cell });
  const title = caption === undefined ? 'VAT summary' : `VAT in ${currency}`;
  return { title, caption, columns, rows, widths };
}

interface LaidTable {
  heading: TextBlock;
  caption: TextBlock | undefined;
  columns: PlacedColumn[];
  rows: string[][];
  width: number;
  height: number;
}

function layTable(
  sheet: Sheet,
  { title, caption, columns, rows, widths }: Measured,
  width: number,
): LaidTable {
  const heading = sheet.text(title, STYLES.label, width);
  const block = caption === undefined ? undefined : sheet.text(caption, STYLES.small, width);
  return {
    heading,
    caption: block,
    columns: placeColumns(columns, widths, { x: LEFT, width }),
    width,
    rows,
    height: heading.height + 2 + (block?.height ?? 0) + (rows.length + 1) * ROW_HEIGHT,
  };
}

function drawTable(sheet: Sheet, { heading, caption, columns, rows, width }: LaidTable): void {
  const drawDown = (type: string, block: TextBlock) => {
    sheet.tagged(sheet.root, type, () => sheet.draw(block, { x: LEFT, y: sheet.y, width }));
    sheet.y += block.height;
  };
  sheet.makeRoom(heading.height + (caption?.height ?? 0) + 3 * ROW_HEIGHT);
  drawDown('H2', heading);
  sheet.y += 2;
  if (caption) drawDown('P', caption);
  const tag = sheet.group(sheet.root, 'Table');
  const lay = (texts: readonly string[], style: TextStyle) =>
    columns.map((column, index) => sheet.text(texts[index] ?? '', style, column.width));
  const heads = columns.map(({ head }) => head);
  const head = { cells: lay(heads, STYLES.head), columns, isHead: true };
  drawCells(sheet, tag, head);
  for (const row of rows) {
    const { page } = sheet;
    sheet.makeRoom(ROW_HEIGHT);
    if (sheet.page !== page) repeatHead(sheet, head);
    drawCells(sheet, tag, { cells: lay(row, STYLES.cell), columns, isHead: false });
  }
  tag.end();
}

function rowsOf(printed: PrintedDocument, { currency, vatBreakdown, totals }: Amounts): string[][] {
  const { plain } = moneyFormat(currency);
  const hasMargin = printed.record.lines.some(isMargin);
  const rows = vatBreakdown.map(({ category, rateBasisPoints, taxableMinor, vatMinor }) => {
    const isOfMargin = hasMargin && category === 'E';
    // No amount of VAT may be shown, not even zero.
    const isUnstated = isOfMargin || (category === 'AE' && hidesReverseCharge(printed));
    return [
      isOfMargin ? 'Margin scheme' : categoryText(category, rateBasisPoints),
      plain(taxableMinor),
      isUnstated ? '–' : plain(vatMinor),
    ];
  });
  if (totals) rows.push(['Total', plain(totals.netMinor), plain(totals.vatMinor)]);
  return rows;
}

/** On the pages that follow, the head is repeated as an artifact. */
function repeatHead(sheet: Sheet, { cells, columns }: CellRow): void {
  const y = sheet.y + PADDING;
  sheet.artifact(() => {
    columns.forEach((column, index) => {
      const cell = cells[index];
      if (cell) sheet.draw(cell, { ...column, y }, column.align);
    });
  }, 'Pagination');
  sheet.y += ROW_HEIGHT;
  ruleUnder(sheet, columns, true);
}

interface CellRow {
  cells: TextBlock[];
  columns: PlacedColumn[];
  isHead: boolean;
}

function drawCells(sheet: Sheet, table: Tag, { cells, columns, isHead }: CellRow): void {
  const row = sheet.group(table, 'TR');
  const y = sheet.y + PADDING;
  columns.forEach((column, index) => {
    const cell = cells[index];
    if (!cell) return;
    const scope = isHead ? ('Column' as const) : index === 0 ? ('Row' as const) : undefined;
    const draw = () => sheet.draw(cell, { ...column, y }, column.align);
    sheet.tagged(row, scope ? 'TH' : 'TD', draw, scope ? { scope } : {});
  });
  row.end();
  sheet.y += ROW_HEIGHT;
  ruleUnder(sheet, columns, isHead);
}

function ruleUnder(sheet: Sheet, columns: readonly PlacedColumn[], isHead: boolean): void {
  const last = columns.at(-1);
  const width = (last?.x ?? 0) + (last?.width ?? 0) - LEFT;
  const [color, thickness] = isHead ? [ACCENT, 0.8] : [RULE, 0.6];
  sheet.artifact(() => sheet.rule(sheet.y, { x: LEFT, width }, color, thickness));
}
