import { instantOf } from '../../contract/times.ts';
import { quote } from '../../errors.ts';
import { Refusal } from './refusal.ts';

/** The first and last days that the contract allows; there is no year 0 (ISO 8601-1 has it by agreement only). */
export const CALENDAR_DAYS = { first: '0001-01-01', last: '9999-12-31' };

/** The first and last plausible days for documents and quotes; any other is taken for a typing error. */
const DOCUMENT_DAYS = { first: '1900-01-01', last: '2200-12-31' };

/** The maximum milliseconds by which the business system's clock may be ahead of ours. */
const AHEAD_MS_MAX = 5 * 60_000;

/** The maximum days by which the calendar of another time zone may be ahead of the company's. */
const AHEAD_DAYS_MAX = 1;

/**
 * Returns a time given by the business system; a time slightly in the future becomes the current time. `path` is the time's
 * place within the change.
 * @throws Refusal `invalid_change` for a time further in the future, or outside the years 1 to 9999.
 */
export function readTime(time: string, now: Date, path: string): Date {
  const instant = instantOf(time);
  if (instant === undefined) {
    throw new Refusal('invalid_change', `${path} is ${quote(time)}, whose year isn't from 1 to 9999.`, path);
  }
  if (instant > now.getTime() + AHEAD_MS_MAX) {
    throw new Refusal('invalid_change', `${path} is ${quote(time)}, which is in the future.`, path);
  }
  return new Date(Math.min(instant, now.getTime()));
}

/** Refuses a day, unless absent, outside a range, by default a plausible one. @throws Refusal `invalid_change`. */
export function refuseDayOutside(
  day: string | null | undefined,
  path: string,
  { first, last } = DOCUMENT_DAYS,
): void {
  if (typeof day !== 'string' || (day >= first && day <= last)) return;
  throw new Refusal('invalid_change', `${path} is ${day}, and must be from ${first} to ${last}.`, path);
}

/** Refuses a `supplyPeriod` that ends before it starts. @throws Refusal `invalid_change`. */
export function refuseBackwards(
  period: { startDate?: string; endDate?: string } | null | undefined,
  path: string,
): void {
  const { startDate, endDate } = period ?? {};
  if (startDate === undefined || endDate === undefined || endDate >= startDate) return;
  const message = `supplyPeriod ends on ${endDate}, before it starts on ${startDate}.`;
  throw new Refusal('invalid_change', message, `${path}/supplyPeriod/endDate`);
}

/** Refuses a day in the future, or outside the range for documents. @throws Refusal `invalid_change`. */
export function refuseDayToCome({ today }: { today: string }, day: string, path: string): void {
  refuseDayOutside(day, path);
  if (!isToCome(day, today)) return;
  const message = `${path} is ${day}, which is after ${today}, the day of the change.`;
  throw new Refusal('invalid_change', message, path);
}

/** Returns the calendar day, `YYYY-MM-DD`, that many days after the given one. */
export function daysAfter(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** Whether a calendar day is after `today` even in the time zone furthest ahead; false if it is absent. */
export function isToCome(day: string | null, today: string | null): boolean {
  return day !== null && today !== null && day > daysAfter(today, AHEAD_DAYS_MAX);
}
