/** The columns of a table: the text of each for an item, by its heading. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => string>>;

/**
 * Sets items as a table for people: columns stand below their headings, two blanks apart.
 * @param nothing the sentence that stands in place of a table without rows.
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

/** The columns that a text takes on a screen, where each letter takes one. */
function widthOf(text: string): number {
  return [...text].length;
}
