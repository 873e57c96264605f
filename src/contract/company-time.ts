import { computedOnce } from './computed.ts';
import { DAY_MS } from './durations.ts';

/** Sweden writes its dates as ISO 8601 does, and its times except for a space. */
const formatsOf = computedOnce((timeZone: string) => ({
  day: new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }),
  time: new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
}));

/** The calendar day at a moment, as `YYYY-MM-DD`, in years with four digits. */
export function companyDay(timeZone: string, now: Date): string {
  // Node leaves out the zeros before a year.
  return formatsOf(timeZone).day.format(now).padStart('YYYY-MM-DD'.length, '0');
}

/**
 * The moment of a local time in an IANA time zone.
 * @param local `YYYY-MM-DDTHH:MM`. Of a time that occurs twice, because clocks are set back, the earlier moment counts.
 *   A time that clocks skip is moved on by the skipped time.
 * @returns undefined when there is no such time in the calendar.
 */
export function companyInstant(timeZone: string, local: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(local)) return undefined;
  const shownMs = Date.parse(`${local}:00.000Z`);
  if (Number.isNaN(shownMs) || !new Date(shownMs).toISOString().startsWith(local)) return undefined;
  // No zone changes twice within two days.
  const [before, after] = [offsetMs(timeZone, shownMs - DAY_MS), offsetMs(timeZone, shownMs + DAY_MS)];
  const fitting = [shownMs - before, shownMs - after].filter((ms) => offsetMs(timeZone, ms) === shownMs - ms);
  return new Date(fitting.length > 0 ? Math.min(...fitting) : shownMs - before);
}

/** The local time in a time zone at a moment, as `YYYY-MM-DDTHH:MM`. */
export function companyLocal(timeZone: string, at: Date): string {
  return new Date(at.getTime() + offsetMs(timeZone, at.getTime())).toISOString().slice(0, 16);
}

/** The offset of a time zone from UTC at a moment. */
function offsetMs(timeZone: string, ms: number): number {
  const local = formatsOf(timeZone).time.format(ms).padStart('YYYY-MM-DD HH:MM:SS'.length, '0');
  const shown = Date.parse(`${local.replace(' ', 'T')}Z`);
  return shown - Math.floor(ms / 1000) * 1000;
}

/** The time zone of this machine: UTC where TZ is empty or names none that Node knows, as its own times have it then. */
export function machineZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions() as { timeZone?: string };
  return timeZone !== undefined && isTimeZone(timeZone) ? timeZone : 'UTC';
}

/** Whether a text names a time zone that Node knows. */
export function isTimeZone(value: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return true;
  } catch {
    return false;
  }
}
