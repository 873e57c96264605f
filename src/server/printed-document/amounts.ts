import { amountText, minorDigits } from '../../contract/currencies.ts';

/** Formatters for amounts of one currency, following Irish and British conventions. */
export interface MoneyFormat {
  /** As in '€1,234.50'. */
  withSymbol: (amountMinor: number) => string;
  /** As in '1,234.50', for columns whose heading names the currency. */
  plain: (amountMinor: number) => string;
}

export function moneyFormat(currency: string): MoneyFormat {
  return {
    withSymbol: (amountMinor) => withMinus(amountText(amountMinor, currency)),
    plain: (amountMinor) => withMinus(amountText(amountMinor, currency, { hasSymbol: false })),
  };
}

/** Replaces a hyphen with a minus sign, which is as wide as a figure and stays with its number at a line break. */
export function withMinus(text: string): string {
  return text.replace('-', '\u2212');
}

/** Formats an exact price such as '1234.5' with at least the decimals of its currency: '1,234.50'. */
export function priceText(price: string, currency: string): string {
  const format = { minimumFractionDigits: minorDigits(currency), maximumFractionDigits: 6 };
  return new Intl.NumberFormat('en-GB', format).format(price as Intl.StringNumericLiteral);
}

// Avoids a negative zero.
const options = { signDisplay: 'negative', maximumFractionDigits: 6 } as const;
const quantities = new Intl.NumberFormat('en-GB', options);
const shares = new Intl.NumberFormat('en-GB', { ...options, maximumFractionDigits: 4, style: 'percent' });

/** Formats a quantity such as '-2500.5' as '−2,500.5', without trailing zeros. */
export function quantityText(quantity: string): string {
  return withMinus(quantities.format(quantity as Intl.StringNumericLiteral));
}

/**
 * Formats a quantity that expresses a discount as a percentage: '-0.05' gives '−5%'. Undefined for a quantity that isn't
 * between minus one and zero.
 */
export function shareText(quantity: string): string | undefined {
  if (!/^-0\.\d*[1-9]\d*$/.test(quantity)) return undefined;
  return withMinus(shares.format(quantity as Intl.StringNumericLiteral));
}
