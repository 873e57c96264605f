/**
 * Exact VAT arithmetic for documents.
 *
 * Amounts are integers in minor units, rates are integers in basis points, quantities and exchange rates are
 * decimal strings. Halves are rounded away from zero, in line with the validators of EN 16931 and HMRC VATREC12030.
 *
 * An amount beyond Number.MAX_SAFE_INTEGER, a fraction instead of an integer, or a malformed decimal throws a
 * RangeError; the contract rejects all three before they get here.
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

/** A price for one or more units: in minor units, or exact in the main unit of its currency. */
export type Price = { currency: string } & {
  [Name in 'unitPriceMinor' | 'unitPrice' | 'priceBaseQuantity']?: GivenLineAmounts[Name] | undefined;
};

/**
 * Returns a line's amount: quantity times unit price, rounded to the minor unit (PEPPOL-EN16931-R120).
 * @param price a number of minor units for one unit, or a price with its base quantity (BT-149).
 */
export function lineAmountMinor(quantity: string, price: number | Price): number {
  const { numerator, denominator } = parseDecimal(quantity, QUANTITY);
  const each =
    typeof price === 'number' ? { numerator: BigInt(price), denominator: 1n } : priceFraction(price);
  return safeNumber(divideHalfUp(numerator * each.numerator, denominator * each.denominator));
}

/** Returns the price of one unit as an exact fraction, in minor units. */
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

/** Returns the VAT included in a gross amount: 80.00 at 13.5 % includes 9.52. */
export function vatWithinMinor(grossMinor: number, rateBasisPoints: number): number {
  const rate = BigInt(rateBasisPoints);
  return safeNumber(divideHalfUp(BigInt(grossMinor) * rate, BASIS_POINTS_PER_UNIT + rate));
}

/**
 * Returns net amounts for gross ones, each rounded down or up to a minor unit so that they add up to `netMinor`. The largest
 * fractions are rounded up; of equal ones, the first is rounded up first.
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
  // A credit note's total can be a minor unit more or less than its own amounts give.
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

/** Returns the VAT on a taxable amount, in minor units (EN 16931 BR-CO-17). */
export function vatMinor(taxableMinor: number, rateBasisPoints: number): number {
  return safeNumber(divideHalfUp(BigInt(taxableMinor) * BigInt(rateBasisPoints), BASIS_POINTS_PER_UNIT));
}

/** Returns the VAT in minor units for an item of a VAT breakdown: zero in every category except S. */
export function vatOf({
  category,
  rateBasisPoints,
  taxableMinor,
}: Pick<VatBreakdownItem, 'category' | 'rateBasisPoints' | 'taxableMinor'>): number {
  return category === 'S' ? vatMinor(taxableMinor, rateBasisPoints) : 0;
}

/**
 * Returns a VAT breakdown with one item for each category and rate among the lines. VAT is calculated on the sum of an item's
 * lines, never per line, and charged only in category S. Items are in the order S, Z, E, AE, K, G, O, then other categories
 * by code; within one, the highest rate is first. The order of the lines doesn't matter.
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

/** Returns a VAT breakdown's totals: sums of rounded amounts, not rounded again (BR-CO-10, 13, 14 and 15). */
export function totals(breakdown: readonly VatBreakdownItem[]): Totals {
  const net = breakdown.reduce((sum, item) => sum + BigInt(item.taxableMinor), 0n);
  const vat = breakdown.reduce((sum, item) => sum + BigInt(item.vatMinor), 0n);
  return { netMinor: safeNumber(net), vatMinor: safeNumber(vat), grossMinor: safeNumber(net + vat) };
}

/** Conversion of a document's amounts into the company's own currency. */
export interface CurrencyConversion {
  /** ISO 4217 code of the document's currency and, below, of the company's; they determine the number of decimal places. */
  from: string;
  to: string;
  /** Number of units of `to` per unit of `from`: a positive decimal with at most 9 digits before and 8 after the point. */
  exchangeRate: string;
}

/** Returns an amount converted to another currency, rounded to that currency's minor unit. */
export function convertMinor(amountMinor: number, { from, to, exchangeRate }: CurrencyConversion): number {
  const { numerator, denominator } = parseDecimal(
    exchangeRate,
    /^(?=.*[1-9])(?:0|[1-9]\d{0,8})(?:\.\d{1,8})?$/,
  );
  const scaled = BigInt(amountMinor) * numerator * 10n ** BigInt(minorDigits(to));
  return safeNumber(divideHalfUp(scaled, denominator * 10n ** BigInt(minorDigits(from))));
}

/**
 * Returns a VAT breakdown converted to another currency. Each amount is converted and rounded separately, because Irish and
 * British rules require net and VAT per rate. Apply `totals` to the result for totals that add up in that currency too.
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

/** The VAT at one rate for which the customer accounts under the reverse charge, so that the supplier doesn't charge it. */
export interface ReverseChargeVat {
  rateBasisPoints: number;
  netMinor: number;
  ownMinor: number;
  /** Formatted VAT amounts: in the document's currency and, if that differs, in the company's own currency. */
  texts: string[];
}

/** Returns the VAT of reverse-charge lines, summed at each of their rates. */
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

/** Amounts invoiced, credited, paid and refunded on an issued invoice, in minor units of its currency. */
export interface SettlementTotals {
  grossMinor: number;
  /** Gross total of the invoice's issued credit notes, as a positive amount. */
  creditedMinor: number;
  /** Sum of the payments received, without voided ones; below, that of the refunds made. */
  paidMinor: number;
  refundedMinor: number;
  /** Rounding of the invoice's payable amount, minus the rounding of its credit notes; 0 if absent. */
  roundingMinor?: number;
}

export interface Balance {
  amountDueMinor: number;
  creditBalanceMinor: number;
  isSettled: boolean;
}

/**
 * Returns an invoice's balance, in which at most one of the two amounts is above zero. An invoice is settled if nothing is
 * due either way and some money was kept: one cancelled by a credit note without any payment isn't settled.
 */
export function calculateBalance({
  grossMinor,
  creditedMinor,
  paidMinor,
  refundedMinor,
  roundingMinor = 0,
}: SettlementTotals): Balance {
  const keptMinor = BigInt(paidMinor) - BigInt(refundedMinor);
  const open = safeNumber(BigInt(grossMinor) + BigInt(roundingMinor) - BigInt(creditedMinor) - keptMinor);
  return {
    amountDueMinor: Math.max(0, open),
    creditBalanceMinor: Math.max(0, -open),
    isSettled: open === 0 && keptMinor > 0n,
  };
}

/** Returns an invoice's prepayments and its balance at issue; empty for other kinds of document, which have neither. */
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

/** Returns the amount due at issue (BT-115): the rounded total with VAT minus prepayments, negative if these exceed it. */
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
