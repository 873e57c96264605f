import type { Align, Sheet } from './sheet.ts';
import type { TextStyle } from './text-blocks.ts';

export interface Column {
  head: string;
  align: Align;
  /** As wide as its widest text, up to here; beyond, its text goes on in the next line. */
  widthMax: number;
}

/** A column with its place on the page, in points. */
export interface PlacedColumn extends Column {
  x: number;
  width: number;
}

/** Between two columns. */
export const GUTTER = 10;

/** How wide columns want to be for their texts, in points. */
export function naturalWidths(
  sheet: Sheet,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  styles: { head: TextStyle; cell: TextStyle },
): number[] {
  return columns.map(({ head, widthMax }, index) => {
    let widest = sheet.textWidth(head, styles.head);
    for (const row of rows) widest = Math.max(widest, sheet.textWidth(row[index] ?? '', styles.cell));
    // Rounding must not break a line that was just measured.
    return Math.min(widthMax, widest + 0.01);
  });
}

/** Places columns from left to right; the first one gets what the others leave. */
export function placeColumns(
  columns: readonly Column[],
  widths: readonly number[],
  space: { x: number; width: number },
): PlacedColumn[] {
  const others = widths.slice(1).reduce((sum, width) => sum + width + GUTTER, 0);
  let x = space.x;
  return columns.map((column, index) => {
    const width = index === 0 ? space.width - others : (widths[index] ?? 0);
    const placed = { ...column, x, width };
    x += width + GUTTER;
    return placed;
  });
}
