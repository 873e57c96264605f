/**
 * Exact arithmetic on amounts. Inputs are integers in minor units and decimal strings. Calculations use BigInt, so nothing is
 * rounded by accident. Halves are rounded away from zero: -0.5 becomes -1.
 */

/** Matches a quantity in the contract: at most nine digits before and six after the decimal point. */
export const QUANTITY = /^-?(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?$/;

/** Matches an exact price in the feed, in the main unit of its currency. */
export const UNIT_PRICE = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/;

/** Number of basis points in a rate of 100%. */
export const BASIS_POINTS_PER_UNIT = 10_000n;

export function sumMinor(amounts: readonly number[]): number {
  return safeNumber(amounts.reduce((sum, amount) => sum + BigInt(amount), 0n));
}

/** Returns a percentage, such as '12.5', of an amount, rounded to the minor unit (PEPPOL-EN16931-R040). */
export function percentMinor(baseMinor: number, percent: string): number {
  const { numerator, denominator } = parseDecimal(percent, /^(?:0|[1-9]\d{0,2})(?:\.\d{1,4})?$/);
  return safeNumber(divideHalfUp(BigInt(baseMinor) * numerator, denominator * 100n));
}

/** Returns a quantity in millionths, and so as an integer. */
export function millionths(quantity: string): bigint {
  const { numerator, denominator } = parseDecimal(quantity, QUANTITY);
  return (numerator * 1_000_000n) / denominator;
}

/** Returns the fraction `part` / `whole` of an amount, rounded to the minor unit. */
export function proportionMinor(amountMinor: number, part: bigint, whole: bigint): number {
  const sign = whole < 0n ? -1n : 1n;
  return safeNumber(divideHalfUp(BigInt(amountMinor) * part * sign, whole * sign));
}

/**
 * Splits an amount in proportion to weights, whose sum must be above zero. Each running total is rounded, so that the
 * parts add up to the amount and each is within a minor unit of its exact share.
 */
export function splitMinor(amountMinor: number, weights: readonly number[]): number[] {
  const whole = BigInt(sumMinor(weights));
  let [weight, before] = [0n, 0];
  return weights.map((own) => {
    weight += BigInt(own);
    const upTo = proportionMinor(amountMinor, weight, whole);
    const part = upTo - before;
    before = upTo;
    return part;
  });
}

export interface Fraction {
  numerator: bigint;
  denominator: bigint;
}

/** Returns a decimal text as an exact fraction. @throws RangeError for a string that doesn't match the pattern. */
export function parseDecimal(text: string, pattern: RegExp): Fraction {
  if (!pattern.test(text))
    throw new RangeError(`Not a decimal of the expected form: ${JSON.stringify(text)}.`);
  const pointAt = text.indexOf('.');
  if (pointAt < 0) return { numerator: BigInt(text), denominator: 1n };
  return {
    numerator: BigInt(text.slice(0, pointAt) + text.slice(pointAt + 1)),
    denominator: 10n ** BigInt(text.length - pointAt - 1),
  };
}

/** Returns a quotient rounded to an integer, halves away from zero. The denominator must be positive. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const rounded = (2n * magnitude + denominator) / (2n * denominator);
  return numerator < 0n ? -rounded : rounded;
}

/** Returns an exact amount as a number. @throws RangeError for an amount that isn't a safe integer. */
export function safeNumber(amount: bigint): number {
  const number = Number(amount);
  if (!Number.isSafeInteger(number)) throw new RangeError(`Amount out of range: ${amount}.`);
  return number;
}
