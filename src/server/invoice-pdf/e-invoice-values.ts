import { decimalText } from '../../contract/currencies.ts';
import { element, leaf } from './xml-text.ts';

/** A day `YYYY-MM-DD`, in format 102 of UNTDID 2379. */
export function date(name: string, day: string): string {
  return element(name, leaf('udt:DateTimeString', compactDay(day), { format: '102' }));
}

/** The same where the schema has a formatted date. */
export function formattedDate(name: string, day: string): string {
  return element(name, leaf('qdt:DateTimeString', compactDay(day), { format: '102' }));
}

/** A rate. A supply outside the scope of VAT has none, not even zero (BR-O-05). */
export function rateOf(category: string, rateBasisPoints: number): string | undefined {
  return category === 'O' ? undefined : leaf('ram:RateApplicablePercent', decimalText(rateBasisPoints, 2));
}

function compactDay(day: string): string {
  return day.replaceAll('-', '');
}
