/** The model's discounts, charges, rounding and what was paid before an invoice. */
import type { DraftLine, NewInvoice } from '../../src/contract/feed.ts';
import type { Invoice } from '../../src/contract/records.ts';
import {
  isSafe,
  type AmountLine,
  halfUp,
  type Item,
  lineAmount,
  netShares,
  percentOf,
  sumOf,
  vatWithin,
} from './_exact.ts';
import { addDays, type Draft, type Turn } from './_model.ts';

type Adjustment = { amountMinor?: number; percent?: string };
export type Category = Omit<AmountLine, 'amount'>;

/** The members of a draft that its sums come from, beside its lines. */
export type Extras = Pick<NewInvoice, 'pricesIncludeVat' | 'allowances' | 'charges'>;

export const isOf = (one: Category, other: Category) =>
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

/** A discount, whose amounts are below zero, or a charge of a document: as its prices are given, and without VAT. */
export interface Added extends AmountLine {
  isCharge: boolean;
}

export function addedBy(
  lines: readonly (Category & { amount: bigint })[],
  { allowances = [], charges = [] }: Extras,
): Added[] {
  const amountOf = (one: Category & Adjustment) =>
    adjusted(sumOf(lines.filter((line) => isOf(line, one)).map(({ amount }) => amount)), one);
  const read = (one: Category & Adjustment, isCharge: boolean): Added => {
    const amount = isCharge ? amountOf(one) : -amountOf(one);
    const { vatCategory, vatRateBasisPoints } = one;
    return { vatCategory, vatRateBasisPoints, amount, isCharge };
  };
  return [...charges.map((one) => read(one, true)), ...allowances.map((one) => read(one, false))];
}

/** Items whose amounts include VAT, without it. */
export const itemsWithin = (items: readonly Item[]): Item[] =>
  items.map((item) => {
    const vat = item.category === 'S' ? vatWithin(item.taxable, item.rateBasisPoints) : 0n;
    return { ...item, taxable: item.taxable - vat, vat };
  });

/** The amounts of parts without VAT, which add up to those of the items. */
export function netsOf(parts: readonly AmountLine[], items: readonly Item[]): bigint[] {
  const nets = parts.map(({ amount }) => amount);
  for (const { category, rateBasisPoints, taxable } of items) {
    const own = parts.flatMap((part, index) =>
      part.vatCategory === category && part.vatRateBasisPoints === rateBasisPoints
        ? [{ ...part, index }]
        : [],
    );
    const amounts = own.map(({ amount }) => amount);
    const shares = netShares(amounts, taxable, category === 'S' ? rateBasisPoints : 0);
    for (const [place, { index }] of own.entries()) nets[index] = shares[place] ?? 0n;
  }
  return nets;
}

type Unstamped = Omit<Invoice, 'updatedAt'>;

/** Holds rounding and what was paid before to the total. @returns the rounding: of cash, as given, or what a note takes back. */
export function checkPayable(
  turn: Turn,
  record: Unstamped,
  { prepayments = [], roundingMinor, cashRounding = false }: Draft,
  at: (member: 'prepayments' | 'roundingMinor' | 'cashRounding') => string | undefined,
  left: bigint,
): bigint {
  checkPrepaid(turn, record, prepayments, at('prepayments'));
  const due = BigInt(record.totals.grossMinor) - sumOf(prepayments.map(({ amountMinor }) => amountMinor));
  const isCash =
    record.currency === 'EUR' && turn.company.profile.countryCode === 'IE' && roundingMinor === undefined;
  if (cashRounding && !isCash) turn.fault('invalid_change', at('cashRounding'));
  const rounding = cashRounding ? halfUp(due, 5n) * 5n - due : BigInt(roundingMinor ?? left);
  const total = BigInt(record.totals.grossMinor) + rounding;
  if (![total, due + rounding].every(isSafe)) turn.fault('amount_out_of_range');
  if (total < 0n && roundingMinor) turn.fault('invalid_change', at('roundingMinor'));
  return rounding;
}

function checkPrepaid(
  turn: Turn,
  record: Unstamped,
  prepayments: NonNullable<Draft['prepayments']>,
  path: string | undefined,
): void {
  if (prepayments.length > 0 && record.kind !== 'invoice') turn.fault('invalid_change', path);
  for (const [index, one] of prepayments.entries()) {
    const within = (member: string) => path && `${path}/${index}/${member}`;
    if (one.paidOn > addDays(turn.today, 1)) turn.fault('invalid_change', within('paidOn'));
    if (one.documentId !== undefined) checkAsked(turn, record, one, within);
  }
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

/** The rounding of an invoice, less that of its credit notes. */
export function roundingOf(
  { company }: Turn,
  { id, creditNotes }: Pick<Invoice, 'id' | 'creditNotes'>,
): bigint {
  const own = (documentId: string) => company.kept.get(documentId)?.worked.rounding ?? 0n;
  return own(id) - sumOf(creditNotes.map((note) => own(note.id)));
}
