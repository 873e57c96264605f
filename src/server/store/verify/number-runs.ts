/** A series of numbers, such as `INV-2026-{number:4}`, and the last number that it has given out. */
export interface Series {
  series: string;
  last: number;
}

interface Read {
  series: string;
  number: number;
  digits: number;
}

/** Numbers of a series with as many digits, from the first to the last so far. */
interface Run {
  first: number;
  last: number;
  /** Whether the last one was imported. */
  isImported: boolean;
}

const PLACE = /\{number(?::(\d))?\}/;

/** Which number of which series a document's number is; undefined when none of them has given it out. */
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
 * Takes the numbers of documents in the order of their texts, in which those of a series with as many digits are in the
 * order of numbers, and says where one is missing or comes twice. It keeps two numbers for each count of digits.
 */
export function createRuns(all: readonly Series[]) {
  const runs = new Map<string, Map<number, Run>>();
  return {
    /**
     * @param isImported whether the business system gave it out: then there may be gaps before it and behind it.
     * @returns what is wrong between this number and the one before it.
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
    /** @returns each series with what is wrong between its runs, and at its end. */
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
