import type { Invoice } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';

/** Four parts of so many UTF-16 units fit into an entry of an index, for which PostgreSQL has some 2,700 bytes. */
const PART_LENGTH_MAX = 150;

/** Mark before the words of the customer's name, which not everybody may search. */
export const BEFORE_CUSTOMER = '\t';

/** The columns of a record that are searched, and that no database computes from its text. */
export function searchColumns({
  resource,
  record,
}: Pick<RenderedRecord, 'resource' | 'record'>): Record<string, string | number> {
  if (resource !== 'invoices') return {};
  // Rendered as the resource says.
  const invoice = record as Invoice;
  const { number, purchaseOrderReference, buyerReference, customer } = invoice;
  const [own, ofCustomer] = [[number, purchaseOrderReference, buyerReference], customer.name];
  return {
    search_words: `${own.map(partOf).join('\n')}${BEFORE_CUSTOMER}${partOf(ofCustomer)}`,
    paid_minor: paidMinor(invoice),
  };
}

/** The amount paid and not refunded, in minor units. */
export function paidMinor({ payments = [], refunds = [] }: Pick<Invoice, 'payments' | 'refunds'>): number {
  const sum = (entries: readonly { amountMinor: number }[]) =>
    entries.reduce((total, { amountMinor }) => total + amountMinor, 0);
  return sum(payments) - sum(refunds);
}

function partOf(text: string | null): string {
  return ` ${searchWordsOf(text ?? '')}`.slice(0, PART_LENGTH_MAX).toWellFormed();
}

/** Letters that Unicode takes apart no further, as people type them who don't have them. */
const typedAs: Record<string, string> = {
  æ: 'ae',
  ð: 'd',
  đ: 'd',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
};

/** The words of a text with a blank between them, in small letters without accents: `Seán Ørsted` is `sean orsted`. */
export function searchWordsOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[æðđıłøœßþ]/g, (letter) => typedAs[letter] ?? letter)
    .replaceAll(/[\p{P}\p{Z}\p{C}$+<=>^`|~]+/gu, ' ')
    .trim();
}
