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

/** A price in minor units, or exact in the main unit of a currency, for one unit or several. */
export interface ModelPrice {
  unitPriceMinor?: number;
  unitPrice?: string;
  priceBaseQuantity?: string;
}

export function lineAmount(quantity: string, price: number | ModelPrice, currency = 'EUR'): bigint {
  const {
    unitPriceMinor = 0,
    unitPrice,
    priceBaseQuantity = '1',
  } = typeof price === 'number' ? { unitPriceMinor: price } : price;
  const millionths =
    unitPrice === undefined
      ? BigInt(unitPriceMinor) * 1_000_000n
      : partsOf(unitPrice, 6) * 10n ** digitsOf(currency);
  return halfUp(partsOf(quantity, 6) * millionths, 1_000_000n * partsOf(priceBaseQuantity, 6));
}

/** A percentage of at most four decimals. */
export const percentOf = (amount: bigint, percent: string) =>
  halfUp(amount * partsOf(percent, 4), 1_000_000n);

/** The VAT in an amount that includes it. */
export const vatWithin = (gross: bigint, rateBasisPoints: number) =>
  halfUp(gross * BigInt(rateBasisPoints), 10_000n + BigInt(rateBasisPoints));

/**
 * Amounts without VAT that add up: each rounded down, and then the largest remainders up, the first ones first. What a
 * credit note has more or less to share goes round once more, or back from the smallest.
 */
export function netShares(grosses: readonly bigint[], net: bigint, rateBasisPoints: number): bigint[] {
  const divisor = 10_000n + BigInt(rateBasisPoints);
  const floors = grosses.map((gross) => {
    const down = (gross * 10_000n) / divisor;
    return down * divisor > gross * 10_000n ? down - 1n : down;
  });
  const places = grosses.map((gross, index) => ({
    index,
    rest: gross * 10_000n - (floors[index] ?? 0n) * divisor,
  }));
  places.sort((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest > b.rest ? -1 : 1));
  const missing = net - sumOf(floors);
  const order = places.filter(({ index }) => grosses[index] !== 0n);
  if (missing < 0n) order.reverse();
  for (let step = 0; order.length > 0 && step < Math.abs(Number(missing)); step += 1) {
    const { index = 0 } = order[step % order.length] ?? {};
    floors[index] = (floors[index] ?? 0n) + (missing < 0n ? -1n : 1n);
  }
  return floors;
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
