import { currencyFormat, decimalAmount, decimalText } from '../../contract/currencies.ts';

/** The true minus sign is as wide as a figure, and isn't broken off its number at the end of a line. */
const MINUS = '\u2212';

/** How amounts of one currency are printed, in the conventions of Ireland and the United Kingdom. */
export interface MoneyFormat {
  /** As in '€1,234.50'. */
  withSymbol: (amountMinor: number) => string;
  /** As in '1,234.50', for columns whose head names the currency. */
  plain: (amountMinor: number) => string;
}

/** Formats of a currency; `amountMinor` is in its smallest unit. */
export function moneyFormat(currency: string): MoneyFormat {
  const symbol = currencyFormat(currency)
    .formatToParts(0)
    .filter(({ type }) => type === 'currency' || type === 'literal')
    .map(({ value }) => value)
    .join('');
  const withPrefix = (amountMinor: number, prefix: string): string => {
    const [whole = '', fraction] = decimalAmount(Math.abs(amountMinor), currency).split('.');
    const sign = amountMinor < 0 ? MINUS : '';
    return `${sign}${prefix}${groupThousands(whole)}${fraction === undefined ? '' : `.${fraction}`}`;
  };
  return {
    withSymbol: (amountMinor) => withPrefix(amountMinor, symbol),
    plain: (amountMinor) => withPrefix(amountMinor, ''),
  };
}

/** A rate in basis points as a decimal: 1350 is `13.50`. */
export function percent(basisPoints: number): string {
  return decimalText(basisPoints, 2);
}

/** 1350 basis points as '13.5%'. */
export function rateText(basisPoints: number): string {
  return `${basisPoints / 100}%`;
}

/** A quantity of the contract, such as '-2500.5', as it is printed: '−2,500.5'. Zeros after the point are kept off. */
export function quantityText(quantity: string): string {
  const isNegative = quantity.startsWith('-');
  const [whole = '0', fraction = ''] = quantity.replace('-', '').split('.');
  const digits = fraction.replace(/0+$/, '');
  // No quantity is less than zero by nothing.
  const isZero = /^0*$/.test(whole + digits);
  return `${isNegative && !isZero ? MINUS : ''}${groupThousands(whole)}${digits === '' ? '' : `.${digits}`}`;
}

/**
 * The share that a discount takes off its unit price: a quantity of '-0.05' is '−5%'. Undefined for a quantity that
 * isn't between minus one and zero.
 */
export function shareText(quantity: string): string | undefined {
  const [, fraction] = /^-0\.(\d+)$/.exec(quantity) ?? [];
  if (fraction === undefined || Number(fraction) === 0) return undefined;
  const digits = fraction.padEnd(2, '0');
  return `${quantityText(`-${Number(digits.slice(0, 2))}.${digits.slice(2)}`)}%`;
}

function groupThousands(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ',');
}
