import type { DraftLine, NewInvoice } from '../contract/feed.ts';
import { MINUTE_MS } from '../contract/durations.ts';
import { workingMoment } from './calendar.ts';
import { goodwill, grossMinorOf } from './deals.ts';
import type { Weighted } from './random.ts';
import type { Strand } from './strands.ts';
import { mintId, mintUuid, type World } from './world.ts';

export interface IssuedInvoice {
  id: string;
  customerId: string;
  currency: string;
  lines: DraftLine[];
  grossMinor: number;
  issuedAtMs: number;
}

/** The later events of an issued invoice, in order, so many days after the issue. */
type Step = readonly [act: Act, fromDay: number, toDay: number];
type Act = 'payRest' | 'payHalf' | 'payThird' | 'overpay' | 'bounce' | 'refund' | 'creditAll' | 'creditPart';

const creditedInFull: Step = ['creditAll', 13, 16];
const creditedInPart: Step = ['creditPart', 13, 16];
const paidBefore: Step = ['payRest', 2, 11];
const refunded: Step = ['refund', 18, 40];

// prettier-ignore
const courses: readonly [Weighted<readonly Step[]>, ...Weighted<readonly Step[]>[]] = [
  [61, [['payRest', 1, 50]]],
  [8, [['payHalf', 3, 20], ['payRest', 25, 60]]],
  [6, [['payThird', 5, 30]]],
  [8, []],
  [4, [creditedInFull]],
  [4, [creditedInPart, ['payRest', 18, 50]]],
  [2, [paidBefore, creditedInPart]],
  [2, [paidBefore, creditedInPart, refunded]],
  [1, [paidBefore, creditedInFull, refunded]],
  [1, [['bounce', 2, 30], ['payRest', 31, 50]]],
  [1, [['overpay', 2, 30]]],
  [2, [['overpay', 2, 11], refunded]],
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

/** An invoice is paid, credited and refunded, in one of the courses above. */
export function* settle(world: World, invoice: IssuedInvoice): Strand {
  const { random } = world;
  let dueMinor = invoice.grossMinor;
  for (const [act, fromDay, toDay] of random.weighted(courses)) {
    const atMs = yield workingMoment(invoice.issuedAtMs, random.integer(fromDay, toDay), random);
    dueMinor -= yield* make(world, invoice, act, { atMs, dueMinor });
  }
}

/** @returns how much less there is to pay. */
function make(
  world: World,
  invoice: IssuedInvoice,
  act: Act,
  { atMs, dueMinor }: { atMs: number; dueMinor: number },
): Strand<number> {
  switch (act) {
    case 'payHalf':
      return pay(world, invoice, Math.floor(dueMinor / 2));
    case 'payThird':
      return pay(world, invoice, Math.floor(dueMinor / 3));
    case 'payRest':
      return pay(world, invoice, dueMinor);
    case 'overpay':
      return pay(world, invoice, dueMinor + 1_000);
    case 'bounce':
      return bounce(world, invoice, dueMinor, atMs);
    case 'refund':
      return refund(invoice, -dueMinor);
    case 'creditAll':
      return credit(world, invoice, invoice.lines, { atMs, note: world.random.pick(cancellations) });
    case 'creditPart':
      return credit(world, invoice, goodwill(invoice.lines), { atMs, note: world.random.pick(reductions) });
  }
}

function* pay({ random }: World, { id, currency }: IssuedInvoice, amountMinor: number): Strand<number> {
  if (amountMinor <= 0) return 0;
  const method = random.weighted(methods);
  yield { change: 'payment.record', with: { invoiceId: id, amountMinor, currency, method } };
  return amountMinor;
}

/** A payment turns out some days later not to have been made. */
function* bounce(
  world: World,
  { id: invoiceId, currency }: IssuedInvoice,
  amountMinor: number,
  atMs: number,
): Strand<number> {
  const id = mintId(world, 'pay', atMs);
  yield { change: 'payment.record', with: { id, invoiceId, amountMinor, currency, method: 'cheque' } };
  yield workingMoment(atMs, 3, world.random);
  yield { change: 'payment.void', with: { id, invoiceId } };
  return 0;
}

function* refund({ id, currency }: IssuedInvoice, amountMinor: number): Strand<number> {
  if (amountMinor <= 0) return 0;
  yield {
    change: 'refund.record',
    with: { invoiceId: id, amountMinor, currency, method: 'bank_transfer' },
  };
  return -amountMinor;
}

function* credit(
  world: World,
  { id: creditsInvoiceId, customerId }: IssuedInvoice,
  lines: DraftLine[],
  { atMs, note }: { atMs: number; note: string },
): Strand<number> {
  const grossMinor = grossMinorOf(lines);
  if (grossMinor <= 0 || !world.census.admit('invoices')) return 0;
  const id = mintUuid(world, atMs);
  const draft: NewInvoice = { id, kind: 'credit_note', customerId, creditsInvoiceId, note, lines };
  yield { change: 'invoice.draft', with: draft };
  yield atMs + 4 * MINUTE_MS;
  yield { change: 'invoice.issue', with: { id } };
  return grossMinor;
}

const cancellations = [
  'Invoiced to the wrong customer.',
  'The order was cancelled before the work began.',
  'Invoiced twice by mistake.',
] as const;

const reductions = [
  'Reduction agreed after the work was delayed.',
  'Reduction agreed for a defect that was put right.',
] as const;
