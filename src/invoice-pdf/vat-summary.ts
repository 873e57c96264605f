import type { Invoice } from '../contract/records.ts';
import { moneyFormat, rateText } from './amounts.ts';
import { GUTTER, naturalWidths, placeColumns } from './columns.ts';
import type { Column, PlacedColumn } from './columns.ts';
import { dateText } from './dates.ts';
import { ACCENT, RULE, STYLES } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet, Tag } from './sheet.ts';
import type { TextBlock, TextStyle } from './text-blocks.ts';
import { categoryText, hidesReverseCharge, isMargin, showsVat } from './wording.ts';

type Breakdown = Invoice['vatBreakdown'];
type Totals = Invoice['totals'];

/** What each VAT category and rate comes to, measured before it is drawn. */
export interface VatSummary {
  height: number;
  width: number;
  draw: (at: { x: number; y: number }) => void;
}

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
  if (!showsVat(printed.record)) return undefined;
  const inputs = amountsOf(printed.record).map((amounts) => measure(sheet, printed, amounts));
  const natural = Math.max(
    ...inputs.map(({ widths }) => widths.reduce((sum, width) => sum + width + GUTTER, -GUTTER)),
  );
  const width = natural <= narrow ? narrow : wide;
  const tables = inputs.map((input) => layTable(sheet, input, width));
  return {
    width,
    height: tables.reduce((sum, { height }) => sum + height + GAP, -GAP),
    draw: ({ x, y }) => {
      let top = y;
      for (const table of tables) {
        drawTable(sheet, table, { x, y: top, width });
        top += table.height + GAP;
      }
    },
  };
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
    { head: 'VAT', align: 'left', widthMax: 110 },
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
    columns: placeColumns(columns, widths, { x: 0, width }),
    rows,
    height: heading.height + 2 + (block?.height ?? 0) + (rows.length + 1) * ROW_HEIGHT,
  };
}

function drawTable(sheet: Sheet, table: LaidTable, box: { x: number; y: number; width: number }): void {
  const { heading, caption } = table;
  let { y } = box;
  sheet.tagged(sheet.root, 'H2', () => sheet.draw(heading, { ...box, y }));
  y += heading.height + 2;
  if (caption) {
    sheet.tagged(sheet.root, 'P', () => sheet.draw(caption, { ...box, y }));
    y += caption.height;
  }
  const placed = table.columns.map((column) => ({ ...column, x: box.x + column.x }));
  const tag = sheet.group(sheet.root, 'Table');
  const lay = (texts: readonly string[], style: TextStyle) =>
    placed.map(({ width }, index) => sheet.text(texts[index] ?? '', style, width));
  const heads = placed.map(({ head }) => head);
  drawCells(sheet, tag, { cells: lay(heads, STYLES.head), placed, y, isHead: true });
  for (const row of table.rows) {
    y += ROW_HEIGHT;
    drawCells(sheet, tag, { cells: lay(row, STYLES.cell), placed, y, isHead: false });
  }
  tag.end();
}

function rowsOf(printed: PrintedDocument, { currency, vatBreakdown, totals }: Amounts): string[][] {
  const { plain } = moneyFormat(currency);
  const hasMargin = printed.record.lines.some(isMargin);
  const rows = vatBreakdown.map(({ category, rateBasisPoints, taxableMinor, vatMinor }) => [
    hasMargin && category === 'E' ? 'Margin scheme' : categoryText(category, rateBasisPoints),
    plain(taxableMinor),
    // Beside the Irish reverse charge on construction no amount of VAT may stand, not even none.
    category === 'AE' && hidesReverseCharge(printed) ? '–' : plain(vatMinor),
  ]);
  if (totals) rows.push(['Total', plain(totals.netMinor), plain(totals.vatMinor)]);
  return rows;
}

interface CellRow {
  cells: TextBlock[];
  placed: PlacedColumn[];
  y: number;
  isHead: boolean;
}

function drawCells(sheet: Sheet, table: Tag, { cells, placed, y, isHead }: CellRow): void {
  const row = sheet.group(table, 'TR');
  const top = y + PADDING;
  placed.forEach((column, index) => {
    const cell = cells[index];
    if (!cell) return;
    const scope = isHead ? ('Column' as const) : index === 0 ? ('Row' as const) : undefined;
    sheet.tagged(
      row,
      scope ? 'TH' : 'TD',
      () => sheet.draw(cell, { ...column, y: top }, column.align),
      scope ? { scope } : {},
    );
  });
  row.end();
  const [first] = placed;
  const last = placed.at(-1);
  if (!first || !last) return;
  const bottom = y + STYLES.cell.leading + 2 * PADDING;
  const width = last.x + last.width - first.x;
  sheet.artifact(() => sheet.rule(bottom, { x: first.x, width }, isHead ? ACCENT : RULE, isHead ? 0.8 : 0.6));
}

/** The VAT that a British customer accounts for, at each rate that the lines state (HMRC VATREVCON37100). */
export function reverseChargeStatements(printed: PrintedDocument): string[] {
  const { record, supplier, reverseChargeRates } = printed;
  const isBritish = supplier.countryCode === 'GB' && record.buyer.countryCode === 'GB';
  const charged = record.lines.filter(({ vatCategory }) => vatCategory === 'AE');
  if (!isBritish || charged.length === 0) return [];
  const { withSymbol } = moneyFormat(record.currency);
  const rates = [...new Set(charged.map(({ id }) => reverseChargeRates[id] ?? 0))].filter((rate) => rate > 0);
  return rates.map((rate) => {
    const ofRate = charged.filter(({ id }) => reverseChargeRates[id] === rate);
    const netMinor = ofRate.reduce((sum, { amountMinor }) => sum + BigInt(amountMinor), 0n);
    const vat = withSymbol(shareOf(netMinor, rate));
    return `VAT of ${vat} (${rateText(rate)} of ${withSymbol(Number(netMinor))}) is for the customer to pay to HMRC, and is not included in the total.`;
  });
}

/** Rounds half up, away from zero, as the documents' own VAT is rounded. */
function shareOf(netMinor: bigint, basisPoints: number): number {
  const scaled = netMinor * BigInt(basisPoints);
  const magnitude = scaled < 0n ? -scaled : scaled;
  const rounded = (magnitude + 5_000n) / 10_000n;
  return Number(scaled < 0n ? -rounded : rounded);
}
