/** Prepayments and rounding, which lead from a document's total to the amount to pay. */
import { minorDigits } from '../../contract/currencies.ts';
import type { DocumentAmounts, GivenAmounts, Prepayment } from '../../contract/document-amounts.ts';
import type { Invoice } from '../../contract/records.ts';
import { pickDefined } from '../../contract/document-terms.ts';
import { sumMinor } from '../../contract/exact.ts';
import { payableMinor } from '../../contract/vat.ts';
import { quote } from '../../errors.ts';
import type { CreditedInvoice } from './credit-notes.ts';
import type { Priced } from './document-amounts.ts';
import { documentAmounts } from './document-lines.ts';
import type { Move } from './move.ts';
import { Refusal, refuseTwins, withinRange } from './refusal.ts';
import { movementsOf } from './settlement.ts';
import { refuseDayToCome } from './times.ts';
import type { Drafted, StoredDocument } from './unpublished.ts';

type Payable = Pick<Invoice, 'id' | 'kind' | 'customer' | 'currency' | 'totals'>;

/** The multiple to which Irish shops round cash payments, in cents. */
const CASH_MINOR = 5;

/**
 * Returns a document's amounts with its prepayments and rounding, computed once its sums are known.
 * @returns its amounts with both.
 * @throws Refusal for a prepayment of another invoice, and for rounding below zero.
 */
export async function payableAmounts(
  move: Move,
  priced: Priced,
  given: GivenAmounts,
  document: Payable,
): Promise<DocumentAmounts> {
  const { path, credited } = priced;
  const prepayments = await prepaymentsOf(move, given, document, path);
  const { cashRounding, roundingMinor } = given;
  const before = documentAmounts(priced);
  const unrounded = {
    ...before,
    given: {
      ...before.given,
      ...pickDefined({ ...given, prepayments }, ['prepayments', 'roundingMinor']),
      ...(cashRounding === true ? { cashRounding } : {}),
    },
    prepayments,
  };
  if (cashRounding === true) await refuseCashRounding(move, document, roundingMinor, path);
  const amounts = { ...unrounded, roundingMinor: roundingOf(unrounded, document, credited, path) };
  refuseBelowZero(document, amounts, path);
  return amounts;
}

/** Refuses rounding that takes the total below zero. Prepayments can exceed the total, and the excess is owed back. */
function refuseBelowZero({ totals }: Payable, amounts: DocumentAmounts, path: string): void {
  withinRange(path, () => payableMinor(totals, amounts));
  const roundedMinor = withinRange(path, () => payableMinor(totals, { ...amounts, prepayments: [] }));
  // A credit note's total can be less than the rounding that it reverses.
  if (roundedMinor >= 0 || (amounts.given.roundingMinor ?? 0) === 0) return;
  const message = `The total is ${totals.grossMinor}, and ${-roundedMinor} more than that is rounded.`;
  throw new Refusal('invalid_change', message, `${path}/roundingMinor`);
}

async function prepaymentsOf(
  move: Move,
  { prepayments = [] }: GivenAmounts,
  document: Payable,
  path: string,
): Promise<Prepayment[]> {
  const at = `${path}/prepayments`;
  if (prepayments.length > 0 && document.kind !== 'invoice')
    throw new Refusal('invalid_change', 'An invoice has prepayments, and no other kind of document.', at);
  refuseTwins('prepayments', prepayments, at);
  const paid: Prepayment[] = [];
  for (const [index, given] of prepayments.entries()) {
    refuseDayToCome(move, given.paidOn, `${at}/${index}/paidOn`);
    const { documentId } = given;
    const own = { ...given, id: given.id ?? move.mintId('pay_') };
    if (documentId === undefined) {
      paid.push(own);
      continue;
    }
    const asking = await askingDocument(move, documentId, document, `${at}/${index}/documentId`);
    paid.push({ ...own, documentNumber: asking.record.number ?? '' });
    const ofIt = paid.filter((one) => one.documentId === documentId);
    refuseMoreThanAsked(asking, ofIt, `${at}/${index}/amountMinor`);
  }
  return paid;
}

/** Returns the issued pro forma or invoice that requested a prepayment. */
async function askingDocument(
  move: Move,
  documentId: string,
  { id, customer, currency }: Payable,
  path: string,
): Promise<StoredDocument> {
  const asking = await move.getStored('invoices', documentId, path);
  const { record, unpublished } = asking;
  const name = quote(record.number ?? documentId);
  if (record.status !== 'issued' || record.kind === 'credit_note' || documentId === id)
    throw new Refusal('wrong_state', `${name} isn't an issued pro forma, and no other issued invoice.`, path);
  if (record.customer.id !== customer.id)
    throw new Refusal(
      'invalid_change',
      `${name} belongs to the customer ${quote(record.customer.id)}.`,
      path,
    );
  if (record.currency !== currency)
    throw new Refusal('wrong_currency', `${name} is in ${record.currency}, and not in ${currency}.`, path);
  const { prepaidInvoiceId = id } = unpublished;
  if (prepaidInvoiceId === id || !(await isPrepaidWith(move, prepaidInvoiceId, documentId))) return asking;
  const message = `${name} is already a prepayment of the invoice ${quote(prepaidInvoiceId)}; void the payment there first.`;
  throw new Refusal('wrong_state', message, path);
}

