import { amountText, minorDigits } from '../../contract/currencies.ts';

/** How amounts of one currency are printed, in the conventions of Ireland and the United Kingdom. */
export interface MoneyFormat {
  /** As in '€1,234.50'. */
  withSymbol: (amountMinor: number) => string;
  /** As in '1,234.50', for columns whose head names the currency. */
  plain: (amountMinor: number) => string;
}

export function moneyFormat(currency: string): MoneyFormat {
  return {
    withSymbol: (amountMinor) => withMinus(amountText(amountMinor, currency)),
    plain: (amountMinor) => withMinus(amountText(amountMinor, currency, { hasSymbol: false })),
  };
}

/** The minus sign is as wide as a figure, and stays with its number at a line break. */
export function withMinus(text: string): string {
  return text.replace('-', '\u2212');
}

/** An exact price of the feed, such as '1234.5', with as many decimals as its currency has at least: '1,234.50'. */
export function priceText(price: string, currency: string): string {
  const format = { minimumFractionDigits: minorDigits(currency), maximumFractionDigits: 6 };
  return new Intl.NumberFormat('en-GB', format).format(price as Intl.StringNumericLiteral);
}

// Avoids a negative zero.
const options = { signDisplay: 'negative', maximumFractionDigits: 6 } as const;
const quantities = new Intl.NumberFormat('en-GB', options);
const shares = new Intl.NumberFormat('en-GB', { ...options, maximumFractionDigits: 4, style: 'percent' });

/** A quantity of the contract, such as '-2500.5', as it is printed: '−2,500.5'. Zeros after the point are kept off. */
export function quantityText(quantity: string): string {
  return withMinus(quantities.format(quantity as Intl.StringNumericLiteral));
}

/**
 * The share that a discount takes off its unit price: a quantity of '-0.05' is '−5%'. Undefined for a quantity that
 * isn't between minus one and zero.
 */
export function shareText(quantity: string): string | undefined {
  if (!/^-0\.\d*[1-9]\d*$/.test(quantity)) return undefined;
  return withMinus(shares.format(quantity as Intl.StringNumericLiteral));
}
