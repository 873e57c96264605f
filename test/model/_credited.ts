/** The model's credit notes: the parts of an invoice's lines, discounts and charges that they take back, and their VAT. */
import { isDeepStrictEqual } from 'node:util';

import type { DraftLine } from '../../src/contract/feed.ts';
import type { Invoice } from '../../src/contract/records.ts';
import { type Added, type Category, isOf } from './_amounts.ts';
import { convertedItems, halfUp, type Item, partsOf, sumOf, vatOn, vatWithin } from './_exact.ts';
import { type Draft, type Kept, type ModelCompany, type Turn, without } from './_model.ts';

type Line = Invoice['lines'][number];

/** The amounts of a document: of each line, by its id, the amount with VAT where prices include it, and the line it credits. */
export interface Worked {
  lines: ReadonlyMap<string, { gross: bigint | undefined; of: string | undefined }>;
  added: readonly Added[];
  rounding: bigint;
}

/** A credit note's invoice, and its issued notes. */
export interface Credit {
  invoice: Invoice;
  draft: Draft;
  worked: Worked;
  notes: (Kept & { record: Invoice })[];
  isWithVat: boolean;
}

export function creditOf({ company }: Turn, invoice: Invoice): Credit {
  const { draft, worked } = keptOf(company, invoice);
  const notes = [...company.tables.invoices.values()]
    .filter(({ creditsInvoiceId, status }) => creditsInvoiceId === invoice.id && status === 'issued')
    .map((record) => ({ record, ...keptOf(company, record) }));
  return { invoice, draft, worked, notes, isWithVat: draft.pricesIncludeVat ?? false };
}

function keptOf({ kept }: ModelCompany, { id }: Invoice): Kept {
  const found = kept.get(id);
  if (!found) throw new Error('The model lost what it kept of a document.');
  return found;
}

/** The terms of a line's price that a draft gives. */
function pricing({ unitPriceMinor, unitPrice, priceBaseQuantity, allowances = [], charges = [] }: DraftLine) {
  const all = { unitPriceMinor, unitPrice, priceBaseQuantity, allowances, charges };
  const given = Object.entries(all).filter(
    ([, value]) => value !== undefined && !isDeepStrictEqual(value, []),
  );
  return Object.fromEntries(given);
}

/** The amount of a line of an invoice or a note, with VAT where prices include it. */
const amountIn = ({ id, amountMinor }: Line, { lines }: Worked): bigint =>
  lines.get(id)?.gross ?? BigInt(amountMinor);

/** A line of the note itself, above another. */
type Above = DraftLine & { amount: bigint; of: string | undefined };

/** The part of an invoice's line that a note's line is; undefined for one that stands for itself. */
export function partTaken(
  credit: Credit,
  line: DraftLine,
  above: readonly Above[],
): { amount: bigint; of: string } | undefined {
  const { invoice, draft, notes, isWithVat, worked } = credit;
  const givenOf = (other: Line, own = draft) => own.lines.find(({ id }) => id === other.id);
  const alikeOf = (one: DraftLine) => {
    const likeness = (other: Line) =>
      4 * Number(other.id === one.id) +
      2 * Number(other.description === one.description) +
      Number(other.quantity === one.quantity);
    const isAlike = (other: Line) => {
      const own = givenOf(other) ?? one;
      const { unitPriceMinor } = other;
      const alone = isWithVat ? without(pricing(own), 'allowances', 'charges') : { unitPriceMinor };
      return (
        isOf(other, one) && [alone, pricing(own)].some((price) => isDeepStrictEqual(pricing(one), price))
      );
    };
    return invoice.lines.filter(isAlike).sort((a, b) => likeness(b) - likeness(a));
  };
  const earlier = notes.flatMap((note) =>
    note.record.lines.map((own) => {
      const drafted = givenOf(own, note.draft);
      const of = note.worked.lines.get(own.id)?.of ?? (drafted && alikeOf(drafted)[0]?.id);
      return { of, quantity: own.quantity, amount: amountIn(own, note.worked) };
    }),
  );
  const takenOf = (other: Line) => [...earlier, ...above].filter(({ of }) => of === other.id);
  const upTo = (other: Line) =>
    sumOf([...takenOf(other), line].map(({ quantity }) => partsOf(quantity, 6))) * signOf(other);
  const signOf = ({ quantity }: Line) => (quantity.startsWith('-') ? -1n : 1n);
  const isLeft = (other: Line) =>
    upTo(other) > 0n && upTo(other) <= partsOf(other.quantity, 6) * signOf(other);
  const origin = alikeOf(line).find(isLeft);
  if (!origin) return undefined;
  const whole = amountIn(origin, worked);
  const share = halfUp(whole * upTo(origin), partsOf(origin.quantity, 6) * signOf(origin));
  return { amount: share - sumOf(takenOf(origin).map(({ amount }) => amount)), of: origin.id };
}

