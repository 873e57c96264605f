import { memoized } from './computed.ts';
import { DAY_MS } from './durations.ts';

/** Returns a time zone's date and time formats, in Swedish, which follows ISO 8601 but for a space before the time. */
const formatsOf = memoized((timeZone: string) => ({
  day: new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }),
  time: new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
}));

/** Returns the calendar day in a time zone at a given moment, as `YYYY-MM-DD`; only for years of at most four digits. */
export function companyDay(timeZone: string, now: Date): string {
  // Node omits a year's leading zeros.
  return formatsOf(timeZone).day.format(now).padStart('YYYY-MM-DD'.length, '0');
}

/**
 * Returns the moment of a local time in an IANA time zone.
 * @param local `YYYY-MM-DDTHH:MM`. A time that occurs twice, because clocks go back, means its first occurrence. A time that
 * is skipped, because clocks go forward, is moved forward by as much.
 * @returns undefined for a time that isn't in the calendar, such as 30 February.
 */
export function companyInstant(timeZone: string, local: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(local)) return undefined;
  const shownMs = Date.parse(`${local}:00.000Z`);
  if (Number.isNaN(shownMs) || !new Date(shownMs).toISOString().startsWith(local)) return undefined;
  // No time zone changes its offset twice within two days.
  const [before, after] = [offsetMs(timeZone, shownMs - DAY_MS), offsetMs(timeZone, shownMs + DAY_MS)];
  // The day after the last of year 9999 has no offset.
  const known = [before, after].filter((offset) => !Number.isNaN(offset)).map((offset) => shownMs - offset);
  const fitting = known.filter((ms) => offsetMs(timeZone, ms) === shownMs - ms);
  return new Date(fitting.length > 0 ? Math.min(...fitting) : shownMs - before);
}

/** Whether a text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  return companyInstant('UTC', `${text}T00:00`) !== undefined;
}

/** Returns the moment at which a day, `YYYY-MM-DD`, ends in a time zone; undefined for one that isn't in the calendar. */
export function companyDayEnd(timeZone: string, day: string): Date | undefined {
  const begin = companyInstant('UTC', `${day}T00:00`);
  const next = begin && new Date(begin.getTime() + DAY_MS).toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length);
  return next === undefined ? undefined : companyInstant(timeZone, next);
}

/** Returns the local time in a time zone at a moment, as `YYYY-MM-DDTHH:MM`. */
export function companyLocal(timeZone: string, at: Date): string {
  return new Date(at.getTime() + offsetMs(timeZone, at.getTime())).toISOString().slice(0, 16);
}

/** Returns the milliseconds by which a time zone is ahead of UTC at a given moment; negative if it is behind. */
function offsetMs(timeZone: string, ms: number): number {
  const local = formatsOf(timeZone).time.format(ms).padStart('YYYY-MM-DD HH:MM:SS'.length, '0');
  const shown = Date.parse(`${local.replace(' ', 'T')}Z`);
  return shown - Math.floor(ms / 1000) * 1000;
}

/** Returns this machine's time zone. It is UTC if TZ is empty or names an unknown zone, because Node then uses UTC too. */
export function machineZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions() as { timeZone?: string };
  return timeZone !== undefined && isTimeZone(timeZone) ? timeZone : 'UTC';
}

/** Whether a string names a time zone that Node knows. */
export function isTimeZone(value: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}
