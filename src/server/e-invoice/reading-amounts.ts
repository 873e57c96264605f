import { decimalAmount, decimalText, minorDigits } from '../../contract/currencies.ts';
import type { Adjustment, DocumentAdjustment, LineAmounts } from '../../contract/document-amounts.ts';
import type { Invoice } from '../../contract/records.ts';
import { sumMinor } from '../../contract/exact.ts';
import { exactUnitPrice, priceWithoutVat, sumOfPrices } from '../../contract/prices.ts';
import { lineAmountMinor, payableMinor, vatWithinMinor } from '../../contract/vat.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { AllowanceCharge, DocumentAllowanceCharge, Line, Totals } from './model.ts';
import { optionalText } from './xml-text.ts';

type RecordLine = Invoice['lines'][number];
type Category = Pick<RecordLine, 'vatCategory' | 'vatRateBasisPoints'>;

/** Returns a document's totals at issue, without later payments. */
export function totalsOf({ record, amounts }: PrintedDocument): Totals {
  const { totals, currency, lines } = record;
  const { allowances = [], charges = [], prepayments = [], roundingMinor = 0 } = amounts ?? {};
  const text = (minor: number) => decimalAmount(minor, currency);
  const sum = (list: readonly { amountMinor: number }[]) =>
    text(sumMinor(list.map(({ amountMinor }) => amountMinor)));
  return {
    lines: sum(lines),
    allowances: allowances.length === 0 ? undefined : sum(allowances),
    charges: charges.length === 0 ? undefined : sum(charges),
    withoutVat: text(totals.netMinor),
    vat: text(totals.vatMinor),
    withVat: text(totals.grossMinor),
    prepaid: prepayments.length === 0 ? undefined : sum(prepayments),
    rounding: roundingMinor === 0 ? undefined : text(roundingMinor),
    due: text(payableMinor(totals, amounts)),
  };
}

export function documentAllowanceCharges({ record, amounts }: PrintedDocument): DocumentAllowanceCharge[] {
  const read = (isCharge: boolean) => (one: DocumentAdjustment) => ({
    ...allowanceCharge(one, { isCharge, currency: record.currency, ...one }),
    category: one.vatCategory,
    rate: rateOf(one.vatCategory, one.vatRateBasisPoints),
  });
  return [...(amounts?.allowances ?? []).map(read(false)), ...(amounts?.charges ?? []).map(read(true))];
}

/** Returns the amount, discounts, charges and price of a line. */
export function lineAmounts(
  line: RecordLine,
  document: PrintedDocument,
): Pick<Line, 'net' | 'allowanceCharges' | keyof Price | 'priceDiscount'> {
  const { currency } = document.record;
  const { amounts } = document;
  const { allowances = [], charges = [] } = amounts?.lines[line.id] ?? {};
  const price = priceOf(line, currency, amounts?.lines[line.id]);
  const read = (isCharge: boolean) => (one: Adjustment) =>
    allowanceCharge(one, { isCharge, currency, ...line });
  return {
    net: decimalAmount(line.amountMinor, currency),
    allowanceCharges: [...allowances.map(read(false)), ...charges.map(read(true))],
    ...price,
    priceDiscount: priceDiscountOf(line, document, price),
  };
}

type Price = Pick<Line, 'netPrice' | 'priceBaseQuantity'>;

/** Returns the discount within a line's price, without VAT and for as many units as the price; undefined if there is none. */
function priceDiscountOf(
  { id, vatCategory, vatRateBasisPoints }: RecordLine,
  { amounts, terms }: PrintedDocument,
  { netPrice, priceBaseQuantity }: Price,
): Line['priceDiscount'] {
  const discount = terms?.lines?.[id]?.priceDiscount;
  if (discount === undefined) return undefined;
  const { given, grossMinor } = amounts?.lines[id] ?? {};
  const rate = grossMinor !== undefined && vatCategory === 'S' ? vatRateBasisPoints : 0;
  const base = priceBaseQuantity === undefined ? given?.priceBaseQuantity : undefined;
  const amount = priceWithoutVat(discount, rate, base);
  return { amount, grossPrice: sumOfPrices(netPrice, amount) };
}

/**
 * Returns the price of a line as its draft gave it. Where prices include VAT, and for a credited part of a line, returns
 * instead a price without VAT, exact enough that multiplying it by the quantity gives the line's amount.
 */
function priceOf(
  { quantity, unitPriceMinor, amountMinor }: RecordLine,
  currency: string,
  amounts: LineAmounts | undefined,
): Price {
  const asShown = { netPrice: decimalAmount(unitPriceMinor, currency) };
  if (!amounts || Number(quantity) === 0) return asShown;
  const { given, unitPrice, priceBaseQuantity, grossMinor, allowances, charges } = amounts;
  const wholeMinor = sumMinor([
    amountMinor,
    ...allowances.map((one) => one.amountMinor),
    ...charges.map((one) => -one.amountMinor),
  ]);
  const isAmount = () => lineAmountMinor(quantity, { currency, ...given }) === wholeMinor;
  if (grossMinor !== undefined || (amounts.creditsLineId !== undefined && !isAmount()))
    return { netPrice: exactUnitPrice(wholeMinor, quantity, currency) };
  const netPrice = unitPrice ?? decimalAmount(given.unitPriceMinor ?? unitPriceMinor, currency);
  return { netPrice, priceBaseQuantity };
}

function allowanceCharge(
  { amountMinor, grossMinor, percent, baseMinor, reason, reasonCode }: Adjustment,
  { isCharge, currency, vatCategory, vatRateBasisPoints }: Category & { isCharge: boolean; currency: string },
): AllowanceCharge {
  // Where prices include VAT, so does the base.
  const isWithVat = grossMinor !== undefined && vatCategory === 'S';
  const base =
    baseMinor && (isWithVat ? baseMinor - vatWithinMinor(baseMinor, vatRateBasisPoints) : baseMinor);
  // A percentage is stated only if it gives the amount within 0.02 (PEPPOL-EN16931-R040); in whole yen it can miss.
  const roundedMinor = Math.abs(amountMinor - ((base ?? 0) * Number(percent ?? 0)) / 100);
  const isStated = percent === undefined || roundedMinor <= 0.02 * 10 ** minorDigits(currency);
  return {
    isCharge,
    amount: decimalAmount(amountMinor, currency),
    base: base !== undefined && isStated ? decimalAmount(base, currency) : undefined,
    percent: isStated ? percent : undefined,
    reason: optionalText(reason),
    reasonCode,
  };
}

export function rateOf(category: string, rateBasisPoints: number): string | undefined {
  return category === 'O' ? undefined : decimalText(rateBasisPoints, 2);
}
