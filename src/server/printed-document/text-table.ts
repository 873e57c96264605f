/** A table whose cells are texts of one or more lines. */
export interface TextTable {
  columns: readonly TextColumn[];
  rows: readonly (readonly string[])[];
  /** The subtotal after each row, which is carried from page to page; undefined for a table without subtotals. */
  carried?: readonly string[];
}

/** A column, as wide as its widest text up to `widthMax` points, beyond which text wraps. */
export interface TextColumn {
  head: string;
  align: 'left' | 'right';
  widthMax: number;
}
