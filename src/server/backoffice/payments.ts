import type { ChangeContent } from '../../contract/feed.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';
import { movementsOf, putRebalanced } from './settlement.ts';
import { isToCome, refuseDayOutside } from './times.ts';
import type { StoredDocument } from './unpublished.ts';

/** The maximum number of payments, and likewise of refunds, that the contract lets an invoice show. */
const RECORDED_MAX = 1000;

/**
 * Records a payment; publishes payment.recorded, and invoice.paid if it settles the invoice.
 * @throws Refusal `invalid_change` when its day is in the future.
 */
export async function recordPayment(
  move: Move,
  given: ChangeContent<'payment.record'>,
): Promise<RenderedRecord> {
  if (given.notify === false) move.keepQuiet();
  const invoice = await getIssuedInvoice(move, given.invoiceId);
  const { payments = [] } = invoice.record;
  refuseBadMoney('payment', given, invoice, payments, invoice.unpublished.voidedPayments);
  const { id = move.mintId('pay_'), amountMinor, currency, method } = given;
  const payment = { id, amountMinor, currency, paidOn: dayOf(move, given.paidOn, 'paidOn'), method };
  const changes = { record: { payments: [...payments, payment] } };
  return putRebalanced(move, invoice, changes, '/with/amountMinor', payment);
}

/**
 * Voids a payment, which is then no longer shown; publishes invoice.paid if that settles the invoice.
 * @throws Refusal `unknown_record`, or `wrong_state` when it is already voided.
 */
export async function voidPayment(
  move: Move,
  { invoiceId, id }: ChangeContent<'payment.void'>,
): Promise<RenderedRecord> {
  const invoice = await getIssuedInvoice(move, invoiceId);
  const { voidedPayments: before } = invoice.unpublished;
  const [payments, voidedPayments] = takeOut('payment', id, invoice.record.payments, before);
  return putRebalanced(move, invoice, { record: { payments }, unpublished: { voidedPayments } }, '/with/id');
}

/**
 * Records a refund; publishes invoice.paid if that settles the invoice.
 * @throws Refusal `exceeds_payments` when more would be refunded than was received, and `invalid_change` when its day
 *   is in the future.
 */
export async function recordRefund(
  move: Move,
  given: ChangeContent<'refund.record'>,
): Promise<RenderedRecord> {
  if (given.notify === false) move.keepQuiet();
  const invoice = await getIssuedInvoice(move, given.invoiceId);
  const { refunds = [] } = invoice.record;
  refuseBadMoney('refund', given, invoice, refunds, invoice.unpublished.voidedRefunds);
  const { paidMinor, refundedMinor } = movementsOf(invoice.record, invoice.unpublished);
  if (given.amountMinor > paidMinor - refundedMinor) {
    const message = `The refund of ${given.amountMinor} is more than the ${paidMinor - refundedMinor} that was received.`;
    throw new Refusal('exceeds_payments', message, '/with/amountMinor');
  }
  const { id = move.mintId('ref_'), amountMinor, currency, method } = given;
  const refund = {
    id,
    amountMinor,
    currency,
    refundedOn: dayOf(move, given.refundedOn, 'refundedOn'),
    method,
  };
  return putRebalanced(move, invoice, { record: { refunds: [...refunds, refund] } }, '/with/amountMinor');
}

/**
 * Voids a refund, which is then no longer shown; publishes invoice.paid if that settles the invoice.
 * @throws Refusal `unknown_record`, or `wrong_state` when it is already voided.
 */
export async function voidRefund(
  move: Move,
  { invoiceId, id }: ChangeContent<'refund.void'>,
): Promise<RenderedRecord> {
  const invoice = await getIssuedInvoice(move, invoiceId);
  const { voidedRefunds: before } = invoice.unpublished;
  const [refunds, voidedRefunds] = takeOut('refund', id, invoice.record.refunds, before);
  return putRebalanced(move, invoice, { record: { refunds }, unpublished: { voidedRefunds } }, '/with/id');
}

async function getIssuedInvoice(move: Move, id: string): Promise<StoredDocument> {
  const document = await move.getStored('invoices', id, '/with/invoiceId');
  const { kind, status } = document.record;
  if (kind === 'invoice' && status === 'issued') return document;
  const message = `${quote(id)} isn't an issued invoice, so it has no payments.`;
  throw new Refusal('wrong_state', message, '/with/invoiceId');
}

/** Refuses a payment or refund that breaks a rule which both share. The id of a voided one stays taken. */
function refuseBadMoney(
  name: 'payment' | 'refund',
  { id, currency }: { id?: string; currency: string },
  { record: invoice }: StoredDocument,
  shown: readonly { id: string }[],
  voided: readonly { id: string }[],
): void {
  if (currency !== invoice.currency) {
    const message = `currency is ${currency}, and the invoice ${quote(invoice.number ?? '')} is in ${invoice.currency}.`;
    throw new Refusal('wrong_currency', message, '/with/currency');
  }
  if (id !== undefined && [...shown, ...voided].some((other) => other.id === id)) {
    const message = `The invoice already has a ${name} with the id ${quote(id)}.`;
    throw new Refusal('duplicate_id', message, '/with/id');
  }
  if (shown.length >= RECORDED_MAX) {
    const message = `The invoice has ${RECORDED_MAX} ${name}s, the most it can have.`;
    throw new Refusal('limit_reached', message, '/with/invoiceId');
  }
}

/** Returns the calendar day on which money moved: the given one, or else the day of the change. */
function dayOf(move: Move, given: string | undefined, member: string): string {
  refuseDayOutside(given, `/with/${member}`);
  refuseDayOutside(move.today, '/at');
  if (given !== undefined && isToCome(given, move.today)) {
    const message = `${member} is ${given}, which is after ${move.today}, the day of the change.`;
    throw new Refusal('invalid_change', message, `/with/${member}`);
  }
  return given ?? move.today;
}

/** Returns the shown list without a payment or refund, and the voided list with it. */
function takeOut<T extends { id: string }>(
  name: string,
  id: string,
  shown: readonly T[] = [],
  voided: readonly T[],
): [rest: T[], voided: T[]] {
  const found = shown.find((one) => one.id === id);
  if (found) return [shown.filter((one) => one !== found), [...voided, found]];
  if (voided.some((one) => one.id === id)) {
    throw new Refusal('wrong_state', `The ${name} ${quote(id)} is already voided.`, '/with/id');
  }
  throw new Refusal('unknown_record', `The invoice has no ${name} with the id ${quote(id)}.`, '/with/id');
}
