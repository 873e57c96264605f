const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

/** A calendar date of the contract, such as '2026-11-09', as '9 November 2026'. */
export function dateText(date: string): string {
  const [year = '', month = '', day = ''] = date.split('-');
  return `${Number(day)} ${MONTHS[Number(month) - 1] ?? month} ${year}`;
}

/** A period as '9 to 13 November 2026', naming month and year once where both days have the same. */
export function periodText({ startDate, endDate }: { startDate: string; endDate: string }): string {
  if (startDate === endDate) return dateText(endDate);
  const start = dateText(startDate).split(' ');
  const end = dateText(endDate).split(' ');
  if (start[2] !== end[2]) return `${start.join(' ')} to ${end.join(' ')}`;
  if (start[1] !== end[1]) return `${start[0] ?? ''} ${start[1] ?? ''} to ${end.join(' ')}`;
  return `${start[0] ?? ''} to ${end.join(' ')}`;
}
