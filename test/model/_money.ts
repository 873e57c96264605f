/** The model's payments and refunds, and when an invoice is settled. */
import type { ChangeContent } from '../../src/contract/feed.ts';
import type { Invoice, InvoiceSummary, Quote, QuoteSummary } from '../../src/contract/records.ts';
import { roundingOf } from './_amounts.ts';
import { isSafe, sumOf } from './_exact.ts';
import { addDays, type Kept, type Moves, need, type Turn, without } from './_model.ts';

export const moneyMoves = {
  'payment.record': (turn, what) => {
    const invoice = issuedOf(turn, what.invoiceId);
    const payments = invoice.payments ?? [];
    faultMoney(turn, invoice, what, [...payments.map(({ id }) => id), ...voidedOf(turn, invoice).payments]);
    faultDay(turn, 'paidOn', what.paidOn);
    const { id = '', amountMinor, currency, method, paidOn = turn.today } = what;
    const payment = { id, amountMinor, currency, paidOn, method };
    const after = { ...invoice, payments: [...payments, payment] };
    return putMoved(turn, invoice, after, { path: '/with/amountMinor', payment });
  },
  'payment.void': (turn, what) => voidOne(turn, what, 'payments'),
  'refund.record': (turn, what) => {
    const invoice = issuedOf(turn, what.invoiceId);
    const refunds = invoice.refunds ?? [];
    faultMoney(turn, invoice, what, [...refunds.map(({ id }) => id), ...voidedOf(turn, invoice).refunds]);
    faultDay(turn, 'refundedOn', what.refundedOn);
    const { id = '', amountMinor, currency, method, refundedOn = turn.today } = what;
    const { paid, refunded } = movementsOf(turn, invoice);
    if (refunded + BigInt(amountMinor) > paid) turn.refuse('exceeds_payments', '/with/amountMinor');
    const refund = { id, amountMinor, currency, refundedOn, method };
    const after = { ...invoice, refunds: [...refunds, refund] };
    return putMoved(turn, invoice, after, { path: '/with/amountMinor' });
  },
  'refund.void': (turn, what) => voidOne(turn, what, 'refunds'),
} satisfies Partial<Moves>;

function issuedOf(turn: Turn, id: string): Invoice {
  const invoice = need(turn, 'invoices', id, '/with/invoiceId');
  if (invoice.kind !== 'invoice' || invoice.status !== 'issued')
    turn.refuse('wrong_state', '/with/invoiceId');
  return invoice;
}

function voidedOf(turn: Turn, { id }: Invoice): Kept['voided'] {
  return turn.company.kept.get(id)?.voided ?? { payments: [], refunds: [] };
}

/** Takes a payment or a refund back. */
function voidOne(
  turn: Turn,
  { invoiceId, id }: ChangeContent<'payment.void'>,
  list: keyof Kept['voided'],
): Invoice {
  const invoice = issuedOf(turn, invoiceId);
  const all: readonly { id: string }[] = invoice[list] ?? [];
  if (voidedOf(turn, invoice)[list].includes(id)) turn.refuse('wrong_state', '/with/id');
  if (!all.some((one) => one.id === id)) turn.refuse('unknown_record', '/with/id');
  const kept = turn.company.kept.get(invoiceId);
  if (!kept) throw new Error('The model lost what it kept of an invoice.');
  const voided = { ...kept.voided, [list]: [...kept.voided[list], id] };
  turn.company.kept.set(invoiceId, { ...kept, voided });
  const left = { ...invoice, [list]: all.filter((one) => one.id !== id) };
  return putMoved(turn, invoice, left, { path: '/with/id' });
}

function faultMoney(
  turn: Turn,
  invoice: Invoice,
  { id, currency }: Pick<ChangeContent<'payment.record'>, 'id' | 'currency'>,
  taken: readonly string[],
): void {
  if (currency !== invoice.currency) turn.fault('wrong_currency', '/with/currency');
  if (taken.includes(id ?? '')) turn.fault('duplicate_id', '/with/id');
}

/** Money has moved by the day of the change, or by the day after it where the calendar is ahead. */
function faultDay(turn: Turn, member: string, day = turn.today): void {
  if (day > addDays(turn.today, 1)) turn.fault('invalid_change', `/with/${member}`);
}

