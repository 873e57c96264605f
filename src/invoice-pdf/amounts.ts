/** The true minus sign is as wide as a figure, and isn't broken off its number at the end of a line. */
const MINUS = '\u2212';

/** How amounts of one currency are written, in the conventions of Ireland and the United Kingdom. */
export interface MoneyFormat {
  /** As in '€1,234.50'. */
  withSymbol: (amountMinor: number) => string;
  /** As in '1,234.50', for columns whose head names the currency. */
  plain: (amountMinor: number) => string;
}

/** Making a number format takes longer than everything else that is done with it. There are some 170 currencies. */
const formats = new Map<string, MoneyFormat>();

/** Formats of a currency; `amountMinor` is in its smallest unit, of which it has as many as ISO 4217 says. */
export function moneyFormat(currency: string): MoneyFormat {
  const known = formats.get(currency);
  if (known) return known;
  const made = makeFormat(currency);
  formats.set(currency, made);
  return made;
}

function makeFormat(currency: string): MoneyFormat {
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  const symbol = format
    .formatToParts(0)
    .filter(({ type }) => type === 'currency' || type === 'literal')
    .map(({ value }) => value)
    .join('');
  const unsigned = (amountMinor: number): string => {
    // As text, an amount beyond a double's fifteen digits keeps its cents.
    const text = String(Math.abs(amountMinor)).padStart(digits + 1, '0');
    const whole = groupThousands(digits === 0 ? text : text.slice(0, -digits));
    return digits === 0 ? whole : `${whole}.${text.slice(-digits)}`;
  };
  const sign = (amountMinor: number): string => (amountMinor < 0 ? MINUS : '');
  return {
    withSymbol: (amountMinor) => `${sign(amountMinor)}${symbol}${unsigned(amountMinor)}`,
    plain: (amountMinor) => `${sign(amountMinor)}${unsigned(amountMinor)}`,
  };
}

/** A quantity of the contract, such as '-2500.5', as it is printed: '−2,500.5'. Zeros after the point are kept off. */
export function quantityText(quantity: string): string {
  const isNegative = quantity.startsWith('-');
  const [whole = '0', fraction = ''] = quantity.replace('-', '').split('.');
  const digits = fraction.replace(/0+$/, '');
  return `${isNegative ? MINUS : ''}${groupThousands(whole)}${digits === '' ? '' : `.${digits}`}`;
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

/** 1350 basis points as '13.5%'. */
export function rateText(basisPoints: number): string {
  return `${basisPoints / 100}%`;
}

function groupThousands(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ',');
}
