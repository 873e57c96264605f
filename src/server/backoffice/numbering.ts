import { getCompany } from '../store/records/companies.ts';
import { companyDay } from '../../contract/company-time.ts';
import { quote, UsageError } from '../../errors.ts';
import type { Engine, StoreTransaction } from '../store/engines/engine.ts';
import { hasQuoteNumber, hasSeriesNumber } from '../store/records/moves.ts';
import {
  changeNumbering,
  defaultNumberFormats,
  findNumbering,
  formatOf,
  highestNumber,
  kindsIn,
  type Numbered,
  type Numbering,
  takeNextNumber,
} from '../store/records/number-series.ts';
import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';

const NUMBER = /\{number(?::(\d))?\}/;
const NUMBER_MAX = 999_999_999;
const FORMAT_CHARACTERS_MAX = 60;

/** The lag in milliseconds of the clock behind the last stamp that counts as set back; a burst of changes causes less. */
const CLOCK_BACK_MS = 10 * 60_000;

/**
 * Takes the next number in a document kind's series. A failed move uses no number, so that a series has no gaps
 * (Irish VAT regulation 20(2)(b), British regulation 14(1)(a)).
 * @throws Refusal `wrong_state` when the clock was set back by a day or more, `limit_reached` and `duplicate_id`.
 */
export async function takeNumber(move: Move, kind: Numbered, day: string): Promise<string> {
  refuseClockSetBack(move);
  const { transaction, company } = move;
  const series = seriesOf(kind, company.numberFormats, day);
  const isTaken = async (number: string) =>
    kind === 'quote'
      ? hasQuoteNumber(transaction, company.id, number)
      : hasSeriesNumber(transaction, company.id, number, kindsIn(series, company.numberFormats));
  const takeAfter = async (last: number) => {
    const count = await takeNextNumber(transaction, company.id, series, last);
    if (count > NUMBER_MAX)
      throw new Refusal('limit_reached', `The series ${series} has no numbers left.`, '/with/id');
    const number = inSeries(series, count);
    return { number, isFree: !(await isTaken(number)) };
  };
  const next = await takeAfter(0);
  if (next.isFree) return next.number;
  // Imported numbers can have any format, and two formats can produce one number.
  const { number, isFree } = await takeAfter(
    await highestIn(transaction, company.id, series, company.numberFormats),
  );
  if (isFree) return number;
  const message = `The number ${quote(number)} is already used; set another format, or the last number.`;
  throw new Refusal('duplicate_id', message, '/with/id');
}

/** Refuses to assign a number on a day before the company's last change, because an assigned number can't be taken back. */
function refuseClockSetBack({ clock, today, company: { lastStampMs, timeZone } }: Move): void {
  if (clock === undefined || lastStampMs < clock.getTime() + CLOCK_BACK_MS) return;
  const day = companyDay(timeZone, new Date(lastStampMs));
  if (day <= today) return;
  const message = `The clock says ${today}, and the company's last change was on ${day}. Set the clock, or give the time of issue in at.`;
  throw new Refusal('wrong_state', message, '/with/id');
}

/** Returns the name of a document kind's series: its number format with the year of the given day filled in. */
function seriesOf(kind: Numbered, formats: Numbering['formats'], day: string): string {
  return formatOf(kind, formats).replaceAll('{year}', day.slice(0, 4));
}

function inSeries(series: string, number: number): string {
  return series.replace(NUMBER, (_placeholder, width = '1') => String(number).padStart(Number(width), '0'));
}

/** The number format of a kind of document, and the number that its next document would get today. */
export interface KindNumbering {
  kind: Numbered;
  format: string;
  next: string;
}

/**
 * Returns the number format and next number for each kind of a company's documents.
 * @throws UsageError when there is no such company.
 */
