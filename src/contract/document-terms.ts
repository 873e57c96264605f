import type { DocumentTerms, DraftLine, NamedBuyer } from './feed.ts';

/** Names of the fields of a line that the API doesn't expose. */
export const lineTermNames = [
  'lineNumber',
  'priceDiscount',
  'vatExemptionReasonCode',
  'note',
  'supplyPeriod',
  'invoicedObject',
  'orderLineReference',
  'buyerAccountingReference',
  'sellerItemId',
  'buyerItemId',
  'standardItemId',
  'classifications',
  'attributes',
  'originCountryCode',
] as const;

/** Names of the fields of a customer that the API doesn't expose. */
export const buyerTermNames = [
  'town',
  'region',
  'postcode',
  'companyNumber',
  'companyNumberScheme',
  'identifier',
  'electronicAddress',
  'phone',
] as const;

export type LineTerms = Pick<DraftLine, (typeof lineTermNames)[number]>;
export type BuyerTerms = Pick<NamedBuyer, (typeof buyerTermNames)[number]>;

/** Fields of a document that are printed on it but that the API doesn't expose. */
export interface StoredTerms extends DocumentTerms {
  buyer?: BuyerTerms;
  /** Terms of lines, by line id; lines without any are left out. */
  lines?: Record<string, LineTerms>;
  /** Whether the document is sent over the Peppol network. */
  isPeppol?: boolean;
}

/** Whether a document requests a payment on account (UNTDID 1001, code 386), possibly before the supply is made. */
export function isDeposit(terms: StoredTerms | undefined): boolean {
  return terms?.typeCode === '386';
}

/** Returns a copy of an object without the named properties. */
export function omit<T extends object, Name extends keyof T>(
  given: T,
  names: readonly Name[],
): Omit<T, Name> {
  const entries = Object.entries(given).filter(([name]) => !names.some((other) => other === name));
  return Object.fromEntries(entries) as Omit<T, Name>;
}

/** Returns an object's named properties that have a value; an empty list doesn't count as one. */
export function pickDefined<T extends object, Name extends keyof T>(
  given: T,
  names: readonly Name[],
): Pick<T, Name> {
  const entries = names.map((name) => [name, given[name]] as const);
  const hasValue = (value: unknown) =>
    value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(entries.filter(([, value]) => hasValue(value))) as Pick<T, Name>;
}
