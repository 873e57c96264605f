/** One of the things that are compared: does its work once and says how much of it that was. */
export interface Side {
  name: string;
  round: () => Promise<number>;
}

/** The speed of a side, in units of its work a second: the median of its rounds, and the slowest and quickest. */
export interface Reached {
  name: string;
  perSecond: number;
  slowest: number;
  quickest: number;
}

/**
 * Lets the sides take turns, A B A B, so that a machine that becomes slower or quicker meanwhile hits all alike. The
 * first round of each warms up and doesn't count.
 * @returns what the rounds of each side gave, in the order of the sides.
 */
export async function takeTurns<T>(
  sides: readonly (() => Promise<T>)[],
  rounds: number,
): Promise<readonly T[][]> {
  const given = sides.map((): T[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, run] of sides.entries()) {
      const result = await run();
      if (round > 0) given[index]?.push(result);
    }
  }
  return given;
}

/** Lets the sides take turns, and says how much of its work each did in a second. */
export async function compare(sides: readonly Side[], rounds: number): Promise<Reached[]> {
  const timed = sides.map(({ name, round }) => ({
    name,
    rate: async () => {
      const startedAt = performance.now();
      const units = await round();
      return units / ((performance.now() - startedAt) / 1000);
    },
  }));
  return await compareRates(timed, rounds);
}

/** The same of sides that take their own time, because not all of a round is their work. */
export async function compareRates(
  sides: readonly { name: string; rate: () => Promise<number> }[],
  rounds: number,
): Promise<Reached[]> {
  const rates = await takeTurns(
    sides.map(({ rate }) => rate),
    rounds,
  );
  return sides.map(({ name }, index) => {
    const [slowest, perSecond, quickest] = [0, 0.5, 1].map((share) => quantile(rates[index] ?? [], share));
    return { name, perSecond: perSecond ?? 0, slowest: slowest ?? 0, quickest: quickest ?? 0 };
  });
}

/** The value below which this share of all values lies; 0.5 gives the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round(share * (sorted.length - 1))] ?? 0;
}

/** A table of what was reached, each beside its ratio to the first. */
export function tableOf(unit: string, reached: readonly Reached[]): string {
  const first = reached[0]?.perSecond ?? 1;
  const rows = reached.map(({ name, perSecond, slowest, quickest }) => [
    name,
    whole(perSecond),
    `${whole(slowest)} to ${whole(quickest)}`,
    (perSecond / first).toFixed(2),
  ]);
  return aligned([['', `${unit}/s`, 'spread', 'ratio'], ...rows]);
}

/** Rows of cells as text: the first column to the left, the figures to the right. */
export function aligned(table: readonly (readonly string[])[]): string {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('   ');
  return table.map(lineOf).join('\n');
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
