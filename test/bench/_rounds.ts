/** One of the things that are compared: does its work once and says how much of it that was. */
export interface Side {
  name: string;
  round: () => Promise<number>;
}

/** What a side reached, in units of its work a second: the median of its rounds, and the slowest and quickest. */
export interface Reached {
  name: string;
  perSecond: number;
  slowest: number;
  quickest: number;
}

/**
 * Lets the sides take turns, A B A B, so that a machine that becomes slower or quicker meanwhile hits all alike. The
 * first round of each warms up and doesn't count.
 */
export async function compare(sides: readonly Side[], rounds: number): Promise<Reached[]> {
  const rates = new Map<string, number[]>(sides.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { name, round: run } of sides) {
      const startedAt = performance.now();
      const units = await run();
      if (round > 0) rates.get(name)?.push(units / ((performance.now() - startedAt) / 1000));
    }
  }
  return [...rates].map(([name, ofSide]) => {
    const sorted = ofSide.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
    return { name, perSecond: at(0.5), slowest: at(0), quickest: at(1) };
  });
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
  const table = [['', `${unit}/s`, 'spread', 'ratio'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('   ');
  return table.map(lineOf).join('\n');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
