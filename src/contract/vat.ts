/**
 * VAT arithmetic of documents, exact.
 *
 * Amounts are integers in minor units, rates are integers in basis points, quantities and exchange rates are
 * decimal strings. Rounding is half up and symmetric, as the validators of EN 16931 and HMRC VATREC12030 have it.
 *
 * An amount beyond Number.MAX_SAFE_INTEGER, a fraction where an integer belongs and a malformed decimal are
 * RangeErrors: the contract refuses them before they come here.
 */
import { amountText, minorDigits } from './currencies.ts';
import {
  BASIS_POINTS_PER_UNIT,
  divideHalfUp,
  type Fraction,
  parseDecimal,
  QUANTITY,
  safeNumber,
  sumMinor,
  UNIT_PRICE,
} from './exact.ts';
import type { DocumentAmounts, GivenLineAmounts } from './document-amounts.ts';
import type { Invoice } from './records.ts';

type Line = Invoice['lines'][number];
type Totals = Invoice['totals'];
type VatBreakdownItem = Invoice['vatBreakdown'][number];

export type VatLine = Pick<Line, 'amountMinor' | 'vatCategory' | 'vatRateBasisPoints'>;

const categoriesInOrder = ['S', 'Z', 'E', 'AE', 'K', 'G', 'O'];

/** A price in minor units, or exact in the main unit of its currency, for one unit or a number of them. */
export type Price = { currency: string } & {
  [Name in 'unitPriceMinor' | 'unitPrice' | 'priceBaseQuantity']?: GivenLineAmounts[Name] | undefined;
};

/**
 * Quantity times unit price, rounded once to the minor unit (PEPPOL-EN16931-R120).
 * @param price in minor units for one unit, or with its base quantity (BT-149).
 */
export function lineAmountMinor(quantity: string, price: number | Price): number {
  const { numerator, denominator } = parseDecimal(quantity, QUANTITY);
  const each =
    typeof price === 'number' ? { numerator: BigInt(price), denominator: 1n } : priceFraction(price);
  return safeNumber(divideHalfUp(numerator * each.numerator, denominator * each.denominator));
}

/** The price of one unit in minor units. */
function priceFraction({
  currency,
  unitPriceMinor = 0,
  unitPrice,
  priceBaseQuantity = '1',
}: Price): Fraction {
  const base = parseDecimal(priceBaseQuantity, QUANTITY);
  const price =
    unitPrice === undefined
      ? { numerator: BigInt(unitPriceMinor), denominator: 1n }
      : parseDecimal(unitPrice, UNIT_PRICE);
  const minor = unitPrice === undefined ? 1n : 10n ** BigInt(minorDigits(currency));
  return {
    numerator: price.numerator * minor * base.denominator,
    denominator: price.denominator * base.numerator,
  };
}

/** The VAT in an amount that includes it: 80.00 at 13.5 % has 9.52. */
export function vatWithinMinor(grossMinor: number, rateBasisPoints: number): number {
  const rate = BigInt(rateBasisPoints);
  return safeNumber(divideHalfUp(BigInt(grossMinor) * rate, BASIS_POINTS_PER_UNIT + rate));
}

/**
 * Amounts without VAT that add up to `netMinor`: each is its amount with VAT less the VAT in it, rounded down or up. The
 * largest fractions are rounded up, the first of equal ones first.
 */
export function netShares(
  grossMinors: readonly number[],
  netMinor: number,
  rateBasisPoints: number,
): number[] {
  const divisor = BASIS_POINTS_PER_UNIT + BigInt(rateBasisPoints);
  const parts = grossMinors.map((grossMinor, index) => {
    const scaled = BigInt(grossMinor) * BASIS_POINTS_PER_UNIT;
    const fraction = ((scaled % divisor) + divisor) % divisor;
    return { index, grossMinor, fraction, net: (scaled - fraction) / divisor };
  });
  const rounded = parts
    .filter(({ grossMinor }) => grossMinor !== 0)
    .sort((a, b) => Number(b.fraction - a.fraction) || a.index - b.index);
  let missing = BigInt(netMinor) - parts.reduce((sum, { net }) => sum + net, 0n);
  // A credit note may have a minor unit more or less to share than its own amounts give.
  while (missing !== 0n && rounded.length > 0) {
    const step = missing > 0n ? 1n : -1n;
    for (const part of step > 0n ? rounded : rounded.toReversed()) {
      if (missing === 0n) break;
      part.net += step;
      missing -= step;
    }
  }
  return parts.map(({ net }) => safeNumber(net));
}

