import type { Invoice } from '../contract/records.ts';
import { MINUTE_MS, dayText, timeText } from './calendar.ts';
import type { Deal, LinePlan } from './deals.ts';
import { accountingAmounts, amountsOf, documentLines, documentLinks } from './documents.ts';
import type { NumberSeries } from './number-series.ts';
import type { CreditInvoice } from './settlement.ts';
import type { World } from './world.ts';

/** A credit note is issued this long after it is written. */
const writtenForMs = 4 * MINUTE_MS;

interface Correction {
  deal: Deal;
  plans: readonly LinePlan[];
  extent: 'all' | 'part';
  /** The issued invoice that is corrected. */
  invoice: Invoice;
}

/** Plans a credit note of an invoice, and gives it its number already. Calls come in the order of the moments. */
export function creditInvoice(
  world: World,
  series: NumberSeries,
  atMs: number,
  correction: Correction,
): ReturnType<CreditInvoice> {
  const { invoice, extent, plans } = correction;
  if (!invoice.number || !invoice.issueDate) return undefined;
  const credited = extent === 'all' ? plans : [goodwill(plans[0])].filter((plan) => plan !== undefined);
  const { grossMinor } = amountsOf(credited).totals;
  const desiredMs = series.notBefore(atMs + writtenForMs) - writtenForMs;
  if (grossMinor <= 0 || desiredMs + writtenForMs >= world.nowMs) return undefined;

  let number = '';
  const createdAtMs = world.agenda.plan('invoices', desiredMs, (at) => ({
    resource: 'invoices',
    record: creditNote(world, at, credited, number, correction),
  }));
  if (createdAtMs === undefined) return undefined;
  const issuedAtMs = createdAtMs + writtenForMs;
  number = series.next(issuedAtMs);
  return {
    issuedAtMs,
    reference: {
      id: world.ids.uuid(createdAtMs),
      number,
      status: 'issued',
      issueDate: dayText(issuedAtMs),
      grossMinor,
    },
  };
}

/** A fifth of the first line, given back. */
function goodwill(first: LinePlan | undefined): LinePlan | undefined {
  if (!first) return undefined;
  const amountMinor = Math.floor(first.amountMinor / 5);
  return {
    ...first,
    description: `Reduction of 20 %: ${first.description}`,
    quantity: '1',
    unitCode: 'C62',
    unitPriceMinor: amountMinor,
    amountMinor,
  };
}

function creditNote(
  { ids, stamps, random }: World,
  createdAtMs: number,
  plans: readonly LinePlan[],
  number: string,
  { invoice, extent }: Correction,
): Invoice {
  const id = ids.uuid(createdAtMs);
  const amounts = amountsOf(plans);
  const issuedAtMs = createdAtMs + writtenForMs;
  return {
    id,
    kind: 'credit_note',
    status: 'issued',
    number,
    customer: invoice.customer,
    siteId: invoice.siteId,
    currency: invoice.currency,
    issueDate: dayText(issuedAtMs),
    supplyDate: invoice.supplyDate,
    supplyPeriod: invoice.supplyPeriod,
    dueDate: null,
    paymentTermsDays: invoice.paymentTermsDays,
    buyerReference: invoice.buyerReference,
    purchaseOrderReference: invoice.purchaseOrderReference,
    creditsInvoiceId: invoice.id,
    ...amounts,
    // At the rate of the invoice that it corrects, so that a full credit note takes back the very same amounts.
    accountingCurrency: accountingAmounts(
      invoice.currency,
      invoice.accountingCurrency ?? undefined,
      amounts.vatBreakdown,
    ),
    issuedAt: timeText(issuedAtMs),
    createdAt: timeText(createdAtMs),
    updatedAt: timeText(stamps.claim(issuedAtMs)),
    links: documentLinks(id),
    note: extent === 'all' ? random.pick(cancellations) : random.pick(reductions),
    buyer: invoice.buyer,
    lines: documentLines(plans, id, invoice.lines[0]?.jobId ?? null),
    creditNotes: [],
    creditedInvoice: {
      id: invoice.id,
      number: invoice.number ?? '',
      status: 'issued',
      issueDate: invoice.issueDate ?? '',
      grossMinor: invoice.totals.grossMinor,
    },
  };
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