/** Whether an issued invoice has a prepayment, not since voided, that was requested by the given document. */
async function isPrepaidWith(move: Move, invoiceId: string, documentId: string): Promise<boolean> {
  const { record, unpublished } = await move.getStored('invoices', invoiceId, '');
  const shown = new Set(record.payments?.map(({ id }) => id));
  const prepayments = unpublished.amounts?.prepayments ?? [];
  return prepayments.some((one) => one.documentId === documentId && shown.has(one.id));
}

/** Refuses prepayments that exceed what a document requested: its rounded total less its credit notes. */
function refuseMoreThanAsked(
  { record, unpublished }: StoredDocument,
  paid: readonly Prepayment[],
  path: string,
): void {
  const paidMinor = withinRange(path, () => sumMinor(paid.map(({ amountMinor }) => amountMinor)));
  const { grossMinor, roundingMinor = 0, creditedMinor } = movementsOf(record, unpublished);
  const askedMinor = grossMinor + roundingMinor - creditedMinor;
  if (paidMinor <= askedMinor) return;
  const message = `The prepayments of ${quote(record.number ?? '')} are ${paidMinor}, and it asked for ${askedMinor}.`;
  throw new Refusal('invalid_change', message, path);
}

function roundingOf(
  amounts: DocumentAmounts,
  document: Payable,
  credited: CreditedInvoice | undefined,
  path: string,
): number {
  const { cashRounding, roundingMinor } = amounts.given;
  if (cashRounding === true) {
    const dueMinor = payableMinor(document.totals, amounts);
    // A division of large amounts would be inexact; a remainder never is.
    const above = ((dueMinor % CASH_MINOR) + CASH_MINOR) % CASH_MINOR;
    return 2 * above < CASH_MINOR ? 0 - above : CASH_MINOR - above;
  }
  const mainUnitMinor = 10 ** minorDigits(document.currency);
  if (roundingMinor !== undefined && Math.abs(roundingMinor) > mainUnitMinor) {
    const message = `roundingMinor is ${roundingMinor}, and at most one unit of ${document.currency}, ${mainUnitMinor}.`;
    throw new Refusal('invalid_change', message, `${path}/roundingMinor`);
  }
  return roundingMinor ?? roundingLeft(document, credited);
}

/** Returns the rounding that a credit note reverses: what is left if it credits the rest of its invoice, otherwise 0. */
function roundingLeft({ totals }: Payable, credited: CreditedInvoice | undefined): number {
  if (!credited) return 0;
  const creditedMinor = sumMinor(
    [...credited.record.creditNotes, totals].map(({ grossMinor }) => grossMinor),
  );
  if (creditedMinor !== credited.record.totals.grossMinor) return 0;
  const takenMinor = sumMinor(
    credited.notes.map(({ unpublished }) => unpublished.amounts?.roundingMinor ?? 0),
  );
  return (credited.unpublished.amounts?.roundingMinor ?? 0) - takenMinor;
}

async function refuseCashRounding(
  move: Move,
  { currency }: Payable,
  roundingMinor: number | undefined,
  path: string,
): Promise<void> {
  const { countryCode } = await move.supplier();
  const problem =
    roundingMinor !== undefined
      ? `roundingMinor is ${roundingMinor}; a document has one of both`
      : countryCode !== 'IE' || currency !== 'EUR'
        ? `the company is in ${countryCode ?? 'no country'}, and the document in ${currency}; it is for EUR in IE`
        : undefined;
  if (problem === undefined) return;
  throw new Refusal('invalid_change', `cashRounding can't be: ${problem}.`, `${path}/cashRounding`);
}

/** Marks the documents that requested an issued invoice's prepayments as used by it. */
export async function usePrepayments(
  move: Move,
  { record: { id }, unpublished: { amounts } }: Drafted,
  path: string,
): Promise<void> {
  const ids = new Set(amounts?.prepayments.flatMap(({ documentId }) => documentId ?? []));
  for (const documentId of ids) {
    const { record, unpublished } = await move.getStored('invoices', documentId, path);
    // The document keeps its stamp, because nothing that the API shows changes.
    await move.put('invoices', record, { ...unpublished, prepaidInvoiceId: id });
  }
}
