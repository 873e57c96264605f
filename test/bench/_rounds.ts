/**
 * Lets the sides take turns, A B A B, so that a machine that becomes slower or quicker meanwhile hits all alike. The
 * first round of each warms up and doesn't count.
 * @returns the results of each side's rounds, in the order of the sides.
 */
export async function takeTurns<T>(
  sides: readonly (() => Promise<T>)[],
  rounds: number,
): Promise<readonly T[][]> {
  const results = sides.map((): T[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, run] of sides.entries()) {
      const result = await run();
      if (round > 0) results[index]?.push(result);
    }
  }
  return results;
}

/** Work that is compared with other work: a round of it gives how much of it was done in a second. */
export interface Side {
  name: string;
  rate: () => Promise<number>;
}

/** Does so much work. @returns how much of it is done in a second. */
export async function rateOf(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (count * 1000) / (performance.now() - startedAt);
}

/** Lets the sides take turns. @returns a table of their median rates, each beside its ratio to the first. */
export async function compareRates(unit: string, sides: readonly Side[], rounds: number): Promise<string> {
  const rates = await takeTurns(
    sides.map(({ rate }) => rate),
    rounds,
  );
  const medians = rates.map(median);
  const rows = sides.map(({ name }, index) => [
    name,
    whole(medians[index] ?? 0),
    spread(rates[index] ?? []),
    ((medians[index] ?? 0) / (medians[0] ?? 1)).toFixed(2),
  ]);
  return aligned([['', `${unit}/s`, 'spread', 'ratio'], ...rows]);
}

/** The value below which this share of all values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round(share * (sorted.length - 1))] ?? 0;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function spread(values: readonly number[]): string {
  return `${whole(Math.min(...values))} to ${whole(Math.max(...values))}`;
}

/** Rows of cells as text: the first column to the left, the figures to the right. */
export function aligned(table: readonly (readonly string[])[]): string {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const padded = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return table.map((row) => row.map(padded).join('   ')).join('\n');
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
