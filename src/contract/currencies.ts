import { memoized } from './computed.ts';

/** Numbers of decimal places of the currencies whose minor unit isn't a hundredth, from ISO 4217 of 1 January 2026. */
const digitsByCurrency = new Map(
  [
    { digits: 0, codes: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF' },
    { digits: 3, codes: 'BHD IQD JOD KWD LYD OMR TND' },
    { digits: 4, codes: 'CLF UYW' },
  ].flatMap(({ digits, codes }) => codes.split(' ').map((code) => [code, digits])),
);

/**
 * Returns a currency's number of decimal places: two for EUR, none for JPY, three for KWD. It is two if ISO 4217 gives
 * none, as for gold and withdrawn codes. `Intl` isn't used because CLDR gives different numbers for 17 currencies.
 * @throws RangeError for a string that can't be a currency code.
 */
export function minorDigits(currency: string): number {
  if (!/^[A-Z]{3}$/.test(currency)) throw new RangeError(`Not a currency: ${JSON.stringify(currency)}.`);
  return digitsByCurrency.get(currency) ?? 2;
}

/** Returns an amount in minor units as an exact decimal in the main unit: -5 in EUR becomes `-0.05`. */
export function decimalAmount(amountMinor: number, currency: string): string {
  return decimalText(amountMinor, minorDigits(currency));
}

/** Returns a scaled integer as an exact decimal: -5 with two digits becomes `-0.05`. */
export function decimalText(count: number | bigint, digits: number): string {
  // Dividing would lose the cents of an amount that has more than a double's fifteen digits.
  const text = String(count)
    .replace('-', '')
    .padStart(digits + 1, '0');
  const sign = count < 0 ? '-' : '';
  return digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Returns an amount in minor units as Ireland and the United Kingdom write it: 123450 in EUR becomes `€1,234.50`. */
export function amountText(amountMinor: number, currency: string, { hasSymbol = true } = {}): string {
  const decimal = decimalAmount(amountMinor, currency) as Intl.StringNumericLiteral;
  return formatOf(currency)
    .formatToParts(decimal)
    .filter(({ type }) => hasSymbol || (type !== 'currency' && type !== 'literal'))
    .map(({ value }) => value)
    .join('');
}

/** Returns a currency's number format, cached because creating one is slow. There are some 170 currencies. */
const formatOf = memoized((currency: string) => {
  const digits = minorDigits(currency);
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat('en-GB', { style: 'currency', currency, ...fraction });
});

/** Returns a rate in basis points as a percentage: 1350 becomes `13.5%`. */
export function rateText(basisPoints: number): string {
  return `${basisPoints / 100}%`;
}
