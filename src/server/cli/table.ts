/**
 * Sets rows as a table for people: columns stand below their headings, two blanks apart.
 * @param rows the texts of each row, as many as there are headings.
 * @param nothing the sentence that stands in place of a table without rows.
 */
export function textTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  nothing: string,
): string {
  if (rows.length === 0) return nothing;
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows];
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
