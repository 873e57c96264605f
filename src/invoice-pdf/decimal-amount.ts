const digitsByCurrency = new Map<string, number>();

/** How many digits a minor unit of a currency stands for: two for EUR, none for JPY, three for KWD. */
export function minorDigits(currency: string): number {
  let digits = digitsByCurrency.get(currency);
  if (digits === undefined) {
    // The back office converts amounts by the same table.
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    digitsByCurrency.set(currency, digits);
  }
  return digits;
}

/** An amount in minor units as a decimal with a point, exact: -5 in EUR is `-0.05`. */
export function decimalAmount(amountMinor: number, currency: string): string {
  return decimal(amountMinor, minorDigits(currency));
}

/** A rate in basis points as a decimal: 1350 is `13.50`. */
export function percent(basisPoints: number): string {
  return decimal(basisPoints, 2);
}

function decimal(count: number, digits: number): string {
  const text = String(Math.abs(count)).padStart(digits + 1, '0');
  const sign = count < 0 ? '-' : '';
  return digits === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
