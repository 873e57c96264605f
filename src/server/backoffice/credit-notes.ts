import type { NewInvoice } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { quote } from '../../errors.ts';
import type { Composition } from './document-amounts.ts';
import type { Move } from './move.ts';
import { Refusal, withinRange } from './refusal.ts';
import type { StoredDocument } from './unpublished.ts';
import { sumMinor } from '../../contract/exact.ts';
import { convertBreakdown, vatOf, vatWithinMinor } from '../../contract/vat.ts';

export type VatBreakdownItem = Invoice['vatBreakdown'][number];

/** An invoice with its credit notes, for computing one that corrects it. */
export interface CreditedInvoice extends StoredDocument {
  /** The credit notes issued for the invoice so far. */
  notes: StoredDocument[];
  /** The VAT breakdown of everything credited so far, in the invoice's currency and, below, in the accounting currency. */
  earlier: VatBreakdownItem[];
  earlierAccounted: VatBreakdownItem[];
}

/**
 * Returns the invoice that a credit note corrects; undefined for any other kind of document.
 * @throws Refusal unless a credit note, and no other document, names an issued invoice of its customer and currency.
 */
export async function creditedInvoiceOf(
  move: Move,
  draft: Pick<NewInvoice, 'kind' | 'creditsInvoiceId' | 'customerId' | 'currency'>,
  path: string,
): Promise<CreditedInvoice | undefined> {
  const { kind, creditsInvoiceId, customerId, currency } = draft;
  const at = `${path}/creditsInvoiceId`;
  if ((kind === 'credit_note') !== (creditsInvoiceId !== undefined)) {
    const message =
      'creditsInvoiceId names the invoice that a credit note corrects, and no other kind has one.';
    throw new Refusal('invalid_change', message, at);
  }
  if (creditsInvoiceId === undefined) return undefined;
  const { record, unpublished } = await move.getStored('invoices', creditsInvoiceId, at);
  if (record.kind !== 'invoice' || record.status !== 'issued') {
    throw new Refusal('wrong_state', `${quote(creditsInvoiceId)} isn't an issued invoice.`, at);
  }
  if (record.customer.id !== customerId) {
    const message = `The invoice ${quote(record.number ?? '')} belongs to the customer ${quote(record.customer.id)}.`;
    throw new Refusal('invalid_change', message, `${path}/customerId`);
  }
  if (currency !== undefined && currency !== record.currency) {
    const message = `The invoice ${quote(record.number ?? '')} is in ${record.currency}, and not in ${currency}.`;
    throw new Refusal('wrong_currency', message, `${path}/currency`);
  }
  const notes: StoredDocument[] = [];
  for (const { id } of record.creditNotes) notes.push(await move.getStored('invoices', id, at));
  // Release 1.0.0 stored no sum in the accounting currency.
  const summed = () =>
    notes.reduce<VatBreakdownItem[]>(
      (sum, note) => addCredit(sum, note.record.accountingCurrency?.vatBreakdown ?? []),
      [],
    );
  const { credited: earlier, creditedAccounted: earlierAccounted = summed() } = unpublished;
  return { record, unpublished, notes, earlier, earlierAccounted };
}

/** Whether the prices of an invoice include VAT. */
export function hasPricesWithVat({ unpublished }: CreditedInvoice): boolean {
  return unpublished.amounts?.given.pricesIncludeVat === true;
}

/**
 * Refuses a credit note whose `pricesIncludeVat` isn't that of its invoice. Parts with and without VAT round differently, so
 * that their sum could differ from the invoice by some minor units. Imported notes aren't checked.
 * @throws Refusal `invalid_change` for a different one.
 */
export function refuseOtherPrices(credited: CreditedInvoice, pricesIncludeVat: boolean, path: string): void {
  const its = hasPricesWithVat(credited);
  if (pricesIncludeVat === its) return;
  const number = quote(credited.record.number ?? '');
  const message = `pricesIncludeVat is ${pricesIncludeVat}, and that of the invoice ${number} is ${its}; a credit note has the same.`;
  throw new Refusal('invalid_change', message, `${path}/pricesIncludeVat`);
}

/**
 * Refuses a credit note beyond the remainder of its invoice in any VAT category and rate: the net, from which the VAT
 * follows, or the amount with VAT where prices include it.
 * @throws Refusal `exceeds_invoice` naming the category, the rate and the remainder.
 */
export function refuseExcess(
  { credited, path, includesVat }: Pick<Composition, 'credited' | 'path' | 'includesVat'>,
  breakdown: readonly VatBreakdownItem[],
): void {
  if (!credited) return;
  for (const item of breakdown) {
    const { category, rateBasisPoints, taxableMinor } = item;
    const invoiced = creditableMinor(itemLike(credited.record.vatBreakdown, item), includesVat);
    const before = creditableMinor(itemLike(credited.earlier, item), includesVat);
    const leftMinor = withinRange(path, () => sumMinor([invoiced, -before]));
    if (isWithinRemainder(taxableMinor, leftMinor)) continue;
    const rate = `category ${category} at ${rateBasisPoints} basis points`;
    const message = `The credit note takes ${taxableMinor} ${includesVat ? 'with VAT' : 'net'} in ${rate}, where ${leftMinor} is left of the invoice.`;
    throw new Refusal('exceeds_invoice', message, `${path}/lines`);
  }
}

