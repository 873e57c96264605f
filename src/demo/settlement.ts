import type { Invoice } from '../contract/records.ts';
import { balance } from '../backoffice/vat.ts';
import type { Balance } from '../backoffice/vat.ts';
import { DAY_MS, dayText, workingMoment } from './calendar.ts';
import type { Random, Weighted } from './random.ts';
import type { World } from './world.ts';

type Payment = NonNullable<Invoice['payments']>[number];
type Refund = NonNullable<Invoice['refunds']>[number];

/** What happens with an issued invoice, in its order; `fromDay` and `toDay` count from the issue. */
type Step =
  | { act: 'payHalf' | 'payThird' | 'payRest' | 'overpay' | 'refund'; fromDay: number; toDay: number }
  | { act: 'creditAll' | 'creditPart' };

/** Every credit note comes the same time after its invoice, so that they come in the order of their invoices. */
const creditedAfterMs = 14 * DAY_MS;

const paidAtOnce: Step = { act: 'payRest', fromDay: 1, toDay: 50 };
const paidBeforeCredit: Step = { act: 'payRest', fromDay: 2, toDay: 11 };
const refunded: Step = { act: 'refund', fromDay: 18, toDay: 40 };
const creditedInPart: Step = { act: 'creditPart' };
const creditedInFull: Step = { act: 'creditAll' };

const courses: readonly [Weighted<readonly Step[]>, ...Weighted<readonly Step[]>[]] = [
  [62, [paidAtOnce]],
  [
    8,
    [
      { act: 'payHalf', fromDay: 3, toDay: 20 },
      { act: 'payRest', fromDay: 25, toDay: 60 },
    ],
  ],
  [6, [{ act: 'payThird', fromDay: 5, toDay: 30 }]],
  [8, []],
  [4, [creditedInFull]],
  [4, [creditedInPart, { act: 'payRest', fromDay: 18, toDay: 50 }]],
  [2, [paidBeforeCredit, creditedInPart]],
  [2, [paidBeforeCredit, creditedInPart, refunded]],
  [1, [paidBeforeCredit, creditedInFull, refunded]],
  [1, [{ act: 'overpay', fromDay: 2, toDay: 30 }]],
  [2, [{ act: 'overpay', fromDay: 2, toDay: 11 }, refunded]],
];

const methods = [
  [55, 'bank_transfer'],
  [18, 'card'],
  [4, 'cash'],
  [5, 'cheque'],
  [8, 'direct_debit'],
  [8, 'online'],
  [2, 'other'],
] as const;

export interface Settlement extends Balance {
  payments: Payment[];
  creditNotes: Invoice['creditNotes'];
  refunds: Refund[];
  /** The moment of the last thing that happened. */
  lastAtMs: number;
}

export interface IssuedInvoice {
  id: string;
  currency: string;
  grossMinor: number;
  issuedAtMs: number;
}

/** Credits an invoice at a moment; undefined when that cannot be any more. */
export type CreditInvoice = (
  atMs: number,
  extent: 'all' | 'part',
) => { reference: Invoice['creditNotes'][number]; issuedAtMs: number } | undefined;

/** What has happened with an invoice by now. A step that would lie in the future has not happened, nor what follows. */
export function settle(world: World, invoice: IssuedInvoice, credit: CreditInvoice): Settlement {
  const { random, nowMs } = world;
  const settlement: Settlement = {
    payments: [],
    creditNotes: [],
    refunds: [],
    lastAtMs: invoice.issuedAtMs,
    ...balance({ grossMinor: invoice.grossMinor, creditedMinor: 0, paidMinor: 0, refundedMinor: 0 }),
  };
  for (const step of random.weighted(courses)) {
    const atMs =
      'fromDay' in step
        ? workingMoment(invoice.issuedAtMs, random.integer(step.fromDay, step.toDay), random)
        : invoice.issuedAtMs + creditedAfterMs;
    if (atMs >= nowMs) break;
    const happenedAtMs =
      'fromDay' in step
        ? recordMoney(settlement, invoice, step.act, atMs, random)
        : recordCredit(settlement, credit(atMs, step.act === 'creditAll' ? 'all' : 'part'));
    if (happenedAtMs === undefined) break;
    settlement.lastAtMs = Math.max(settlement.lastAtMs, happenedAtMs);
    Object.assign(settlement, standing(invoice.grossMinor, settlement));
  }
  return settlement;
}

function recordCredit(settlement: Settlement, credited: ReturnType<CreditInvoice>): number | undefined {
  if (!credited) return undefined;
  settlement.creditNotes.push(credited.reference);
  return credited.issuedAtMs;
}

function recordMoney(
  { payments, refunds, amountDueMinor, creditBalanceMinor }: Settlement,
  { id, currency }: IssuedInvoice,
  act: Exclude<Step['act'], 'creditAll' | 'creditPart'>,
  atMs: number,
  random: Random,
): number | undefined {
  const stem = id.replaceAll('-', '');
  const method = random.weighted(methods);
  if (act === 'refund') {
    if (creditBalanceMinor === 0) return undefined;
    const refundId = `ref_${stem}.${refunds.length + 1}`;
    refunds.push({
      id: refundId,
      amountMinor: creditBalanceMinor,
      currency,
      refundedOn: dayText(atMs),
      method,
    });
    return atMs;
  }
  const amountMinor = paymentMinor(act, amountDueMinor);
  if (amountMinor <= 0) return undefined;
  const paymentId = `pay_${stem}.${payments.length + 1}`;
  payments.push({ id: paymentId, amountMinor, currency, paidOn: dayText(atMs), method });
  return atMs;
}

function paymentMinor(act: 'payHalf' | 'payThird' | 'payRest' | 'overpay', dueMinor: number): number {
  switch (act) {
    case 'payHalf':
      return Math.floor(dueMinor / 2);
    case 'payThird':
      return Math.floor(dueMinor / 3);
    case 'payRest':
      return dueMinor;
    case 'overpay':
      return dueMinor + 1_000;
  }
}

function standing(grossMinor: number, { payments, creditNotes, refunds }: Settlement): Balance {
  return balance({
    grossMinor,
    creditedMinor: creditNotes.reduce((sum, note) => sum + note.grossMinor, 0),
    paidMinor: payments.reduce((sum, payment) => sum + payment.amountMinor, 0),
    refundedMinor: refunds.reduce((sum, refund) => sum + refund.amountMinor, 0),
  });
}
