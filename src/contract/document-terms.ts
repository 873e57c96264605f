import type { DocumentTerms, DraftLine, NamedBuyer } from './feed.ts';

/** Members of a line that the contract of the API has no place for. */
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

/** Terms of a customer. */
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

/** The terms that a document shows beside the members of the contract. */
export interface KeptTerms extends DocumentTerms {
  buyer?: BuyerTerms;
  /** Terms of the lines that have any, by the line's id. */
  lines?: Record<string, LineTerms>;
  /** Whether it goes over Peppol. */
  isPeppol?: boolean;
}

/** Whether a document asks for a payment on account (UNTDID 1001, code 386), for a supply that may be still to come. */
export function isDeposit(terms: KeptTerms | undefined): boolean {
  return terms?.typeCode === '386';
}

/** The members of other names than these. */
export function without<T extends object, Name extends keyof T>(
  given: T,
  names: readonly Name[],
): Omit<T, Name> {
  const entries = Object.entries(given).filter(([name]) => !names.some((other) => other === name));
  return Object.fromEntries(entries) as Omit<T, Name>;
}

/** The members of these names that have a value; an empty list is none. */
export function withValue<T extends object, Name extends keyof T>(
  given: T,
  names: readonly Name[],
): Pick<T, Name> {
  const entries = names.map((name) => [name, given[name]] as const);
  const hasValue = (value: unknown) =>
    value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(entries.filter(([, value]) => hasValue(value))) as Pick<T, Name>;
}
