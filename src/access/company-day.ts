const formats = new Map<string, Intl.DateTimeFormat>();

/** The calendar day `YYYY-MM-DD` on which `now` falls in an IANA time zone. */
export function companyDay(timeZone: string, now: Date): string {
  let format = formats.get(timeZone);
  if (!format) {
    // Sweden writes its dates as ISO 8601 does.
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formats.set(timeZone, format);
  }
  return format.format(now);
}
