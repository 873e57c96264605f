/** Matches a `date-time` of RFC 3339 section 5.6, including lower-case letters and a space instead of the T. */
const RFC_3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})$/;
const EARLIEST_MS = Date.parse('0000-01-01T00:00:00.000Z');
/** Earliest accepted time, in milliseconds since 1970: Python, among others, doesn't support the year 0. */
const YEAR_ONE_MS = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST_MS = Date.parse('9999-12-31T23:59:59.999Z');
/** Text that sorts after every time in records. */
const AFTER_LATEST = '9999-12-31T24:00:00.000Z';

/**
 * Returns an RFC 3339 time in milliseconds since 1970. Finer fractions round up; a leap second counts as the next second.
 * @param time has been validated against the contract's `date-time` format.
 * @returns undefined for a time outside the years 1 to 9999 in UTC.
 */
export function instantOf(time: string): number | undefined {
  const instant = readInstant(time);
  return instant < YEAR_ONE_MS || instant > LATEST_MS ? undefined : instant;
}

/**
 * Returns an RFC 3339 time as `YYYY-MM-DDTHH:MM:SS.mmmZ`, which can be compared as text with the times in records. Finer
 * fractions round up to the next millisecond, so that "at or after" stays exact; a leap second counts as the next second.
 * @param time has been validated against the contract's `date-time` format.
 */
export function toUtc(time: string): string {
  const instant = readInstant(time);
  if (instant > LATEST_MS) return AFTER_LATEST;
  return new Date(Math.max(instant, EARLIEST_MS)).toISOString();
}

function readInstant(time: string): number {
  const [, day, minutes, seconds, fraction = '', offset = 'Z'] = RFC_3339.exec(time) ?? [];
  const isLeapSecond = seconds === '60';
  const whole = Date.parse(`${day}T${minutes}:${isLeapSecond ? '59' : seconds}${offset.toUpperCase()}`);
  const fractionMs = Math.ceil(Number(`0.${fraction || '0'}`) * 1000);
  return whole + (isLeapSecond ? 1000 : 0) + fractionMs;
}