export async function getNumbering(engine: Engine, company: string, now: Date): Promise<KindNumbering[]> {
  const { timeZone } = await getCompany(engine, company);
  const numbering = (await findNumbering(engine.db, company)) ?? { formats: {}, lastNumbers: {} };
  return (Object.keys(defaultNumberFormats) as Numbered[]).map((kind) => {
    const series = seriesOf(kind, numbering.formats, companyDay(timeZone, now));
    const format = formatOf(kind, numbering.formats);
    return { kind, format, next: inSeries(series, (numbering.lastNumbers[series] ?? 0) + 1) };
  });
}

/**
 * Sets a kind of document's number format and the number after which its series continues.
 * @param given.last the last number assigned elsewhere.
 * @throws UsageError naming the invalid value; a series can't go back below the highest number of a document, so that none is
 * assigned twice.
 */
export async function setNumbering(
  engine: Engine,
  company: string,
  given: { kind: string; format?: string; last?: number; now: Date },
): Promise<KindNumbering[]> {
  const { timeZone } = await getCompany(engine, company);
  const day = companyDay(timeZone, given.now);
  await engine.transaction((transaction) => setSeriesOf(transaction, company, { ...given, day }));
  return getNumbering(engine, company, given.now);
}

/**
 * Sets a kind of document's numbering like `setNumbering`, but within the caller's transaction.
 * @param given.day the day whose year fills `{year}` in the format.
 */
export async function setSeriesOf(
  transaction: StoreTransaction,
  company: string,
  given: { kind: string; format?: string | undefined; last?: number | undefined; day: string },
): Promise<void> {
  const { kind, format, last, day } = given;
  if (!isNumbered(kind)) {
    throw new UsageError(
      `${quote(kind)} is not a kind of document with numbers; those are ${Object.keys(defaultNumberFormats).join(', ')}.`,
    );
  }
  const problem = format === undefined ? undefined : numberFormatProblem(format);
  if (problem !== undefined)
    throw new UsageError(`The format ${quote(format ?? '')} ${problem}.`, { field: 'format' });
  await changeNumbering(transaction, company, async (numbering) => {
    const formats = format === undefined ? numbering.formats : { ...numbering.formats, [kind]: format };
    if (last === undefined) return { formats, lastNumbers: {} };
    const series = seriesOf(kind, formats, day);
    const highest = await highestIn(transaction, company, series, formats);
    if (last < highest)
      throw new UsageError(
        `The number ${inSeries(series, highest)} is already used, so the last one can't be ${last}.`,
        { field: 'last' },
      );
    return { formats, lastNumbers: { [series]: last } };
  });
}

/** Advances the current series of a kind of document to the highest number that a business system has assigned in it. */
export async function advancePastImported(
  transaction: StoreTransaction,
  company: string,
  { kind, day }: { kind: Numbered; day: string },
): Promise<void> {
  await changeNumbering(transaction, company, async ({ formats, lastNumbers }) => {
    const series = seriesOf(kind, formats, day);
    const highest = await highestIn(transaction, company, series, formats);
    const last = Math.max(lastNumbers[series] ?? 0, highest);
    return { formats, lastNumbers: last === 0 ? {} : { [series]: last } };
  });
}

/** Returns the highest number that any document has in a series; 0 if none. */
function highestIn(
  transaction: StoreTransaction,
  company: string,
  series: string,
  formats: Numbering['formats'],
): Promise<number> {
  const [before = '', , after = ''] = series.split(NUMBER);
  return highestNumber(transaction, company, [before, after], kindsIn(series, formats));
}

function isNumbered(kind: string): kind is Numbered {
  return Object.hasOwn(defaultNumberFormats, kind);
}

/** Returns the problem with a number format; undefined for a valid one. */
function numberFormatProblem(format: string): string | undefined {
  if (format.length > FORMAT_CHARACTERS_MAX) return `must have at most ${FORMAT_CHARACTERS_MAX} characters`;
  if (!NUMBER.test(format)) return 'must contain {number} or {number:4}';
  const rest = format.replace(NUMBER, '').replaceAll('{year}', '');
  if (/^[0-9A-Za-z ./_-]*$/.test(rest)) return undefined;
  return 'may have {year}, {number} once, letters, digits, spaces, full stops, slashes, underscores and hyphens';
}
