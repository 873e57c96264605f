import type { Invoice } from '../contract/records.ts';
import { DAY_MS, MINUTE_MS, dayText, timeText } from './calendar.ts';
import { creditInvoice } from './credit-notes.ts';
import type { Deal, LinePlan } from './deals.ts';
import {
  accountingAmounts,
  amountsOf,
  documentLines,
  documentLinks,
  exchangeRate,
  parties,
} from './documents.ts';
import type { NumberSeries } from './number-series.ts';
import type { Random } from './random.ts';
import { settle } from './settlement.ts';
import type { World } from './world.ts';

export interface NumberBook {
  invoices: NumberSeries;
  creditNotes: NumberSeries;
  proFormas: NumberSeries;
  quotes: NumberSeries;
}

/** What an invoice or a pro forma is made of. */
export interface InvoiceOrder {
  deal: Deal;
  plans: readonly LinePlan[];
  jobId: string | null;
  supply: Pick<Invoice, 'supplyDate' | 'supplyPeriod'>;
}

/** An invoice as it is now: still a draft, or issued and with all that has happened with it since. */
export function invoice(
  world: World,
  numbers: NumberBook,
  createdAtMs: number,
  order: InvoiceOrder,
): Invoice {
  const { random } = world;
  const issuedAtMs = momentOfIssue(world, numbers.invoices, createdAtMs);
  if (issuedAtMs === undefined || random.chance(0.04)) return draft(world, createdAtMs, order, 'invoice');
  const number = numbers.invoices.next(issuedAtMs);
  const issued = issuedDocument(world, createdAtMs, order, { kind: 'invoice', number, issuedAtMs });
  const { totals, currency, id } = issued;
  const settlement = settle(
    world,
    { id, currency, grossMinor: totals.grossMinor, issuedAtMs },
    (atMs, extent) =>
      creditInvoice(world, numbers.creditNotes, atMs, {
        deal: order.deal,
        plans: order.plans,
        extent,
        invoice: issued,
      }),
  );
  return {
    ...issued,
    updatedAt: timeText(world.stamps.claim(settlement.lastAtMs)),
    creditNotes: settlement.creditNotes,
    payments: settlement.payments,
    amountDueMinor: settlement.amountDueMinor,
    refunds: settlement.refunds,
    creditBalanceMinor: settlement.creditBalanceMinor,
  };
}

/** A request for payment beforehand. It is numbered in a series of its own and never settled. */
export function proForma(
  world: World,
  numbers: NumberBook,
  createdAtMs: number,
  order: InvoiceOrder,
): Invoice {
  const issuedAtMs = momentOfIssue(world, numbers.proFormas, createdAtMs);
  if (issuedAtMs === undefined || world.random.chance(0.1))
    return draft(world, createdAtMs, order, 'pro_forma');
  const number = numbers.proFormas.next(issuedAtMs);
  const issued = issuedDocument(world, createdAtMs, order, { kind: 'pro_forma', number, issuedAtMs });
  return { ...issued, updatedAt: timeText(world.stamps.claim(issuedAtMs)) };
}

function momentOfIssue(
  { random, nowMs }: World,
  series: NumberSeries,
  createdAtMs: number,
): number | undefined {
  const issuedAtMs = series.notBefore(createdAtMs + random.integer(5, 60) * MINUTE_MS);
  return issuedAtMs < nowMs ? issuedAtMs : undefined;
}

interface Issue {
  kind: 'invoice' | 'pro_forma';
  number: string;
  issuedAtMs: number;
}

function issuedDocument(world: World, createdAtMs: number, order: InvoiceOrder, issue: Issue): Invoice {
  const base = document(world, createdAtMs, order, issue.kind);
  const rate = exchangeRate(base.currency, issue.issuedAtMs);
  return {
    ...base,
    status: 'issued',
    number: issue.number,
    issueDate: dayText(issue.issuedAtMs),
    supplyDate: order.supply.supplyDate ?? dayText(issue.issuedAtMs),
    dueDate: dayText(issue.issuedAtMs + base.paymentTermsDays * DAY_MS),
    accountingCurrency: accountingAmounts(base.currency, rate, base.vatBreakdown),
    issuedAt: timeText(issue.issuedAtMs),
  };
}

function draft(world: World, createdAtMs: number, order: InvoiceOrder, kind: Issue['kind']): Invoice {
  const editedAtMs = createdAtMs + world.random.integer(1, 300) * MINUTE_MS;
  const updatedAtMs = editedAtMs < world.nowMs ? world.stamps.claim(editedAtMs) : createdAtMs;
  return { ...document(world, createdAtMs, order, kind), updatedAt: timeText(updatedAtMs) };
}

/** A document as it is first saved. */
function document(
  { ids, random }: World,
  createdAtMs: number,
  order: InvoiceOrder,
  kind: Issue['kind'],
): Invoice {
  const { deal, plans, jobId, supply } = order;
  const id = ids.uuid(createdAtMs);
  const { customer, siteId, currency, buyer } = parties(deal);
  const amounts = amountsOf(plans);
  const createdAt = timeText(createdAtMs);
  return {
    id,
    kind,
    status: 'draft',
    number: null,
    customer,
    siteId,
    currency,
    issueDate: null,
    ...supply,
    dueDate: null,
    paymentTermsDays: deal.customer.record.paymentTermsDays,
    ...references(deal, random),
    creditsInvoiceId: null,
    ...amounts,
    accountingCurrency: accountingAmounts(
      currency,
      exchangeRate(currency, createdAtMs),
      amounts.vatBreakdown,
    ),
    issuedAt: null,
    createdAt,
    updatedAt: createdAt,
    links: documentLinks(id),
    note: random.chance(0.1) ? random.pick(notes) : null,
    buyer,
    lines: documentLines(plans, id, jobId),
    creditNotes: [],
    creditedInvoice: null,
  };
}

const notes = [
  'Thank you for your custom.',
  'Please quote the invoice number with your payment.',
  'Parts are guaranteed for two years, labour for one.',
] as const;

function references(
  { customer }: Deal,
  random: Random,
): Pick<Invoice, 'buyerReference' | 'purchaseOrderReference'> {
  if (customer.segment === 'home') return { buyerReference: null, purchaseOrderReference: null };
  return {
    buyerReference: random.chance(0.4) ? `CC-${random.integer(100, 999)}` : null,
    purchaseOrderReference: random.chance(0.6) ? `PO-${random.integer(10_000, 99_999)}` : null,
  };
}
