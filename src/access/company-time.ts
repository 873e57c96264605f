const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * The moment at which clocks of an IANA time zone show a time.
 * @param local `YYYY-MM-DDTHH:MM`. A time that they show twice, as clocks are set back, is the earlier one; one that
 *   they pass over is as long after the change as it would have been.
 * @returns undefined when it isn't a time of the calendar.
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

/** What clocks of a time zone show at a moment, as `YYYY-MM-DDTHH:MM`. */
export function companyLocal(timeZone: string, at: Date): string {
  return new Date(at.getTime() + offsetMs(timeZone, at.getTime())).toISOString().slice(0, 16);
}

/** How far ahead of UTC a time zone's clocks are at a moment. */
function offsetMs(timeZone: string, ms: number): number {
  let format = formats.get(timeZone);
  if (!format) {
    // Sweden writes its times as ISO 8601 does, but for a space.
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    formats.set(timeZone, format);
  }
  const shown = Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
  return shown - Math.floor(ms / 1000) * 1000;
}
