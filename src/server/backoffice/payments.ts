import type { WithOf } from '../../contract/feed.ts';
import type { PaymentRecorded } from '../../contract/events.ts';
import type { JsonText } from '../../contract/json-text.ts';
import type { Invoice } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote } from '../errors.ts';
import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';
import { type IssuedInvoice, movementsOf, putRebalanced, sendIfSettled } from './settlement.ts';
import { DOCUMENT_DAYS, isToCome, refuseDayOutside } from './times.ts';

type Payment = NonNullable<Invoice['payments']>[number];

/** As many as the contract lets an invoice show. */
const RECORDED_MAX = 1000;

/**
 * Records a payment; sends payment.recorded, and invoice.paid if it settles the invoice.
 * @throws Refusal `invalid_change` when its day is still to come.
 */
export async function recordPayment(move: Move, given: WithOf<'payment.record'>): Promise<RenderedRecord> {
  const invoice = await getIssuedInvoice(move, given.invoiceId);
  const { record, unpublished } = invoice;
  const payments = record.payments ?? [];
  refuseBadMoney('payment', given, record, [...payments, ...unpublished.voidedPayments], payments.length);
  const payment: Payment = {
    id: given.id ?? move.mintId('pay_'),
    amountMinor: given.amountMinor,
    currency: given.currency,
    paidOn: dayOf(move, given.paidOn, 'paidOn'),
    method: given.method,
  };
  const after = { record: { ...record, payments: [...payments, payment] }, unpublished };
  const rebalanced = await putRebalanced(move, invoice, after, '/with/amountMinor');
  move.send('payment.recorded', recordedText(rebalanced.record, payment));
  sendIfSettled(move, rebalanced, payment.id);
  return rebalanced.rendered;
}

/**
 * Voids a payment, which is then no longer shown; sends invoice.paid if the invoice becomes settled by that.
 * @throws Refusal `unknown_record`, or `wrong_state` when it is voided already.
 */
export async function voidPayment(
  move: Move,
  { invoiceId, id }: WithOf<'payment.void'>,
): Promise<RenderedRecord> {
  const invoice = await getIssuedInvoice(move, invoiceId);
  const { record, unpublished } = invoice;
  const { voided, rest } = takeOut(id, record.payments ?? [], unpublished.voidedPayments, 'payment');
  const after = {
    record: { ...record, payments: rest },
    unpublished: { ...unpublished, voidedPayments: [...unpublished.voidedPayments, voided] },
  };
  const rebalanced = await putRebalanced(move, invoice, after, '/with/id');
  sendIfSettled(move, rebalanced);
  return rebalanced.rendered;
}

/**
 * Records a refund; sends invoice.paid if the invoice becomes settled by that.
 * @throws Refusal `exceeds_payments` when more would be given back than was received, and `invalid_change` when its day
 *   is still to come.
 */
export async function recordRefund(move: Move, given: WithOf<'refund.record'>): Promise<RenderedRecord> {
  const invoice = await getIssuedInvoice(move, given.invoiceId);
  const { record, unpublished } = invoice;
  const refunds = record.refunds ?? [];
  refuseBadMoney('refund', given, record, [...refunds, ...unpublished.voidedRefunds], refunds.length);
  const { paidMinor, refundedMinor } = movementsOf(record);
  if (given.amountMinor > paidMinor - refundedMinor) {
    const message = `The refund of ${given.amountMinor} is more than the ${paidMinor - refundedMinor} that was received.`;
    throw new Refusal('exceeds_payments', message, '/with/amountMinor');
  }
  const refund = {
    id: given.id ?? move.mintId('ref_'),
    amountMinor: given.amountMinor,
    currency: given.currency,
    refundedOn: dayOf(move, given.refundedOn, 'refundedOn'),
    method: given.method,
  };
  const after = { record: { ...record, refunds: [...refunds, refund] }, unpublished };
  const rebalanced = await putRebalanced(move, invoice, after, '/with/amountMinor');
  sendIfSettled(move, rebalanced);
  return rebalanced.rendered;
}

