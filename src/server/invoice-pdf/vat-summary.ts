import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import { ACCENT, LEFT_MARGIN, RULE, STYLES } from './page-design.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { Sheet } from './sheet.ts';
import { type LaidTable, layTable, naturalWidths, placeColumns, sumWidths, type TextTable } from './table.ts';
import type { TextBlock } from './text-blocks.ts';
import {
  categoryText,
  dateText,
  hidesReverseCharge,
  isMargin,
  isMarginOnly,
  isSilent,
  showsVat,
} from '../printed-document/wording.ts';

/** The laid-out table of sums for each VAT category and rate. */
export interface VatSummary {
  height: number;
  /** Whether it leaves the right column free for the totals. */
  isNarrow: boolean;
  /** Draws the summary from the current position, over several pages if necessary. */
  draw: () => void;
}

/** The greatest height, in points, of a summary beside the totals; a taller one goes below them. */
const NARROW_HEIGHT_MAX = 330;
const GAP = 12;
const HEADING_GAP = 2;
const CELL = { leading: STYLES.cell.leading, padding: 3 };
/** The height of the rows that stay together with the heading. */
const KEPT_HEIGHT = 3 * (CELL.leading + 2 * CELL.padding);

/** Amounts in one currency. Those in the currency of the VAT return have totals, and a caption with the exchange rate. */
interface Amounts {
  currency: string;
  vatBreakdown: Invoice['vatBreakdown'];
  totals?: Invoice['totals'];
  caption?: string;
}

/** A VAT table for one currency, as shown. */
export interface VatTable extends TextTable {
  title: string;
  /** The exchange rate, or an empty text. */
  caption: string;
}

/** A VAT table laid out at one width. */
interface Part {
  title: TextBlock;
  caption: TextBlock;
  table: LaidTable;
  isCramped: boolean;
}

/** Returns the VAT tables for the document's currency and that of the VAT return; none for a document without VAT. */
export function vatTablesOf(printed: PrintedDocument): VatTable[] {
  const { record } = printed;
  if (!showsVat(record) || isSilent(printed) || isMarginOnly(record)) return [];
  return amountsOf(record).map((amounts) => ({
    title: amounts.caption === undefined ? 'VAT summary' : `VAT in ${amounts.currency}`,
    caption: amounts.caption ?? '',
    columns: [
      { head: 'Rate', align: 'left', widthMax: 110 },
      { head: `Net (${amounts.currency})`, align: 'right', widthMax: 130 },
      { head: `VAT (${amounts.currency})`, align: 'right', widthMax: 130 },
    ],
    rows: textsOf(printed, amounts),
  }));
}

/**
 * Lays out the VAT summary, `narrow` points wide, or `wide` where its amounts need it; undefined without VAT.
 */
export function vatSummary(
  sheet: Sheet,
  printed: PrintedDocument,
  narrow: number,
  wide: number,
): VatSummary | undefined {
  const tables = vatTablesOf(printed);
  if (tables.length === 0) return undefined;
  const partsIn = (width: number) => tables.map((table) => layPart(sheet, table, width));
  const narrowParts = partsIn(narrow);
  const isNarrow =
    !narrowParts.some(({ isCramped }) => isCramped) && heightOf(narrowParts) <= NARROW_HEIGHT_MAX;
  const parts = isNarrow ? narrowParts : partsIn(wide);
  return {
    isNarrow,
    height: heightOf(parts),
    draw: () =>
      parts.forEach((part, index) => {
        if (index > 0) sheet.y += GAP;
        drawPart(sheet, part);
      }),
  };
}

function heightOf(parts: readonly Part[]): number {
  const heights = parts.map(
    ({ title, caption, table }) => title.height + HEADING_GAP + caption.height + table.height,
  );
  return heights.reduce((sum, height) => sum + height + GAP, -GAP);
}

function amountsOf({ currency, vatBreakdown, accountingCurrency }: Invoice): Amounts[] {
  const own = { currency, vatBreakdown };
  if (!accountingCurrency) return [own];
  const { exchangeRate, exchangeRateDate, exchangeRateSource } = accountingCurrency;
  const rate = `1 ${currency} = ${exchangeRate} ${accountingCurrency.currency}`;
  const caption = `${rate} (${exchangeRateSource}, ${dateText(exchangeRateDate)})`;
  return [own, { ...accountingCurrency, caption }];
}

function layPart(sheet: Sheet, { title, caption, columns, rows }: VatTable, width: number): Part {
  const widths = naturalWidths(sheet, columns, rows, STYLES);
  return {
    title: sheet.text(title, STYLES.label, width),
    caption: sheet.text(caption, STYLES.small, width),
    table: layTable(sheet, {
      columns: placeColumns(columns, widths, { x: LEFT_MARGIN, width }),
      heads: { ...CELL, style: STYLES.head, below: [ACCENT, 0.8] },
      rows: rows.map((texts) => ({ ...CELL, texts, style: STYLES.cell, below: [RULE] })),
      hasRowHeads: true,
    }),
    isCramped: sumWidths(widths) > width,
  };
}

function drawPart(sheet: Sheet, { title, caption, table }: Part): void {
  const drawDown = (type: string, block: TextBlock) =>
    sheet.tagged(sheet.root, type, () => sheet.drawDown(block, { x: LEFT_MARGIN, width: 0 }));
  sheet.makeRoom(title.height + caption.height + KEPT_HEIGHT);
  drawDown('H2', title);
  sheet.y += HEADING_GAP;
  if (caption.lines.length > 0) drawDown('P', caption);
  table.draw(sheet.root);
}

function textsOf(printed: PrintedDocument, { currency, vatBreakdown, totals }: Amounts): string[][] {
  const { plain } = moneyFormat(currency);
  const hasMargin = printed.record.lines.some(isMargin);
  const texts = vatBreakdown.map(({ category, rateBasisPoints, taxableMinor, vatMinor }) => {
    const isOfMargin = hasMargin && category === 'E';
    // No amount of VAT must be shown, not even zero.
    const isUnstated = isOfMargin || (category === 'AE' && hidesReverseCharge(printed));
    return [
      isOfMargin ? 'Margin scheme' : categoryText(category, rateBasisPoints),
      plain(taxableMinor),
      isUnstated ? '–' : plain(vatMinor),
    ];
  });
  if (totals) texts.push(['Total', plain(totals.netMinor), plain(totals.vatMinor)]);
  return texts;
}