/** The discounts and charges of the invoice, in the proportion of its lines that are credited with this note. */
export function addedTaken(credit: Credit, lines: readonly (Category & { amount: bigint })[]): Added[] {
  if (lines.length === 0) return [];
  const { invoice, worked, notes } = credit;
  const groups = Map.groupBy(
    worked.added,
    (one) => `${one.isCharge} ${one.vatCategory} ${one.vatRateBasisPoints}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [like] = group;
    if (!like) return [];
    const sign = like.isCharge ? 1n : -1n;
    // A charge in a category of its own goes with all lines.
    const isCounted = (one: Category) => !invoice.lines.some((line) => isOf(line, like)) || isOf(one, like);
    const sumIn = (record: Invoice, own: Worked) =>
      sumOf(record.lines.filter(isCounted).map((line) => amountIn(line, own)));
    const whole = sumIn(invoice, worked);
    const earlier = sumOf(notes.map((note) => sumIn(note.record, note.worked)));
    const part = earlier + sumOf(lines.filter(isCounted).map(({ amount }) => amount));
    const total = sumOf(group.map(({ amount }) => amount)) * sign;
    const before = notes.flatMap((note) =>
      note.worked.added.filter((one) => one.isCharge === like.isCharge && isOf(one, like)),
    );
    const share = part === whole ? total : whole > 0n && part > 0n ? halfUp(total * part, whole) : 0n;
    const taken = (share < total ? share : total) - sumOf(before.map(({ amount }) => amount)) * sign;
    if (taken <= 0n) return [];
    let [weight, given] = [0n, 0n];
    return group.map((one) => {
      weight += one.amount * sign;
      const upTo = halfUp(taken * weight, total);
      const amount = (upTo - given) * sign;
      given = upTo;
      return { ...one, amount };
    });
  });
}

type Breakdown = Invoice['vatBreakdown'];

function sumIn(
  breakdown: Breakdown,
  { category, rateBasisPoints }: Item,
  member: 'net' | 'vat' | 'gross',
): bigint {
  const own = breakdown.filter(
    (other) => other.category === category && other.rateBasisPoints === rateBasisPoints,
  );
  return sumOf([
    ...(member === 'vat' ? [] : own.map(({ taxableMinor }) => taxableMinor)),
    ...(member === 'net' ? [] : own.map(({ vatMinor }) => vatMinor)),
  ]);
}

/** Holds a credit note to what is left of its invoice in each VAT category and rate, as its prices are given. */
export function faultExcess(
  turn: Turn,
  { invoice, notes, isWithVat }: Credit,
  items: readonly Item[],
  path?: string,
): void {
  const member = isWithVat ? 'gross' : 'net';
  const earlier = notes.flatMap(({ record }) => record.vatBreakdown);
  for (const item of items) {
    const left = sumIn(invoice.vatBreakdown, item, member) - sumIn(earlier, item, member);
    const isWithin =
      left >= 0n ? item.taxable >= 0n && item.taxable <= left : item.taxable <= 0n && item.taxable >= left;
    if (!isWithin) turn.fault('exceeds_invoice', path);
  }
}

/**
 * The VAT of a credit note: on, or in, all that is credited with it, less the VAT that was credited before; and all that
 * the invoice charged, once all is credited. The same in the accounting currency, where there is a rate.
 */
export function itemsTaken(turn: Turn, { invoice, notes, isWithVat }: Credit, items: readonly Item[]) {
  const member = isWithVat ? 'gross' : 'net';
  const earlier = notes.flatMap(({ record }) => record.vatBreakdown);
  const upTo = items.map((item) => {
    const all = item.taxable + sumIn(earlier, item, member);
    if (all === sumIn(invoice.vatBreakdown, item, member)) {
      const [taxable, vat] = [
        sumIn(invoice.vatBreakdown, item, 'net'),
        sumIn(invoice.vatBreakdown, item, 'vat'),
      ];
      return { ...item, taxable, vat, isAll: true };
    }
    const charged =
      item.category !== 'S'
        ? 0n
        : isWithVat
          ? vatWithin(all, item.rateBasisPoints)
          : vatOn(all, item.rateBasisPoints);
    return { ...item, taxable: isWithVat ? all - charged : all, vat: charged, isAll: false };
  });
  const less = (all: readonly Item[], before: Breakdown) =>
    all.map((item, index) => {
      const isOfSign = (amount: bigint) => amount < 0n === (items[index]?.taxable ?? 0n) < 0n;
      const bound = (amount: bigint) => (upTo[index]?.isAll || isOfSign(amount) ? amount : 0n);
      const [taxable, vat] = [
        item.taxable - sumIn(before, item, 'net'),
        item.vat - sumIn(before, item, 'vat'),
      ];
      return { ...item, taxable: bound(taxable), vat: bound(vat) };
    });
  const { accountingCurrency } = invoice;
  const accounted = notes.flatMap(({ record }) => record.accountingCurrency?.vatBreakdown ?? []);
  return {
    items: less(upTo, earlier),
    accounted: accountingCurrency
      ? less(
          convertedItems(upTo, accountingCurrency.exchangeRate, invoice.currency, turn.company.currency),
          accounted,
        )
      : [],
  };
}
