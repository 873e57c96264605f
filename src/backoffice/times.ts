import { instantOf } from '../contract/times.ts';
import { quote } from '../errors.ts';
import { Refusal } from './refusal.ts';

/** How far the business system's clock may be ahead of ours. */
const AHEAD_MS_MAX = 5 * 60_000;

/** How far another time zone's calendar may be ahead of the company's. */
const AHEAD_DAYS_MAX = 1;

/**
 * Reads a time of the business system. `path` is where it is within the change.
 * @throws Refusal `invalid_change` when it is still to come, or in no year of four digits.
 */
export function readTime(time: string, now: Date, path: string): Date {
  const instant = instantOf(time);
  if (instant === undefined) {
    throw new Refusal(
      'invalid_change',
      `${path} is ${quote(time)}, which is in no year of four digits.`,
      path,
    );
  }
  if (instant > now.getTime() + AHEAD_MS_MAX) {
    throw new Refusal('invalid_change', `${path} is ${quote(time)}, which is still to come.`, path);
  }
  return new Date(instant);
}

/** The calendar day `YYYY-MM-DD` that comes so many days after another. */
export function daysAfter(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** Whether a calendar day is after `today` in every time zone in which it may have been written down. */
export function isToCome(day: string, today: string): boolean {
  return day > daysAfter(today, AHEAD_DAYS_MAX);
}
