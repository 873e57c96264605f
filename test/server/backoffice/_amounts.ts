/** Random drafts with discounts, charges, exact prices and prices that include VAT. */
import fc from 'fast-check';

import type { DraftLine, NewInvoice } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { without } from '../../model/_model.ts';

export type RandomDraft = Pick<
  NewInvoice,
  'pricesIncludeVat' | 'allowances' | 'charges' | 'roundingMinor'
> & {
  lines: DraftLine[];
};

const reason = fc.constantFrom({ reason: 'Trade discount' }, { reasonCode: '95' });
const percent = fc.constantFrom('10', '2.5', '33.3333', '100', '0.01', '50');
/** Peppol refuses a base without a percentage, so few have one. */
const base = fc.constantFrom({}, {}, {}, {}, {}, { baseMinor: 500 });
const allowance = fc.oneof(
  fc.tuple(percent, reason).map(([share, why]) => ({ percent: share, ...why })),
  fc.nat(500).map((baseMinor) => ({ percent: '20', baseMinor, reason: 'On materials' })),
  fc.tuple(fc.nat(99), base, reason).map(([amountMinor, of, why]) => ({ amountMinor, ...of, ...why })),
);
const charge = fc.oneof(
  percent.map((share) => ({ percent: share, reason: 'Urgent work', reasonCode: 'FC' })),
  fc.nat(5000).map((amountMinor) => ({ amountMinor, reasonCode: 'FC' })),
);

const price = fc.oneof(
  fc.oneof(fc.nat(99), fc.integer({ min: 100, max: 200_000 })).map((unitPriceMinor) => ({ unitPriceMinor })),
  fc.nat(99_999_999).map((parts) => ({
    unitPrice: `${Math.trunc(parts / 1e6)}.${String(parts % 1e6).padStart(6, '0')}`,
  })),
);

/** The VAT of a line, with the reason for none, or the rate under reverse charge. */
export type LineVat = Pick<
  DraftLine,
  'vatCategory' | 'vatRateBasisPoints' | 'vatExemptionReason' | 'reverseChargeRateBasisPoints'
>;

/** Lines at rates at which VAT is charged. */
export const charged = (...rates: number[]): LineVat[] =>
  rates.map((vatRateBasisPoints) => ({ vatCategory: 'S', vatRateBasisPoints }));

const draftLine = (vats: readonly LineVat[]) =>
  fc
    .record(
      {
        price,
        rate: fc.constantFrom(...vats),
        quantity: fc.integer({ min: 1, max: 9 }),
        priceBaseQuantity: fc.constantFrom('100', '3', '0.5'),
        allowances: fc.array(allowance, { maxLength: 2 }),
        charges: fc.array(charge, { maxLength: 2 }),
      },
      { requiredKeys: ['price', 'rate', 'quantity'] },
    )
    .map(({ price: own, rate: at, quantity, ...others }): DraftLine => {
      return { description: 'Item', quantity: String(quantity), ...own, ...at, ...others };
    });

export const draftWithAmounts = draftIn([
  ...charged(2300, 1350, 900, 480),
  { vatCategory: 'Z', vatRateBasisPoints: 0 },
]);

/** A draft whose lines have one of these each; its own discounts and charges are in categories that they have. */
export function draftIn(vats: readonly LineVat[]): fc.Arbitrary<RandomDraft> {
  return fc
    .record({
      lines: fc.array(draftLine(vats), { minLength: 1, maxLength: 4 }),
      pricesIncludeVat: fc.boolean(),
      allowances: fc.array(fc.tuple(fc.nat(3), allowance), { maxLength: 2 }),
      charges: fc.array(fc.tuple(fc.nat(3), charge), { maxLength: 2 }),
      roundingMinor: fc.constantFrom(undefined, undefined, -3, 2),
    })
    .map(({ lines, allowances, charges, roundingMinor, pricesIncludeVat }) => {
      const placed = <T>(all: [index: number, one: T][]) =>
        all.map(([index, one]) => {
          const { vatCategory = 'S', vatRateBasisPoints = 2300 } = lines[index % lines.length] ?? {};
          return { ...one, vatCategory, vatRateBasisPoints };
        });
      return {
        lines: lines.map((line, index) => ({ ...line, description: `Item ${index + 1}` })),
        ...(pricesIncludeVat ? { pricesIncludeVat } : {}),
        ...(allowances.length === 0 ? {} : { allowances: placed(allowances) }),
        ...(charges.length === 0 ? {} : { charges: placed(charges) }),
        ...(roundingMinor === undefined ? {} : { roundingMinor }),
      };
    });
}

/** The lines of an invoice as a reader of the API would send them back: with the price that the API shows. */
export function linesAsShown({ lines }: Pick<Invoice, 'lines'>): DraftLine[] {
  return lines.map((line) => ({
    ...without(line, 'id', 'position', 'amountMinor'),
    vatCategory: line.vatCategory as DraftLine['vatCategory'],
  }));
}

/** Splits whole quantities in two: so many of each line, and the rest. */
export function splitQuantities(
  lines: readonly DraftLine[],
  parts: readonly number[],
): [DraftLine[], DraftLine[]] {
  const part = (line: DraftLine, index: number) => (parts[index] ?? 0) % (Number(line.quantity) + 1);
  const some = (quantityOf: (line: DraftLine, index: number) => number) =>
    lines
      .map((line, index) => ({ ...line, quantity: String(quantityOf(line, index)) }))
      .filter(({ quantity }) => quantity !== '0');
  return [some(part), some((line, index) => Number(line.quantity) - part(line, index))];
}