/** The VAT on a taxable amount (EN 16931 BR-CO-17). */
export function vatMinor(taxableMinor: number, rateBasisPoints: number): number {
  return safeNumber(divideHalfUp(BigInt(taxableMinor) * BigInt(rateBasisPoints), BASIS_POINTS_PER_UNIT));
}

/** The VAT of an item of a breakdown: it is charged in category S alone. */
export function vatOf({
  category,
  rateBasisPoints,
  taxableMinor,
}: Pick<VatBreakdownItem, 'category' | 'rateBasisPoints' | 'taxableMinor'>): number {
  return category === 'S' ? vatMinor(taxableMinor, rateBasisPoints) : 0;
}

/**
 * One item for each category and rate among the lines. VAT is computed on the sum of an item's lines and never per
 * line; it is charged in category S alone. Items come in the order S, Z, E, AE, K, G, O, then any others by their code,
 * the highest rate first. The order of the lines doesn't matter.
 */
export function vatBreakdown(lines: readonly VatLine[]): VatBreakdownItem[] {
  const items = new Map<string, Omit<VatBreakdownItem, 'taxableMinor' | 'vatMinor'> & { taxable: bigint }>();
  for (const line of lines) {
    const key = `${line.vatCategory} ${line.vatRateBasisPoints}`;
    const item = items.get(key);
    if (item) item.taxable += BigInt(line.amountMinor);
    else {
      items.set(key, {
        category: line.vatCategory,
        rateBasisPoints: line.vatRateBasisPoints,
        taxable: BigInt(line.amountMinor),
      });
    }
  }
  return [...items.values()].sort(compareItems).map(({ category, rateBasisPoints, taxable }) => {
    const item = { category, rateBasisPoints, taxableMinor: safeNumber(taxable) };
    return { ...item, vatMinor: vatOf(item) };
  });
}

/** The sums of a breakdown. They are sums of rounded amounts and are not rounded again (BR-CO-10, 13, 14 and 15). */
export function totals(breakdown: readonly VatBreakdownItem[]): Totals {
  const net = breakdown.reduce((sum, item) => sum + BigInt(item.taxableMinor), 0n);
  const vat = breakdown.reduce((sum, item) => sum + BigInt(item.vatMinor), 0n);
  return { netMinor: safeNumber(net), vatMinor: safeNumber(vat), grossMinor: safeNumber(net + vat) };
}

/** The conversion of a document's amounts into the company's own currency. */
export interface CurrencyConversion {
  /** ISO 4217 codes; they tell how many digits a minor unit stands for: two for EUR, none for JPY. */
  from: string;
  to: string;
  /** Units of `to` for one unit of `from`, as a positive decimal string of at most 9 and 8 digits. */
  exchangeRate: string;
}

/** One amount in another currency, rounded to its minor unit. */
export function convertMinor(amountMinor: number, { from, to, exchangeRate }: CurrencyConversion): number {
  const { numerator, denominator } = parseDecimal(
    exchangeRate,
    /^(?=.*[1-9])(?:0|[1-9]\d{0,8})(?:\.\d{1,8})?$/,
  );
  const scaled = BigInt(amountMinor) * numerator * 10n ** BigInt(minorDigits(to));
  return safeNumber(divideHalfUp(scaled, denominator * 10n ** BigInt(minorDigits(from))));
}

/**
 * A breakdown in another currency: each amount is converted and rounded on its own, as the Irish and British rules ask
 * for net and VAT per rate. Totals in that currency are the `totals` of the result and so add up there too.
 */
export function convertBreakdown(
  breakdown: readonly VatBreakdownItem[],
  conversion: CurrencyConversion,
): VatBreakdownItem[] {
  return breakdown.map((item) => ({
    ...item,
    taxableMinor: convertMinor(item.taxableMinor, conversion),
    vatMinor: convertMinor(item.vatMinor, conversion),
  }));
}

