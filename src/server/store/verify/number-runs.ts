/** A number series, such as `INV-2026-{number:4}`, and the last number allocated from it. */
export interface Series {
  series: string;
  last: number;
}

interface Read {
  series: string;
  number: number;
  digits: number;
}

/** The numbers of a series that have the same count of digits: the first, and the last seen so far. */
interface Run {
  first: number;
  last: number;
  /** Whether the last number belongs to an imported document. */
  isImported: boolean;
}

const PLACE = /\{number(?::(\d))?\}/;

/** Returns the series of a document's number and the number within it; undefined if no series has allocated it. */
export function readNumber(all: readonly Series[], text: string): Read | undefined {
  const found = all
    .map(({ series, last }) => ({ last, read: readIn(series, text) }))
    .filter(({ last, read }) => read !== undefined && read.number <= last)
    .map(({ read }) => read);
  // If two series match, prefer the one with the longer fixed text.
  return found.sort((a, b) => (a?.digits ?? 0) - (b?.digits ?? 0))[0];
}

function readIn(series: string, text: string): Read | undefined {
  const place = PLACE.exec(series);
  if (!place) return undefined;
  const [prefix, suffix] = [series.slice(0, place.index), series.slice(place.index + place[0].length)];
  const digits = text.slice(prefix.length, text.length - suffix.length);
  const number = Number(digits);
  const isRight = digits === String(number).padStart(Number(place[1] ?? '1'), '0');
  if (!isRight || text !== `${prefix}${digits}${suffix}`) return undefined;
  return { series, number, digits: digits.length };
}

/**
 * Returns a checker that finds missing and duplicate numbers. It takes documents' numbers sorted as text, in which numbers of
 * a series with equally many digits are in numerical order, and stores two numbers for each count of digits.
 */
export function createRuns(all: readonly Series[]) {
  const runs = new Map<string, Map<number, Run>>();
  return {
    /**
     * Takes the next document's number, and returns the problems between the previous number and this one.
     * @param isImported whether the business system allocated it, so that gaps before and after it are allowed.
     */
    add(text: string, isImported = false): string[] {
      const read = readNumber(all, text);
      if (!read) return [];
      const { series, number, digits } = read;
      const ofSeries = runs.get(series) ?? new Map<number, Run>();
      runs.set(series, ofSeries);
      const run = ofSeries.get(digits);
      if (!run) {
        ofSeries.set(digits, { first: number, last: number, isImported });
        return [];
      }
      const { last, isImported: wasImported } = run;
      Object.assign(run, { last: number, isImported });
      if (isImported || wasImported) return [];
      if (number === last) return ['two documents have this number'];
      return number === last + 1 ? [] : [missing(last + 1, number - 1)];
    },
    /** Returns each series with the problems between its runs and at its end. */
    end(): [series: string, problem: string][] {
      return [...runs].flatMap(([series, ofSeries]) => {
        const given = all.find((one) => one.series === series)?.last ?? 0;
        const inOrder = [...ofSeries].sort(([a], [b]) => a - b).map(([, run]) => run);
        const nexts = [...inOrder.slice(1).map(({ first }) => first), given + 1];
        return inOrder.flatMap(({ last, isImported }, index): [string, string][] => {
          const next = nexts[index] ?? last + 1;
          return isImported || next === last + 1 ? [] : [[series, missing(last + 1, next - 1)]];
        });
      });
    },
  };
}

function missing(from: number, to: number): string {
  return from === to ? `no document has the number ${from}` : `no document has the numbers ${from} to ${to}`;
}
