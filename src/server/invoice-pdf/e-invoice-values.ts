import { decimalText } from '../../contract/currencies.ts';
import { element, leaf } from './xml-text.ts';

/** A day `YYYY-MM-DD`, in format 102 of UNTDID 2379: `qdt` where the schema has a formatted date. */
export function date(name: string, day: string, prefix: 'udt' | 'qdt' = 'udt'): string {
  return element(name, leaf(`${prefix}:DateTimeString`, day.replaceAll('-', ''), { format: '102' }));
}

/** A rate. A supply outside the scope of VAT has none, not even zero (BR-O-05). */
export function rateOf(category: string, rateBasisPoints: number): string | undefined {
  return category === 'O' ? undefined : leaf('ram:RateApplicablePercent', decimalText(rateBasisPoints, 2));
}