/** The VAT at one rate that the customer accounts for under a reverse charge, and that isn't charged. */
export interface ReverseChargeVat {
  rateBasisPoints: number;
  netMinor: number;
  ownMinor: number;
  /** The amount as it is stated: in the document's currency and, where it is another, in that of the accounts. */
  texts: string[];
}

/** Sums up the VAT of lines under reverse charge at each rate that they state. */
export function reverseChargeVat(
  lines: readonly { amountMinor: number; rateBasisPoints: number | undefined }[],
  currency: string,
  conversion: CurrencyConversion | null,
): ReverseChargeVat[] {
  const rates = new Set(lines.map(({ rateBasisPoints = 0 }) => rateBasisPoints));
  return [...rates]
    .filter((rate) => rate > 0)
    .map((rate) => {
      const ofRate = lines.filter(({ rateBasisPoints }) => rateBasisPoints === rate);
      const netMinor = sumMinor(ofRate.map(({ amountMinor }) => amountMinor));
      const amountMinor = vatMinor(netMinor, rate);
      const own = conversion && { minor: convertMinor(amountMinor, conversion), currency: conversion.to };
      const texts = [
        amountText(amountMinor, currency),
        ...(own ? [amountText(own.minor, own.currency)] : []),
      ];
      return { rateBasisPoints: rate, netMinor, ownMinor: own?.minor ?? amountMinor, texts };
    });
}

/** The amounts invoiced, credited, paid and refunded on an issued invoice, all in its own currency. */
export interface Movements {
  grossMinor: number;
  /** The gross of its issued credit notes, as a positive amount. */
  creditedMinor: number;
  /** The payments and refunds of the invoice that were not voided. */
  paidMinor: number;
  refundedMinor: number;
  /** The rounding of its amount to pay, less that of its credit notes. */
  roundingMinor?: number;
}

export interface Balance {
  amountDueMinor: number;
  creditBalanceMinor: number;
  isSettled: boolean;
}

/**
 * The balance of an invoice. At most one of the two amounts is above zero. It is settled when nothing is to pay, nothing
 * is owed back and money was kept: an invoice that a credit note cancels without any payment is not settled.
 */
export function balanceMinor({
  grossMinor,
  creditedMinor,
  paidMinor,
  refundedMinor,
  roundingMinor = 0,
}: Movements): Balance {
  const keptMinor = BigInt(paidMinor) - BigInt(refundedMinor);
  const open = safeNumber(BigInt(grossMinor) + BigInt(roundingMinor) - BigInt(creditedMinor) - keptMinor);
  return {
    amountDueMinor: Math.max(0, open),
    creditBalanceMinor: Math.max(0, -open),
    isSettled: open === 0 && keptMinor > 0n,
  };
}

/** The payments that an invoice shows when it is issued, which are those made before, with what they leave; another document shows none. */
export function balanceAtIssue(
  { kind, totals: sums, currency }: Pick<Invoice, 'kind' | 'totals' | 'currency'>,
  amounts: DocumentAmounts | undefined,
): Partial<Invoice> {
  if (kind !== 'invoice') return {};
  const payments = (amounts?.prepayments ?? []).map(({ id, amountMinor, paidOn, method }) => {
    return { id, amountMinor, currency, paidOn, method };
  });
  const payable = payableMinor(sums, amounts);
  return {
    payments,
    amountDueMinor: Math.max(0, payable),
    refunds: [],
    creditBalanceMinor: Math.max(0, -payable),
  };
}

/** The amount to pay at issue (BT-115): the total with VAT, rounded, less what was paid before; below zero where that was more. */
export function payableMinor(sums: Totals, amounts: DocumentAmounts | undefined): number {
  const { roundingMinor = 0, prepayments = [] } = amounts ?? {};
  return sumMinor([sums.grossMinor, roundingMinor, ...prepayments.map(({ amountMinor }) => -amountMinor)]);
}

type CategoryAndRate = Pick<VatBreakdownItem, 'category' | 'rateBasisPoints'>;

function compareItems(a: CategoryAndRate, b: CategoryAndRate): number {
  return (
    rankOf(a.category) - rankOf(b.category) ||
    Number(a.category > b.category) - Number(a.category < b.category) ||
    b.rateBasisPoints - a.rateBasisPoints
  );
}

function rankOf(category: string): number {
  const index = categoriesInOrder.indexOf(category);
  return index < 0 ? categoriesInOrder.length : index;
}
