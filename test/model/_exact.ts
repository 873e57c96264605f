/**
 * VAT arithmetic done again in the simplest way, with nothing but BigInt, to check the service's own
 * (EN 16931, BR-CO-17).
 */

/** The largest integer that a number can hold exactly. */
export const SAFE = 2n ** 53n - 1n;

export const isSafe = (amount: bigint) => amount >= -SAFE && amount <= SAFE;

export const sumOf = (amounts: readonly (number | bigint)[]) =>
  amounts.reduce<bigint>((sum, amount) => sum + BigInt(amount), 0n);

/** The nearest integer to a fraction; a half goes away from zero. */
export function halfUp(numerator: bigint, denominator: bigint): bigint {
  if (numerator < 0n) return -halfUp(-numerator, denominator);
  const whole = numerator / denominator;
  const rest = numerator % denominator;
  return 2n * rest >= denominator ? whole + 1n : whole;
}

/** A decimal text with at most that many digits behind the point, as a count of its smallest parts. */
export function partsOf(decimal: string, digits: number): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(`${whole}${fraction.padEnd(digits, '0')}`);
}

export function lineAmount(quantity: string, unitPriceMinor: number): bigint {
  return halfUp(partsOf(quantity, 6) * BigInt(unitPriceMinor), 1_000_000n);
}

export function vatOn(taxable: bigint, rateBasisPoints: number): bigint {
  return halfUp(taxable * BigInt(rateBasisPoints), 10_000n);
}

export interface Item {
  category: string;
  rateBasisPoints: number;
  taxable: bigint;
  vat: bigint;
}

export interface Totals {
  net: bigint;
  vat: bigint;
  gross: bigint;
}

/** A line of those that make up a breakdown. */
export interface AmountLine {
  amount: bigint;
  vatCategory: string;
  vatRateBasisPoints: number;
}

const ORDER = ['S', 'Z', 'E', 'AE', 'K', 'G', 'O'];

export function breakdownOf(lines: readonly AmountLine[]): Item[] {
  const groups = Map.groupBy(lines, (line) => `${line.vatCategory}/${line.vatRateBasisPoints}`);
  const items = [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { vatCategory: category, vatRateBasisPoints: rateBasisPoints } = first;
    const taxable = sumOf([first, ...others].map(({ amount }) => amount));
    const vat = category === 'S' ? vatOn(taxable, rateBasisPoints) : 0n;
    return [{ category, rateBasisPoints, taxable, vat }];
  });
  return items.sort(
    (a, b) => ORDER.indexOf(a.category) - ORDER.indexOf(b.category) || b.rateBasisPoints - a.rateBasisPoints,
  );
}

export function totalsOf(items: readonly Item[]): Totals {
  const net = sumOf(items.map(({ taxable }) => taxable));
  const vat = sumOf(items.map(({ vat: ofItem }) => ofItem));
  return { net, vat, gross: net + vat };
}

/** Currencies whose minor unit isn't a hundredth; ISO 4217. */
const MINOR_DIGITS: Partial<Record<string, number>> = { JPY: 0, KWD: 3 };
export const digitsOf = (currency: string) => BigInt(MINOR_DIGITS[currency] ?? 2);

/** An amount in another currency. */
export function converted(amount: bigint, rate: string, from: string, to: string): bigint {
  const numerator = amount * partsOf(rate, 8) * 10n ** digitsOf(to);
  return halfUp(numerator, 10n ** 8n * 10n ** digitsOf(from));
}

export function convertedItems(items: readonly Item[], rate: string, from: string, to: string): Item[] {
  return items.map((item) => ({
    ...item,
    taxable: converted(item.taxable, rate, from, to),
    vat: converted(item.vat, rate, from, to),
  }));
}

/** Every amount of a breakdown with its totals. */
export function amountsOf(items: readonly Item[]): bigint[] {
  const { net, vat, gross } = totalsOf(items);
  return [...items.flatMap((item) => [item.taxable, item.vat]), net, vat, gross];
}

/** A breakdown as records show it. */
export const asBreakdown = (items: readonly Item[]) =>
  items.map(({ category, rateBasisPoints, taxable, vat }) => ({
    category,
    rateBasisPoints,
    taxableMinor: Number(taxable),
    vatMinor: Number(vat),
  }));

/** Totals as records show them. */
export const asTotals = ({ net, vat, gross }: Totals) => ({
  netMinor: Number(net),
  vatMinor: Number(vat),
  grossMinor: Number(gross),
});
