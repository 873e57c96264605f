import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';

/** What is numbered, each kind in a series of its own. */
export type Numbered = 'invoice' | 'credit_note' | 'pro_forma' | 'quote';

/** `{year}` is the year of issue, with which a series begins anew; `{number:4}` has at least four digits. */
export const defaultNumberFormats: Record<Numbered, string> = {
  invoice: 'INV-{year}-{number:4}',
  credit_note: 'CN-{year}-{number:4}',
  pro_forma: 'PF-{year}-{number:4}',
  quote: 'Q-{year}-{number:4}',
};

const NUMBER = /\{number(?::(\d))?\}/;
const NUMBER_MAX = 999_999_999;

/**
 * Takes the next number of a kind's series. It is given out for good with the move, and not at all if the move fails:
 * so a series has no gaps (Irish VAT regulation 20(2)(b), British regulation 14(1)(a)).
 */
export async function takeNumber(move: Move, kind: Numbered, day: string): Promise<string> {
  const format = move.company.numberFormats[kind] ?? defaultNumberFormats[kind];
  const series = seriesOf(format, day);
  const number = await move.takeNumber(series);
  if (number > NUMBER_MAX) throw new Refusal('limit_reached', `The series ${series} has no numbers left.`);
  return series.replace(NUMBER, (_placeholder, width = '1') => String(number).padStart(Number(width), '0'));
}

/** A format with the year of a day filled in: what tells one series from another. */
export function seriesOf(format: string, day: string): string {
  return format.replaceAll('{year}', day.slice(0, 4));
}

/** Says what is wrong with a format; undefined when nothing is. */
export function numberFormatProblem(format: string): string | undefined {
  if (format.length > 60) return 'must have at most 60 characters';
  const rest = format.replace(NUMBER, '').replaceAll('{year}', '');
  if (rest === format.replaceAll('{year}', '')) return 'must contain {number} or {number:4}';
  if (!/^[0-9A-Za-z ./_-]*$/.test(rest)) {
    return 'may contain {year}, one {number}, letters, digits, spaces, full stops, slashes, underscores and hyphens';
  }
  return undefined;
}
