import { computedOnce } from './computed.ts';

/** ISO 4217 of 1 January 2026: the currencies whose minor unit isn't a hundredth. */
const digitsByCurrency = new Map(
  [
    { digits: 0, codes: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF' },
    { digits: 3, codes: 'BHD IQD JOD KWD LYD OMR TND' },
    { digits: 4, codes: 'CLF UYW' },
  ].flatMap(({ digits, codes }) => codes.split(' ').map((code) => [code, digits])),
);

/**
 * Digits that the minor unit of a currency stands for: two for EUR, none for JPY, three for KWD. `Intl` has those of
 * CLDR, which are others for 17 currencies. Two where ISO 4217 names none, as for gold and for withdrawn codes.
 * @throws RangeError for what can't be a code.
 */
export function minorDigits(currency: string): number {
  if (!/^[A-Z]{3}$/.test(currency)) throw new RangeError(`Not a currency: ${JSON.stringify(currency)}.`);
  return digitsByCurrency.get(currency) ?? 2;
}

/** An amount in minor units as a decimal with a point, exact: -5 in EUR is `-0.05`. */
export function decimalAmount(amountMinor: number, currency: string): string {
  return decimalText(amountMinor, minorDigits(currency));
}

/** A count of smallest parts as a decimal, exact: -5 with two digits is `-0.05`. */
export function decimalText(count: number | bigint, digits: number): string {
  // As text, an amount beyond a double's fifteen digits keeps its cents.
  const text = String(count)
    .replace('-', '')
    .padStart(digits + 1, '0');
  const sign = count < 0 ? '-' : '';
  return digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** An amount in minor units as it is written in Ireland and the United Kingdom: 123450 of EUR is `€1,234.50`. */
export function amountText(amountMinor: number, currency: string, { hasSymbol = true } = {}): string {
  const decimal = decimalAmount(amountMinor, currency) as Intl.StringNumericLiteral;
  return formatOf(currency)
    .formatToParts(decimal)
    .filter(({ type }) => hasSymbol || (type !== 'currency' && type !== 'literal'))
    .map(({ value }) => value)
    .join('');
}

/** Cached, because making a number format is slow. There are some 170 currencies. */
const formatOf = computedOnce((currency: string) => {
  const digits = minorDigits(currency);
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat('en-GB', { style: 'currency', currency, ...fraction });
});

/** A rate in basis points as a percentage: 1350 is `13.5%`. */
export function rateText(basisPoints: number): string {
  return `${basisPoints / 100}%`;
}
