const formats = new Map<string, { format: Intl.NumberFormat; minorUnits: number }>();

/** An amount of minor units as people write it: 12345 of EUR is `€123.45`. */
export function amountText(minor: number, currency: string): string {
  let known = formats.get(currency);
  if (!known) {
    const format = new Intl.NumberFormat('en-IE', { style: 'currency', currency });
    known = { format, minorUnits: 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2) };
    formats.set(currency, known);
  }
  return known.format.format(minor / known.minorUnits);
}

/** A calendar day `YYYY-MM-DD` as people write it: `20 Nov 2026`. */
export function dayText(day: string | null, none = '—'): string {
  return day === null ? none : days.format(new Date(`${day}T00:00:00Z`));
}

const days = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium' });
