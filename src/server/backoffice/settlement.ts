import type { InvoicePaid, PaymentRecorded } from '../../contract/events.ts';
import type { JsonText } from '../../contract/json-text.ts';
import type { Invoice } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { sumMinor } from '../../contract/exact.ts';
import { calculateBalance, type SettlementTotals } from '../../contract/vat.ts';
import type { Move } from './move.ts';
import { withinRange } from './refusal.ts';
import type { DocumentRecord, Drafted, Payment, StoredDocument, Unpublished } from './unpublished.ts';

/** Returns an invoice's amounts invoiced, credited, paid and refunded so far, in minor units. */
export function movementsOf(
  { totals, creditNotes, payments = [], refunds = [] }: DocumentRecord,
  { amounts, creditedRoundingMinor = 0 }: Pick<Unpublished, 'amounts' | 'creditedRoundingMinor'>,
): SettlementTotals {
  return {
    roundingMinor: (amounts?.roundingMinor ?? 0) - creditedRoundingMinor,
    grossMinor: totals.grossMinor,
    creditedMinor: sumMinor(creditNotes.map(({ grossMinor }) => grossMinor)),
    paidMinor: sumMinor(payments.map(({ amountMinor }) => amountMinor)),
    refundedMinor: sumMinor(refunds.map(({ amountMinor }) => amountMinor)),
  };
}

/**
 * Writes an issued invoice with its new balance, once its payments, refunds or credit notes have changed. Publishes
 * payment.recorded for a new `payment`, and invoice.paid each time that the invoice becomes settled.
 * @param path the amount's place within the change, for a refusal when the balance exceeds what a number can hold.
 */
export async function putRebalanced(
  move: Move,
  before: StoredDocument,
  changes: { record: Partial<Invoice>; unpublished?: Partial<Unpublished> },
  path: string,
  payment?: Payment,
): Promise<RenderedRecord> {
  const wasSettled = calculateBalance(movementsOf(before.record, before.unpublished)).isSettled;
  const unpublished = { ...before.unpublished, ...changes.unpublished };
  const changed = { ...before.record, ...changes.record };
  const { isSettled, ...amounts } = withinRange(path, () =>
    calculateBalance(movementsOf(changed, unpublished)),
  );
  const record = { ...changed, ...amounts };
  const rendered = await move.putStamped('invoices', record, unpublished);
  if (payment) sendRecorded(move, record, payment);
  if (isSettled && !wasSettled) sendPaid(move, record, payment);
  return rendered;
}

/** Publishes payment.recorded for each prepayment of an issued invoice, and invoice.paid if they settle it. */
export function sendPrepaid(move: Move, { record: invoice, unpublished }: Drafted): void {
  const { payments = [] } = invoice;
  for (const [index, payment] of payments.entries()) {
    const upTo = { ...invoice, payments: payments.slice(0, index + 1) };
    const { isSettled, ...due } = calculateBalance(movementsOf(upTo, unpublished));
    sendRecorded(move, { ...upTo, ...due }, payment);
    if (isSettled) sendPaid(move, invoice, payment);
  }
}

/** Publishes payment.recorded for an issued invoice. */
function sendRecorded(move: Move, invoice: DocumentRecord, { id: paymentId, ...payment }: Payment): void {
  const { amountMinor, currency, paidOn, method } = payment;
  const recorded: PaymentRecorded = {
    invoiceId: invoice.id,
    invoiceNumber: invoice.number ?? '',
    paymentId,
    amountMinor,
    currency,
    paidOn,
    method,
    amountDueMinor: invoice.amountDueMinor ?? 0,
    customer: invoice.customer,
    links: { invoice: invoice.links.self },
  };
  move.send('payment.recorded', JSON.stringify(recorded) as JsonText<PaymentRecorded>);
}

/** Publishes invoice.paid with the settling payment, or with the latest one if something else settled the invoice. */
function sendPaid(move: Move, invoice: DocumentRecord, payment: Payment | undefined): void {
  const { grossMinor, paidMinor, creditedMinor } = movementsOf(invoice, {});
  const paid: InvoicePaid = {
    invoiceId: invoice.id,
    invoiceNumber: invoice.number ?? '',
    currency: invoice.currency,
    grossMinor,
    totalPaidMinor: paidMinor,
    creditedMinor,
    paidOn: move.today,
    paymentId: payment?.id ?? invoice.payments?.at(-1)?.id ?? '',
    customer: invoice.customer,
    links: { invoice: invoice.links.self },
  };
  move.send('invoice.paid', JSON.stringify(paid) as JsonText<InvoicePaid>);
}
