import type { Invoice } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';

/** Maximum UTF-16 units of each searched text, so that four fit into a PostgreSQL index entry of about 2,700 bytes. */
const PART_LENGTH_MAX = 150;

/** Character before the words of the customer's name, which not everybody is allowed to search. */
export const BEFORE_CUSTOMER = '\t';

/** Returns the values of a record's search columns that the database can't compute from its text, by column name. */
export function searchColumns({
  resource,
  record,
}: Pick<RenderedRecord, 'resource' | 'record'>): Record<string, string | number> {
  if (resource !== 'invoices') return {};
  // The resource determines the record's type.
  const invoice = record as Invoice;
  const { number, purchaseOrderReference, buyerReference, customer } = invoice;
  const [own, ofCustomer] = [[number, purchaseOrderReference, buyerReference], customer.name];
  return {
    search_words: `${own.map(partOf).join('\n')}${BEFORE_CUSTOMER}${partOf(ofCustomer)}`,
    paid_minor: paidMinor(invoice),
  };
}

/** Returns the amount paid on an invoice less refunds, in minor units. */
export function paidMinor({ payments = [], refunds = [] }: Pick<Invoice, 'payments' | 'refunds'>): number {
  const sum = (entries: readonly { amountMinor: number }[]) =>
    entries.reduce((total, { amountMinor }) => total + amountMinor, 0);
  return sum(payments) - sum(refunds);
}

function partOf(text: string | null): string {
  return ` ${searchWordsOf(text ?? '')}`.slice(0, PART_LENGTH_MAX).toWellFormed();
}

/** Letters that Unicode doesn't decompose, with their usual spelling on keyboards that lack them. */
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

/** Returns a text's words in lower case without accents, separated by spaces: `Seán Ørsted` becomes `sean orsted`. */
export function searchWordsOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[æðđıłøœßþ]/g, (letter) => typedAs[letter] ?? letter)
    .replaceAll(/[\p{P}\p{Z}\p{C}$+<=>^`|~]+/gu, ' ')
    .trim();
}