/**
 * Voids a refund, which is then no longer shown; sends invoice.paid if the invoice becomes settled by that.
 * @throws Refusal `unknown_record`, or `wrong_state` when it is voided already.
 */
export async function voidRefund(
  move: Move,
  { invoiceId, id }: WithOf<'refund.void'>,
): Promise<RenderedRecord> {
  const invoice = await getIssuedInvoice(move, invoiceId);
  const { record, unpublished } = invoice;
  const { voided, rest } = takeOut(id, record.refunds ?? [], unpublished.voidedRefunds, 'refund');
  const after = {
    record: { ...record, refunds: rest },
    unpublished: { ...unpublished, voidedRefunds: [...unpublished.voidedRefunds, voided] },
  };
  const rebalanced = await putRebalanced(move, invoice, after, '/with/id');
  sendIfSettled(move, rebalanced);
  return rebalanced.rendered;
}

async function getIssuedInvoice(move: Move, id: string): Promise<IssuedInvoice> {
  const document = await move.getDocument(id, '/with/invoiceId');
  const { kind, status } = document.record;
  if (kind !== 'invoice' || status !== 'issued') {
    throw new Refusal(
      'wrong_state',
      `${quote(id)} isn't an issued invoice, so it has no payments.`,
      '/with/invoiceId',
    );
  }
  return document;
}

/** The rules of both payments and refunds. The id of a voided one stays taken. */
function refuseBadMoney(
  name: 'payment' | 'refund',
  { id, currency }: { id?: string; currency: string },
  invoice: Invoice,
  earlier: readonly { id: string }[],
  shownCount: number,
): void {
  if (currency !== invoice.currency) {
    const message = `currency is ${currency}, and the invoice ${quote(invoice.number ?? '')} is in ${invoice.currency}.`;
    throw new Refusal('wrong_currency', message, '/with/currency');
  }
  if (id !== undefined && earlier.some((other) => other.id === id)) {
    const message = `The invoice already has a ${name} with the id ${quote(id)}.`;
    throw new Refusal('duplicate_id', message, '/with/id');
  }
  if (shownCount >= RECORDED_MAX) {
    const message = `The invoice has ${RECORDED_MAX} ${name}s, which is the limit.`;
    throw new Refusal('limit_reached', message, '/with/invoiceId');
  }
}

/** The day on which money moved: that of the change, unless it is given. */
function dayOf(move: Move, given: string | undefined, member: string): string {
  refuseDayOutside(DOCUMENT_DAYS, given, `/with/${member}`);
  refuseDayOutside(DOCUMENT_DAYS, move.today, '/at');
  if (given !== undefined && isToCome(given, move.today)) {
    const message = `${member} is ${given}, which is still to come on ${move.today}, the day of the change.`;
    throw new Refusal('invalid_change', message, `/with/${member}`);
  }
  return given ?? move.today;
}

function takeOut<T extends { id: string }>(
  id: string,
  shown: readonly T[],
  voided: readonly T[],
  name: string,
): { voided: T; rest: T[] } {
  const found = shown.find((one) => one.id === id);
  if (found) return { voided: found, rest: shown.filter((one) => one !== found) };
  if (voided.some((one) => one.id === id)) {
    throw new Refusal('wrong_state', `The ${name} ${quote(id)} is voided already.`, '/with/id');
  }
  throw new Refusal('unknown_record', `The invoice has no ${name} with the id ${quote(id)}.`, '/with/id');
}

function recordedText(invoice: Invoice, payment: Payment): JsonText<PaymentRecorded> {
  const recorded: PaymentRecorded = {
    invoiceId: invoice.id,
    // Only an issued invoice has payments, and it has both.
    invoiceNumber: invoice.number ?? '',
    paymentId: payment.id,
    amountMinor: payment.amountMinor,
    currency: payment.currency,
    paidOn: payment.paidOn,
    method: payment.method,
    amountDueMinor: invoice.amountDueMinor ?? 0,
    customer: invoice.customer,
    links: { invoice: invoice.links.self },
  };
  return JSON.stringify(recorded) as JsonText<PaymentRecorded>;
}
