import type { GivenExchange, NewInvoice } from '../../contract/feed.ts';
import type { Customer, Invoice } from '../../contract/records.ts';
import { namingOf } from './buyers.ts';
import { type CreditedInvoice, creditedInvoiceOf, refuseOtherPrices } from './credit-notes.ts';
import {
  startComposition,
  keptAmounts,
  draftLinesOf,
  reverseChargeRatesOf,
  computeTotals,
} from './document-lines.ts';
import { keptTerms, draftTermsOf } from './document-terms.ts';
import type { Move } from './move.ts';
import { payableAmounts } from './prepayments.ts';
import { Refusal, withinRange } from './refusal.ts';
import { refuseBackwards, refuseDayOutside } from './times.ts';
import type { DocumentRecord, Drafted, StoredDocument, Unpublished } from './unpublished.ts';
import { type CurrencyConversion, totals } from '../../contract/vat.ts';

/** The members of a document that stay the same when its draft is edited. */
type Fixed = Pick<Invoice, 'id' | 'createdAt'> & Pick<Unpublished, 'quoteId'>;

/** Returns a stored draft as the change that would create it. An edit replaces some of its members. */
async function draftOf(move: Move, { record, unpublished }: StoredDocument): Promise<NewInvoice> {
  const { accountingCurrency, currency, supplyPeriod, creditsInvoiceId } = record;
  const accounts = accountingCurrencyOf(move, record.kind === 'credit_note' ? record : undefined);
  const conversion = conversionOf(
    currency,
    accountingCurrency && { ...accountingCurrency, currency: accounts },
  );
  return {
    kind: record.kind,
    customerId: record.customer.id,
    siteId: record.siteId,
    currency,
    supplyPeriod,
    // The supply date of a period is its end, and is derived from it.
    supplyDate: supplyPeriod ? null : record.supplyDate,
    buyerReference: record.buyerReference,
    purchaseOrderReference: record.purchaseOrderReference,
    note: record.note,
    lines: await draftLinesOf(move, { record, unpublished }, conversion),
    terms: draftTermsOf(unpublished.terms),
    ...unpublished.amounts?.given,
    ...(creditsInvoiceId === null
      ? { dueDate: record.dueDate, paymentTermsDays: record.paymentTermsDays, exchange: accountingCurrency }
      : { creditsInvoiceId }),
  };
}

/** Returns a stored draft computed again, with the current customer, supplier and jobs. */
export async function recompose(
  move: Move,
  stored: StoredDocument,
  path: string,
  changes: Partial<NewInvoice> = {},
): Promise<Drafted> {
  const fixed = { ...stored.record, quoteId: stored.unpublished.quoteId };
  return composeInvoice(move, { ...(await draftOf(move, stored)), ...changes }, fixed, path);
}

/**
 * Returns a document computed from its draft.
 * @throws Refusal for an invalid draft; `path` is the draft's place within the change.
 */
export async function composeInvoice(
  move: Move,
  draft: NewInvoice,
  fixed: Fixed,
  path: string,
): Promise<Drafted> {
  refuseBadDates(draft, path);
  const { record: customer, unpublished: buyer } = await move.getStored(
    'customers',
    draft.customerId,
    `${path}/customerId`,
  );
  const credited = await creditedInvoiceOf(move, draft, path);
  const terms = termsOf(draft, customer, credited?.record);
  const { currency } = terms;
  const accounting = accountingOf(move, draft, currency, credited, path);
  const conversion = conversionOf(currency, accounting);
  if (credited) refuseOtherPrices(credited, draft.pricesIncludeVat ?? false, path);
  const composition = await startComposition(move, draft, { path, currency, credited, conversion });
  const sums = await computeTotals(move, composition, customer.countryCode);
  const { accounted } = sums;
  const accountedTotals = withinRange(`${path}/lines`, () => totals(accounted));
  const record: DocumentRecord = {
    ...newDocument(draft.kind, fixed.id, credited),
    status: 'draft',
    number: null,
    issueDate: null,
    issuedAt: null,
    ...terms,
    ...namingOf(customer, terms.siteId, path),
    ...sums.shown,
    accountingCurrency: accounting && { ...accounting, totals: accountedTotals, vatBreakdown: accounted },
    createdAt: fixed.createdAt,
  };
  const amounts = await payableAmounts(move, sums, draft, record);
  const unpublished = {
    ...blankUnpublished,
    reverseChargeRates: reverseChargeRatesOf(sums),
    ...keptAmounts(amounts),
    quoteId: fixed.quoteId,
    ...keptTerms(sums, draft, { ...record.buyer, ...buyer }),
  };
  return { record, unpublished, credited };
}

/** Returns the members that every new document begins with, such as its links and the invoice it credits. */
export function newDocument(kind: Invoice['kind'], id: string, credited: CreditedInvoice | undefined) {
  return {
    id,
    kind,
    links: { self: `/api/v1/invoices/${id}`, pdf: `/api/v1/invoices/${id}/pdf` },
    creditNotes: [],
    creditsInvoiceId: credited?.record.id ?? null,
    creditedInvoice: credited ? referenceTo(credited.record) : null,
  };
}

