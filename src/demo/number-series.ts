/** Numbers of documents without gaps: a series starts again each year and is taken from in the order of issue. */
export interface NumberSeries {
  /** The next number. The moment must not be before that of the number before. */
  next(issuedAtMs: number): string;
  /** The first moment at or after the given one that is after the last number. */
  notBefore(atMs: number): number;
}

export function createNumberSeries(prefix: string): NumberSeries {
  let year = 0;
  let count = 0;
  let lastMs = 0;
  return {
    next(issuedAtMs) {
      if (issuedAtMs < lastMs) throw new RangeError(`${prefix} numbers are given in the order of issue.`);
      const issuedIn = new Date(issuedAtMs).getUTCFullYear();
      if (issuedIn !== year) count = 0;
      year = issuedIn;
      count += 1;
      lastMs = issuedAtMs;
      return `${prefix}-${year}-${String(count).padStart(4, '0')}`;
    },
    notBefore: (atMs) => Math.max(atMs, lastMs + 1),
  };
}