interface Movements {
  rounding: bigint;
  gross: bigint;
  credited: bigint;
  paid: bigint;
  refunded: bigint;
}

function movementsOf(turn: Turn, invoice: Invoice): Movements {
  const { totals, creditNotes, payments = [], refunds = [] } = invoice;
  return {
    rounding: roundingOf(turn, invoice),
    gross: BigInt(totals.grossMinor),
    credited: sumOf(creditNotes.map(({ grossMinor }) => grossMinor)),
    paid: sumOf(payments.map(({ amountMinor }) => amountMinor)),
    refunded: sumOf(refunds.map(({ amountMinor }) => amountMinor)),
  };
}

const balanceOf = ({ rounding, gross, credited, paid, refunded }: Movements) =>
  gross + rounding - credited - paid + refunded;

/** Nothing to pay, money received, not in credit. */
const isSettled = (movements: Movements) =>
  balanceOf(movements) === 0n && movements.paid > movements.refunded;

type Payment = NonNullable<Invoice['payments']>[number];

/** Sends what is said of payments before the issue, each with what is left then. */
export function sendPrepaid(turn: Turn, invoice: Invoice): void {
  const payments = invoice.payments ?? [];
  for (const [index, payment] of payments.entries()) {
    const upTo = { ...invoice, payments: payments.slice(0, index + 1) };
    const movements = movementsOf(turn, upTo);
    const left = Number(balanceOf(movements));
    sendMoved(turn, { ...upTo, amountDueMinor: Math.max(0, left) }, movements, {
      payment,
      isPaid: isSettled(movements),
    });
  }
}

/** Puts an invoice that money or a credit note has moved, and sends what follows from it. */
export function putMoved(
  turn: Turn,
  before: Invoice,
  moved: Invoice,
  { path, payment }: { path?: string; payment?: Payment } = {},
): Invoice {
  const movements = movementsOf(turn, moved);
  const balance = balanceOf(movements);
  if (![...Object.values(movements as unknown as Record<string, bigint>), balance].every(isSafe)) {
    turn.refuse('amount_out_of_range', path);
  }
  const invoice = {
    ...moved,
    amountDueMinor: Number(balance > 0n ? balance : 0n),
    creditBalanceMinor: Number(balance < 0n ? -balance : 0n),
    updatedAt: turn.stamp(),
  };
  turn.company.tables.invoices.set(invoice.id, invoice);
  const isPaid = isSettled(movements) && !isSettled(movementsOf(turn, before));
  sendMoved(turn, invoice, movements, { payment, isPaid });
  return invoice;
}

function sendMoved(
  turn: Turn,
  invoice: Invoice,
  movements: Movements,
  { payment, isPaid }: { payment: Payment | undefined; isPaid: boolean },
): void {
  const { id: invoiceId, number: invoiceNumber, currency, customer, amountDueMinor } = invoice;
  const links = { invoice: `/api/v1/invoices/${invoiceId}` };
  if (payment) {
    const { id: paymentId, amountMinor, paidOn, method } = payment;
    turn.send('payment.recorded', {
      ...{ invoiceId, invoiceNumber, paymentId, amountMinor, currency, paidOn, method },
      ...{ amountDueMinor, customer, links },
    });
  }
  if (isPaid) {
    turn.send('invoice.paid', {
      ...{ invoiceId, invoiceNumber, currency, customer, links },
      grossMinor: Number(movements.gross),
      totalPaidMinor: Number(movements.paid),
      creditedMinor: Number(movements.credited),
      paidOn: turn.today,
      paymentId: payment?.id ?? invoice.payments?.at(-1)?.id,
    });
  }
}

/** A document without its details. */
export function summaryOf(record: Invoice): InvoiceSummary {
  return without(
    record,
    ...(['note', 'buyer', 'lines', 'creditNotes', 'creditedInvoice'] as const),
    ...(['payments', 'amountDueMinor', 'refunds', 'creditBalanceMinor'] as const),
  );
}

export const quoteSummaryOf = (record: Quote): QuoteSummary => without(record, 'note', 'buyer', 'lines');
