/** The model's discounts, charges, rounding and what was paid before an invoice. */
import type { DraftLine, NewInvoice } from '../../src/contract/feed.ts';
import type { Invoice } from '../../src/contract/records.ts';
import {
  type AmountLine,
  breakdownOf,
  type Item,
  lineAmount,
  netShares,
  percentOf,
  sumOf,
  vatWithin,
} from './_exact.ts';
import { addDays, type Draft, type Turn } from './_model.ts';

type Adjustment = { amountMinor?: number; percent?: string };
type Category = Pick<DraftLine, 'vatCategory' | 'vatRateBasisPoints'>;

/** The members of a draft that its sums come from, beside its lines. */
export type Extras = Pick<NewInvoice, 'pricesIncludeVat' | 'allowances' | 'charges'>;

const isOf = (one: Category, other: Category) =>
  one.vatCategory === other.vatCategory && one.vatRateBasisPoints === other.vatRateBasisPoints;

const adjusted = (whole: bigint, { amountMinor, percent = '0' }: Adjustment) =>
  amountMinor === undefined ? percentOf(whole, percent) : BigInt(amountMinor);

/** The amount of a line; with VAT where the prices include it. */
export function amountOfLine(line: DraftLine, currency: string): bigint {
  const whole = lineAmount(line.quantity, line, currency);
  const { allowances = [], charges = [] } = line;
  return (
    whole +
    sumOf(charges.map((one) => adjusted(whole, one))) -
    sumOf(allowances.map((one) => adjusted(whole, one)))
  );
}

export function unitPriceOf(line: DraftLine, { pricesIncludeVat = false }: Extras, currency: string): bigint {
  const price = lineAmount('1', line, currency);
  return pricesIncludeVat && line.vatCategory === 'S'
    ? price - vatWithin(price, line.vatRateBasisPoints)
    : price;
}

/** The breakdown, and the amounts of the lines without VAT. */
export function summedUp(
  lines: readonly DraftLine[],
  amounts: readonly bigint[],
  { pricesIncludeVat = false, allowances = [], charges = [] }: Extras,
): { items: Item[]; nets: bigint[] } {
  const ofLines = lines.map((line, index) => ({ ...line, amount: amounts[index] ?? 0n }));
  const wholeOf = (one: Category) =>
    sumOf(ofLines.filter((line) => isOf(line, one)).map(({ amount }) => amount));
  const added: AmountLine[] = [
    ...charges.map((one) => ({ ...one, amount: adjusted(wholeOf(one), one) })),
    ...allowances.map((one) => ({ ...one, amount: -adjusted(wholeOf(one), one) })),
  ];
  const items = breakdownOf([...ofLines, ...added]);
  if (!pricesIncludeVat) return { items, nets: [...amounts] };
  const nets = [...amounts];
  const without = items.map(({ category, rateBasisPoints, taxable: gross }) => {
    const rate = category === 'S' ? rateBasisPoints : 0;
    const vat = vatWithin(gross, rate);
    const isOwn = ({ vatCategory, vatRateBasisPoints }: AmountLine) =>
      vatCategory === category && vatRateBasisPoints === rateBasisPoints;
    const own = ofLines.flatMap((line, index) => (isOwn(line) ? [{ index, amount: line.amount }] : []));
    const parts = [...own.map(({ amount }) => amount), ...added.filter(isOwn).map(({ amount }) => amount)];
    const shares = netShares(parts, gross - vat, rate);
    for (const [place, { index }] of own.entries()) nets[index] = shares[place] ?? 0n;
    return { category, rateBasisPoints, taxable: gross - vat, vat };
  });
  return { items: without, nets };
}

type Unstamped = Omit<Invoice, 'updatedAt'>;

/** Holds rounding and what was paid before to the total. */
export function checkPayable(
  turn: Turn,
  record: Unstamped,
  { prepayments = [], roundingMinor = 0 }: Pick<Draft, 'prepayments' | 'roundingMinor'>,
  at: (member: 'prepayments' | 'roundingMinor') => string | undefined,
): void {
  const path = at('prepayments');
  if (prepayments.length > 0 && record.kind !== 'invoice') turn.fault('invalid_change', path);
  for (const [index, one] of prepayments.entries()) {
    const within = (member: string) => path && `${path}/${index}/${member}`;
    if (one.paidOn > addDays(turn.today, 1)) turn.fault('invalid_change', within('paidOn'));
    if (one.documentId !== undefined) checkAsked(turn, record, one, within);
  }
  const paid = sumOf(prepayments.map(({ amountMinor }) => amountMinor));
  const isBelow = BigInt(record.totals.grossMinor) + BigInt(roundingMinor) - paid < 0n;
  if (isBelow && paid > 0n) turn.fault('invalid_change', path);
  else if (isBelow && roundingMinor !== 0) turn.fault('invalid_change', at('roundingMinor'));
}

/** Holds a prepayment to the document that asked for it. */
function checkAsked(
  turn: Turn,
  { id, customer, currency }: Unstamped,
  { documentId = '', amountMinor }: NonNullable<Draft['prepayments']>[number],
  within: (member: string) => string | undefined,
): void {
  const asked = turn.company.tables.invoices.get(documentId);
  const path = within('documentId');
  if (!asked) {
    turn.fault('unknown_record', path);
    return;
  }
  const isAsking = asked.status === 'issued' && asked.kind !== 'credit_note' && asked.id !== id;
  if (!isAsking || isUsed(turn, asked.id, id)) turn.fault('wrong_state', path);
  if (asked.customer.id !== customer.id) turn.fault('invalid_change', path);
  if (asked.currency !== currency) turn.fault('wrong_currency', path);
  const credited = sumOf(asked.creditNotes.map(({ grossMinor }) => grossMinor));
  const total = BigInt(asked.totals.grossMinor) + roundingOf(turn, asked) - credited;
  if (BigInt(amountMinor) > total) turn.fault('invalid_change', within('amountMinor'));
}

/** Whether another issued invoice has a document's money as paid before, in a payment that isn't voided. */
function isUsed({ company }: Turn, documentId: string, invoiceId: string): boolean {
  return [...company.kept].some(([id, { draft }]) => {
    const { payments = [] } = company.tables.invoices.get(id) ?? {};
    return (draft.prepayments ?? []).some(
      (one) =>
        id !== invoiceId &&
        one.documentId === documentId &&
        payments.some((payment) => payment.id === one.id),
    );
  });
}

/** The rounding of an invoice; the credit notes of rounded ones have a test of their own. */
export function roundingOf({ company }: Turn, { id }: Pick<Invoice, 'id'>): bigint {
  return BigInt(company.kept.get(id)?.draft.roundingMinor ?? 0);
}
