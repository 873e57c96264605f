/** The columns of a text table: each heading with a function that returns an item's text for it. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => string>>;

/**
 * Formats items as a text table with headings, its columns aligned and two spaces apart.
 * @param nothing the sentence to return when there are no items.
 */
export function textTable<Item>(items: readonly Item[], columns: Columns<Item>, nothing: string): string {
  if (items.length === 0) return nothing;
  const headings = Object.keys(columns).map((heading) => heading.toUpperCase());
  const lines = [headings, ...items.map((item) => Object.values(columns).map((textOf) => textOf(item)))];
  const widths = headings.map((_heading, column) =>
    Math.max(...lines.map((cells) => widthOf(cells[column] ?? ''))),
  );
  const cellOf = (text: string, column: number) => text + ' '.repeat((widths[column] ?? 0) - widthOf(text));
  return lines.map((cells) => cells.map(cellOf).join('  ').trimEnd()).join('\n');
}

/** Counts the columns of a text on a screen, one for each character. */
function widthOf(text: string): number {
  return [...text].length;
}
