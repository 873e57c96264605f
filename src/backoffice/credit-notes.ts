import type { NewInvoice } from '../contract/feed.ts';
import type { Invoice } from '../contract/records.ts';
import { quote } from '../errors.ts';
import { withinRange } from './document-lines.ts';
import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';
import type { Unpublished } from './unpublished.ts';
import { sumMinor } from './vat.ts';

/** An invoice that is corrected, with the amounts credited before. */
export interface Credited {
  record: Invoice;
  unpublished: Unpublished;
}

type VatBreakdownItem = Invoice['vatBreakdown'][number];

/**
 * The invoice that a credit note corrects; undefined for another kind of document.
 * @throws Refusal unless a credit note, and no other document, names an issued invoice of its customer and currency.
 */
export async function creditedInvoiceOf(
  move: Move,
  draft: NewInvoice,
  path: string,
): Promise<Credited | undefined> {
  const { kind, creditsInvoiceId, customerId, currency } = draft;
  const at = `${path}/creditsInvoiceId`;
  if ((kind === 'credit_note') !== (creditsInvoiceId !== undefined)) {
    const message =
      'creditsInvoiceId names the invoice that a credit note corrects, and no other kind has one.';
    throw new Refusal('invalid_change', message, at);
  }
  if (creditsInvoiceId === undefined) return undefined;
  const credited = await move.getDocument(creditsInvoiceId, at);
  const { record } = credited;
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
  return credited;
}

/**
 * Holds a credit note to what is left of its invoice, for each VAT category and rate, net and VAT together as well.
 * @throws Refusal `exceeds_invoice` naming the category, the rate and what is left.
 */
export function refuseExcess(
  { record, unpublished }: Credited,
  { vatBreakdown }: Pick<Invoice, 'vatBreakdown'>,
  path: string,
): void {
  for (const item of vatBreakdown) {
    const invoiced = itemLike(record.vatBreakdown, item);
    const earlier = itemLike(unpublished.credited, item);
    const figures = [
      ['net', item.taxableMinor, invoiced.taxableMinor, earlier.taxableMinor],
      ['gross', grossOf(item), grossOf(invoiced), grossOf(earlier)],
    ] as const;
    for (const [name, minor, invoicedMinor, earlierMinor] of figures) {
      const leftMinor = withinRange(path, () => sumMinor([invoicedMinor, -earlierMinor]));
      if (isWithin(minor, leftMinor)) continue;
      const rate = `category ${item.category} at ${item.rateBasisPoints} basis points`;
      const message = `The credit note takes ${minor} ${name} in ${rate}, where ${leftMinor} is left of the invoice.`;
      throw new Refusal('exceeds_invoice', message, `${path}/lines`);
    }
  }
}

/** The amount taken lies between zero and the amount left, which is below zero where there was a discount. */
function isWithin(minor: number, leftMinor: number): boolean {
  return leftMinor >= 0 ? minor >= 0 && minor <= leftMinor : minor <= 0 && minor >= leftMinor;
}

/** The amounts credited on an invoice, with one more credit note. */
export function addCredit(
  earlier: readonly VatBreakdownItem[],
  credit: readonly VatBreakdownItem[],
): VatBreakdownItem[] {
  const added = credit.map((item) => {
    const before = itemLike(earlier, item);
    return {
      ...item,
      taxableMinor: sumMinor([before.taxableMinor, item.taxableMinor]),
      vatMinor: sumMinor([before.vatMinor, item.vatMinor]),
    };
  });
  return [...earlier.filter((item) => !credit.some((other) => isLike(item, other))), ...added];
}

function itemLike(items: readonly VatBreakdownItem[], like: VatBreakdownItem): VatBreakdownItem {
  return items.find((item) => isLike(item, like)) ?? { ...like, taxableMinor: 0, vatMinor: 0 };
}

function isLike(item: VatBreakdownItem, like: VatBreakdownItem): boolean {
  return item.category === like.category && item.rateBasisPoints === like.rateBasisPoints;
}

function grossOf({ taxableMinor, vatMinor }: VatBreakdownItem): number {
  return sumMinor([taxableMinor, vatMinor]);
}