export const blankUnpublished: Omit<Unpublished, 'quoteId' | 'reverseChargeRates'> = {
  supplier: null,
  credited: [],
  voidedPayments: [],
  voidedRefunds: [],
};

/**
 * Returns the ISO 4217 code of a document's accounting currency.
 * @param credited the invoice of a credit note, which keeps that invoice's accounting currency if the company's changes.
 */
export function accountingCurrencyOf(
  move: Move,
  credited: Pick<Invoice, 'accountingCurrency'> | undefined,
): string {
  return credited?.accountingCurrency?.currency ?? move.company.currency;
}

/** Returns the conversion of a document's amounts to its accounting currency; null if that is the document's own. */
export function conversionOf(
  from: string,
  accounting: Pick<Accounting, 'currency' | 'exchangeRate'> | null | undefined,
): CurrencyConversion | null {
  return accounting ? { from, to: accounting.currency, exchangeRate: accounting.exchangeRate } : null;
}

type Dated = Pick<NewInvoice, 'kind' | 'supplyDate' | 'supplyPeriod' | 'dueDate' | 'exchange'>;

export function refuseBadDates(draft: Dated, path: string): void {
  const { kind, supplyDate, supplyPeriod, dueDate, exchange } = draft;
  refuseDayOutside(supplyDate, `${path}/supplyDate`);
  refuseDayOutside(supplyPeriod?.startDate, `${path}/supplyPeriod/startDate`);
  refuseDayOutside(supplyPeriod?.endDate, `${path}/supplyPeriod/endDate`);
  refuseDayOutside(dueDate, `${path}/dueDate`);
  refuseDayOutside(exchange?.exchangeRateDate, `${path}/exchange/exchangeRateDate`);
  if (kind === 'credit_note' && dueDate) {
    throw new Refusal('invalid_change', `A credit note isn't due; dueDate is ${dueDate}.`, `${path}/dueDate`);
  }
  refuseBackwards(supplyPeriod, path);
  if (supplyPeriod && supplyDate && supplyDate !== supplyPeriod.endDate) {
    const message = `supplyDate is ${supplyDate}; with a supplyPeriod it is its last day, ${supplyPeriod.endDate}.`;
    throw new Refusal('invalid_change', message, `${path}/supplyDate`);
  }
}

/** Returns a draft's terms; those that a credit note lacks are taken from its invoice. */
function inheritedBy(draft: NewInvoice, credited: Invoice | undefined) {
  const own = <Name extends 'siteId' | 'buyerReference' | 'purchaseOrderReference'>(name: Name) =>
    draft[name] === undefined ? (credited?.[name] ?? null) : draft[name];
  // A supply date and a supply period belong together, so they are inherited together.
  const isSupplyGiven = draft.supplyDate !== undefined || draft.supplyPeriod !== undefined;
  const { supplyDate, supplyPeriod } = isSupplyGiven ? draft : (credited ?? draft);
  return {
    siteId: own('siteId'),
    supplyDate: supplyPeriod?.endDate ?? supplyDate ?? null,
    supplyPeriod: supplyPeriod ?? null,
    buyerReference: own('buyerReference'),
    purchaseOrderReference: own('purchaseOrderReference'),
  };
}

/** Returns the terms of a document, taken from its draft, or else from its invoice or customer. */
function termsOf(draft: NewInvoice, customer: Customer, credited: Invoice | undefined) {
  return {
    ...inheritedBy(draft, credited),
    currency: draft.currency ?? credited?.currency ?? customer.currency,
    dueDate: draft.dueDate ?? null,
    paymentTermsDays: credited ? 0 : (draft.paymentTermsDays ?? customer.paymentTermsDays),
    note: draft.note ?? null,
  };
}

type Accounting = GivenExchange & { currency: string };

/** Returns a document's accounting currency and exchange rate, its own or its invoice's; null if there is no exchange. */
function accountingOf(
  move: Move,
  { exchange }: NewInvoice,
  currency: string,
  credited: CreditedInvoice | undefined,
  path: string,
): Accounting | null {
  const own = move.company.currency;
  if (exchange && (credited !== undefined || currency === own)) {
    const reason = credited
      ? 'a credit note has the rate of its invoice'
      : `the document is in ${own} itself`;
    throw new Refusal('invalid_change', `exchange can't be given: ${reason}.`, `${path}/exchange`);
  }
  const given = credited ? credited.record.accountingCurrency : exchange;
  if (!given) return null;
  const { exchangeRate, exchangeRateDate, exchangeRateSource } = given;
  return {
    currency: accountingCurrencyOf(move, credited?.record),
    exchangeRate,
    exchangeRateDate,
    exchangeRateSource,
  };
}

/** Returns the reference by which an invoice or credit note names an issued document. */
export function referenceTo(issued: DocumentRecord): NonNullable<Invoice['creditedInvoice']> {
  const { id, number, status, issueDate, totals: sums } = issued;
  // An issued document has both a number and an issue date.
  return { id, number: number ?? '', status, issueDate: issueDate ?? '', grossMinor: sums.grossMinor };
}
