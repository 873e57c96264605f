import type { InvoicePaid } from '../../contract/events.ts';
import type { JsonText } from '../../contract/json-text.ts';
import type { Invoice } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { withinRange } from './document-lines.ts';
import type { Move } from './move.ts';
import type { Unpublished } from './unpublished.ts';
import { type Balance, balance, type Movements, sumMinor } from './vat.ts';

/** An issued invoice with the data that the API doesn't show. */
export interface IssuedInvoice {
  record: Invoice;
  unpublished: Unpublished;
}

/** The amounts invoiced, credited, paid and refunded so far. */
export function movementsOf({ totals, creditNotes, payments = [], refunds = [] }: Invoice): Movements {
  return {
    grossMinor: totals.grossMinor,
    creditedMinor: sumMinor(creditNotes.map(({ grossMinor }) => grossMinor)),
    paidMinor: sumMinor(payments.map(({ amountMinor }) => amountMinor)),
    refundedMinor: sumMinor(refunds.map(({ amountMinor }) => amountMinor)),
  };
}

/** An invoice as it was written, and whether it became settled by that. */
export interface Rebalanced {
  rendered: RenderedRecord;
  record: Invoice;
  isNewlySettled: boolean;
}

/**
 * Writes an issued invoice whose payments, refunds or credit notes have changed, with its balance.
 * @param path where the amount is within the change, should the balance be beyond what a number can hold.
 */
export async function putRebalanced(
  move: Move,
  before: IssuedInvoice,
  after: IssuedInvoice,
  path: string,
): Promise<Rebalanced> {
  const wasSettled = balance(movementsOf(before.record)).isSettled;
  const { amountDueMinor, creditBalanceMinor, isSettled }: Balance = withinRange(path, () =>
    balance(movementsOf(after.record)),
  );
  const record = { ...after.record, amountDueMinor, creditBalanceMinor };
  const rendered = await move.putStamped('invoices', record, after.unpublished);
  return { rendered, record, isNewlySettled: isSettled && !wasSettled };
}

/**
 * Sends invoice.paid when an invoice has become settled: on every rising edge (openapi.yaml, "Invoices").
 * @param paymentId the payment that settles it; the latest one, when something else does.
 */
export function sendIfSettled(move: Move, { record, isNewlySettled }: Rebalanced, paymentId?: string): void {
  if (!isNewlySettled) return;
  const { grossMinor, paidMinor, creditedMinor } = movementsOf(record);
  const paid: InvoicePaid = {
    invoiceId: record.id,
    // A settled invoice is issued and so has a number. It kept money and so has a payment.
    invoiceNumber: record.number ?? '',
    currency: record.currency,
    grossMinor,
    totalPaidMinor: paidMinor,
    creditedMinor,
    paidOn: move.today,
    paymentId: paymentId ?? record.payments?.at(-1)?.id ?? '',
    customer: record.customer,
    links: { invoice: record.links.self },
  };
  move.send('invoice.paid', JSON.stringify(paid) as JsonText<InvoicePaid>);
}