/** Whether an amount lies between zero and the remainder, both negative for a discount. */
export function isWithinRemainder<Amount extends number | bigint>(minor: Amount, leftMinor: Amount): boolean {
  return leftMinor >= 0 ? minor >= 0 && minor <= leftMinor : minor <= 0 && minor >= leftMinor;
}

/** Returns the amounts credited on an invoice, including those of one more credit note. */
export function addCredit(
  earlier: readonly VatBreakdownItem[],
  credit: readonly VatBreakdownItem[],
): VatBreakdownItem[] {
  const others = earlier.filter((item) => !credit.some((other) => isLike(item, other)));
  return [...others, ...credit.map((item) => plus(item, itemLike(earlier, item)))];
}

function plus(
  item: VatBreakdownItem,
  { taxableMinor, vatMinor }: VatBreakdownItem,
  sign = 1,
): VatBreakdownItem {
  return {
    ...item,
    taxableMinor: sumMinor([item.taxableMinor, sign * taxableMinor]),
    vatMinor: sumMinor([item.vatMinor, sign * vatMinor]),
  };
}

/** The VAT that a document charges, in its own currency and in the accounting currency. */
export interface Charged {
  vatBreakdown: VatBreakdownItem[];
  accounted: VatBreakdownItem[];
}

/**
 * Returns the amounts that a credit note takes off its invoice, by VAT category and rate, in both currencies. The note's VAT
 * is that on all net credited so far, including this note, less the VAT credited before. So notes that credit an invoice's
 * whole net credit exactly its VAT, however each is rounded.
 * @param breakdown the note's breakdown, with VAT where prices include it.
 */
export function amountsTaken(
  { record, earlier, earlierAccounted }: Pick<CreditedInvoice, 'record' | 'earlier' | 'earlierAccounted'>,
  { conversion, includesVat }: Pick<Composition, 'conversion' | 'includesVat'>,
  breakdown: readonly VatBreakdownItem[],
): Charged {
  const sums = breakdown.map((item) => {
    const [before, invoiced] = [itemLike(earlier, item), itemLike(record.vatBreakdown, item)];
    const upTo = sumMinor([item.taxableMinor, creditableMinor(before, includesVat)]);
    const charged = chargedOn({ ...item, taxableMinor: upTo }, includesVat);
    // An imported invoice's VAT can be some minor units less than the VAT on its net.
    const isMore = Math.abs(charged.vatMinor) > Math.abs(invoiced.vatMinor);
    return isMore && !includesVat ? { ...charged, vatMinor: invoiced.vatMinor } : charged;
  });
  const isAll = (item: VatBreakdownItem) =>
    creditableMinor(itemLike(sums, item), includesVat) ===
    creditableMinor(itemLike(record.vatBreakdown, item), includesVat);
  const lessEarlier = (
    items: VatBreakdownItem[],
    invoiced: readonly VatBreakdownItem[],
    before: readonly VatBreakdownItem[],
  ) =>
    items.map((item) =>
      isAll(item)
        ? plus(itemLike(invoiced, item), itemLike(before, item), -1)
        : ofSign(itemLike(breakdown, item).taxableMinor, plus(item, itemLike(before, item), -1)),
    );
  return {
    vatBreakdown: lessEarlier(sums, record.vatBreakdown, earlier),
    accounted: conversion
      ? lessEarlier(
          convertBreakdown(sums, conversion),
          record.accountingCurrency?.vatBreakdown ?? [],
          earlierAccounted,
        )
      : [],
  };
}

/** Returns the amount of a VAT breakdown item that bounds credit notes: its net, or its gross where prices include VAT. */
function creditableMinor({ taxableMinor, vatMinor }: VatBreakdownItem, includesVat: boolean): number {
  return includesVat ? sumMinor([taxableMinor, vatMinor]) : taxableMinor;
}

/** Returns a VAT breakdown item with its VAT computed, and taken out of `taxableMinor` where prices include VAT. */
export function chargedOn(item: VatBreakdownItem, includesVat: boolean): VatBreakdownItem {
  const { category, rateBasisPoints, taxableMinor } = item;
  if (!includesVat) return { ...item, vatMinor: vatOf(item) };
  const vatMinor = category === 'S' ? vatWithinMinor(taxableMinor, rateBasisPoints) : 0;
  return { ...item, taxableMinor: taxableMinor - vatMinor, vatMinor };
}

/**
 * Returns an item with any amount set to zero whose sign isn't that of a note's net: notes of release 1.0.0, each rounded by
 * itself, may have credited more VAT than their whole net bears.
 */
function ofSign(netMinor: number, { taxableMinor, vatMinor, ...item }: VatBreakdownItem): VatBreakdownItem {
  const bound = (minor: number) => (netMinor < 0 ? Math.min(0, minor) : Math.max(0, minor));
  return { ...item, taxableMinor: bound(taxableMinor), vatMinor: bound(vatMinor) };
}

/** Returns the VAT breakdown item of a category and rate, or one with zero amounts if there is none. */
export function itemLike(items: readonly VatBreakdownItem[], like: VatBreakdownItem): VatBreakdownItem {
  return items.find((item) => isLike(item, like)) ?? { ...like, taxableMinor: 0, vatMinor: 0 };
}

export function isLike(item: VatBreakdownItem, like: VatBreakdownItem): boolean {
  return item.category === like.category && item.rateBasisPoints === like.rateBasisPoints;
}
