/** Calculated prices in the main unit of their currency, with as many decimal places as needed, up to twelve. */
import { decimalText, minorDigits } from './currencies.ts';
import {
  BASIS_POINTS_PER_UNIT,
  divideHalfUp,
  millionths,
  parseDecimal,
  QUANTITY,
  UNIT_PRICE,
} from './exact.ts';

/** Number of parts of the main unit in which prices are computed, as integers. */
const PARTS = 10n ** 12n;

/** Returns the unit price, never negative, at which a quantity costs the given amount. */
export function exactUnitPrice(amountMinor: number, quantity: string, currency: string): string {
  const digits = minorDigits(currency);
  const scaled = BigInt(amountMinor) * 10n ** BigInt(18 - digits);
  const whole = millionths(quantity);
  const sign = whole < 0n ? -1n : 1n;
  const price = divideHalfUp(scaled * sign, whole * sign);
  return textOf(price < 0n ? 0n : price, digits);
}

/** Returns the price of one unit without VAT, given the price of `baseQuantity` units with VAT. */
export function priceWithoutVat(price: string, rateBasisPoints: number, baseQuantity = '1'): string {
  const { numerator, denominator } = parseDecimal(price, UNIT_PRICE);
  const base = parseDecimal(baseQuantity, QUANTITY);
  const scaled = numerator * base.denominator * PARTS * BASIS_POINTS_PER_UNIT;
  const divisor = denominator * base.numerator * (BASIS_POINTS_PER_UNIT + BigInt(rateBasisPoints));
  return textOf(divideHalfUp(scaled, divisor));
}

/** Returns the exact sum of two prices. */
export function sumOfPrices(price: string, other: string): string {
  const [parts, otherParts] = [price, other].map((text) => {
    const { numerator, denominator } = parseDecimal(text, /^\d+(?:\.\d{1,12})?$/);
    return (numerator * PARTS) / denominator;
  });
  return textOf((parts ?? 0n) + (otherParts ?? 0n));
}

/** Returns a price as a decimal with at least `digits` digits after the decimal point. */
function textOf(parts: bigint, digits = 0): string {
  return decimalText(parts, 12).replace(new RegExp(`\\.?0{0,${12 - digits}}$`), '');
}
