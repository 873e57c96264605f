/** Random moves of invoices, credit notes, pro formas, payments and refunds. */
import type { DraftLine, NewInvoice, ChangeContent } from '../../src/contract/feed.ts';
import type { Customer, Invoice } from '../../src/contract/records.ts';
import { addDays, type ModelCompany, without } from './_model.ts';
import { dayNear, type Draw, idOf, onlyId, recordOf, someOf } from './_chance.ts';
import { drawExtras, drawLines, siteOf } from './_steps-lines.ts';
import { type Drawers, elsewhere } from './_steps-work.ts';

const customers = ({ tables }: ModelCompany) => tables.customers;
const invoices = ({ tables }: ModelCompany) => tables.invoices;

const isDraft = ({ status }: Invoice) => status === 'draft';
const isIssuedInvoice = ({ kind, status }: Invoice) => kind === 'invoice' && status === 'issued';
const isOpen = (invoice: Invoice) => isIssuedInvoice(invoice) && (invoice.amountDueMinor ?? 0) > 0;
const hasPayments = ({ payments = [] }: Invoice) => payments.length > 0;

export const documentDrawers = {
  'invoice.draft': (draw) => (draw.happens(0.3) ? drawCreditNote(draw) : drawInvoice(draw)),
  'invoice.edit': (draw) => {
    const draft = recordOf(draw, invoices, isDraft);
    if (!draft) return undefined;
    const customer = draw.company.tables.customers.get(draft.customer?.id ?? '') ?? {};
    return { id: draft.id, ...drawEdit(draw, draft, customer) };
  },
  'invoice.discard': onlyId(invoices, isDraft),
  'invoice.issue': (draw) => {
    // Drafts that can't be issued stay drafts, so mostly the newest is tried.
    const newest = [...invoices(draw.company).values()].findLast(isDraft);
    return draw.happens(0.6) ? newest && { id: newest.id } : onlyId(invoices, isDraft)(draw);
  },
  'payment.record': (draw) => {
    const invoice = recordOf(draw, invoices, draw.happens(0.8) ? isOpen : isIssuedInvoice);
    if (!invoice) return undefined;
    const money = drawMoney(draw, invoice, 'payments', drawPayment(draw, invoice.amountDueMinor ?? 0));
    return { ...money, ...someOf(draw, 0.3, { paidOn: dayNear(draw, 5, draw.happens(0.1) ? 3 : 1) }) };
  },
  'payment.void': (draw) => drawVoid(draw, 'payments'),
  'refund.record': (draw) => {
    const invoice = recordOf(draw, invoices, hasPayments);
    if (!invoice) return undefined;
    const paid = sum(invoice.payments ?? []) - sum(invoice.refunds ?? []);
    const amountMinor = drawRefund(draw, paid, invoice.creditBalanceMinor ?? 0);
    const money = drawMoney(draw, invoice, 'refunds', amountMinor);
    return { ...money, ...someOf(draw, 0.3, { refundedOn: dayNear(draw, 5, draw.happens(0.1) ? 3 : 1) }) };
  },
  'refund.void': (draw) => drawVoid(draw, 'refunds'),
} satisfies Partial<Drawers>;

const sum = (list: readonly { amountMinor: number }[]) =>
  list.reduce((total, { amountMinor }) => total + amountMinor, 0);

function drawInvoice(draw: Draw): NewInvoice | undefined {
  const customer = recordOf(draw, customers);
  if (!customer) return undefined;
  const currency = customer.currency ?? draw.company.currency;
  const kind = draw.happens(0.85) ? 'invoice' : draw.oneOf('pro_forma', 'pro_forma', 'credit_note');
  return {
    id: newUuid(draw, invoices),
    kind,
    customerId: customer.id,
    ...drawExtras(draw, drawLines(draw, customer, currency)),
    ...(kind === 'credit_note' ? {} : drawPaid(draw, kind, customer.id, currency)),
    ...drawTerms(draw, customer),
    ...drawExchange(draw, currency),
    ...someOf(draw, 0.01, { creditsInvoiceId: idOf(draw, invoices, isIssuedInvoice) }),
  };
}

/** Prepayments, and rounding. */
function drawPaid(
  draw: Draw,
  kind: NewInvoice['kind'],
  customerId: string,
  currency: string,
): Pick<NewInvoice, 'prepayments' | 'roundingMinor' | 'cashRounding'> {
  const asked = recordOf(draw, invoices, (one) => {
    const isAsking = one.kind === 'pro_forma' && one.status === 'issued';
    return isAsking && (one.customer.id === customerId || draw.happens(0.1));
  });
  const money = { id: draw.newId('pay'), paidOn: dayNear(draw, 9, 0), method: 'cash' };
  const most = asked && draw.happens(0.7) ? (asked.totals?.grossMinor ?? 0) : 60;
  const prepayment = {
    ...money,
    amountMinor: Math.max(1, draw.happens(0.9) ? draw.below(1 + most) : most + 1),
    ...(asked && most > 60 ? { documentId: asked.id } : {}),
  };
  const isRounded = ['EUR', 'GBP', 'USD'].includes(currency);
  return {
    ...someOf(draw, kind === 'invoice' ? 0.12 : 0.02, { prepayments: [prepayment] }),
    ...(isRounded ? someOf(draw, 0.06, { roundingMinor: draw.oneOf(-2, 1, 2) }) : {}),
    ...someOf(draw, currency === 'EUR' ? 0.06 : 0.01, { cashRounding: true }),
  };
}

/** A new id, rarely one that is taken, sometimes one that another company has. */
export function newUuid(
  draw: Draw,
  tableOf: (company: ModelCompany) => ReadonlyMap<string, { id: string }>,
): string {
  if (draw.happens(0.03)) return draw.pick([...tableOf(draw.company).keys()]) ?? draw.newUuid();
  if (draw.happens(0.03)) return elsewhere(draw, tableOf) ?? draw.newUuid();
  return draw.newUuid();
}

function drawTerms(draw: Draw, customer: Partial<Customer>): Partial<NewInvoice> {
  const siteId = siteOf(draw, customer);
  return {
    ...someOf(draw, 1, { siteId }),
    ...drawSupply(draw),
    ...someOf(draw, 0.15, {
      dueDate: draw.happens(0.9) ? dayNear(draw, 0, 90) : dayNear(draw, 20, 0),
      paymentTermsDays: draw.oneOf(0, 7, 45),
      buyerReference: 'PO please',
      purchaseOrderReference: draw.oneOf('4500012', null),
    }),
    ...someOf(draw, 0.4, { note: draw.oneOf('Thank you.', null) }),
  };
}

function drawSupply(draw: Draw): Pick<NewInvoice, 'supplyDate' | 'supplyPeriod'> {
  const startDate = dayNear(draw, 40, draw.happens(0.1) ? 3 : 0);
  const endDate = addDays(startDate, draw.happens(0.95) ? draw.below(31) : -1);
  const supplyPeriod = { startDate, endDate };
  if (draw.happens(0.04)) return { supplyPeriod, supplyDate: draw.oneOf(endDate, startDate, null) };
  if (draw.happens(0.12)) return { supplyPeriod };
  return someOf(draw, 0.3, { supplyDate: dayNear(draw, 20, 3), supplyPeriod: draw.oneOf(null, undefined) });
}

/** Mostly there is a rate where one is needed, and none elsewhere. */
function drawExchange(draw: Draw, currency: string): Pick<NewInvoice, 'exchange'> {
  if (draw.happens(0.02)) return { exchange: null };
  if (!draw.happens(currency === draw.company.currency ? 0.01 : 0.9)) return {};
  return {
    exchange: {
      exchangeRate: draw.oneOf('1.1743', '0.85', '0.00612345', '999999999', '1'),
      exchangeRateDate: dayNear(draw, 5, draw.happens(0.1) ? 3 : 0),
      exchangeRateSource: 'ECB',
    },
  };
}

function drawCreditNote(draw: Draw): NewInvoice | undefined {
  const invoice = recordOf(draw, invoices, isIssuedInvoice);
  if (!invoice) return undefined;
  const customerId = draw.happens(0.03) ? idOf(draw, customers) : invoice.customer?.id;
  return {
    id: newUuid(draw, invoices),
    kind: draw.happens(0.99) ? 'credit_note' : 'invoice',
    customerId: customerId ?? 'cus_none',
    ...creditedLines(draw, invoice),
    ...(draw.happens(0.98) ? { creditsInvoiceId: invoice.id } : {}),
    ...(draw.happens(0.93)
      ? { note: draw.oneOf('Charged twice.', 'Returned.') }
      : someOf(draw, 0.5, { note: ' ' })),
    ...someOf(draw, 0.06, { currency: draw.oneOf(invoice.currency, invoice.currency, 'USD') }),
    ...someOf(draw, 0.02, { dueDate: dayNear(draw, 0, 9) }),
    ...someOf(draw, 0.1, drawSupply(draw)),
    ...(draw.happens(0.02) ? drawExchange(draw, 'XXX') : {}),
  };
}

/** Whether a document has nothing but lines with prices. */
function isPlain({ company }: Draw, { id }: Partial<Invoice>): boolean {
  const draft = company.kept.get(id ?? '')?.draft;
  const hasOnlyLines = [draft?.allowances, draft?.charges, draft?.pricesIncludeVat, draft?.roundingMinor];
  const isPlainLine = ({ unitPrice, priceBaseQuantity, allowances, charges }: DraftLine) =>
    [unitPrice, priceBaseQuantity, allowances, charges].every((one) => one === undefined);
  return hasOnlyLines.every((one) => one === undefined) && (draft?.lines ?? []).every(isPlainLine);
}

/** Lines of an invoice, with the terms that were given or the prices that are shown, with VAT or without. */
function creditedLines(
  draw: Draw,
  invoice: Partial<Invoice>,
): Pick<NewInvoice, 'lines' | 'pricesIncludeVat'> {
  const { draft } = draw.company.kept.get(invoice.id ?? '') ?? {};
  const pricesIncludeVat = draw.happens(draft?.pricesIncludeVat === true ? 0.97 : 0.02);
  const isAsGiven = draw.happens(0.7);
  const isWithId = draw.happens(0.2);
  const again = (invoice.lines ?? []).map((line, index): DraftLine => {
    const own = draft?.lines[index];
    const rate = own?.reverseChargeRateBasisPoints;
    const { id, ...shown } = without(line, 'position', 'amountMinor', 'jobId', 'vatCategory');
    const { vatExemptionReason, unitPriceMinor, ...others } = shown;
    return {
      ...(own && isAsGiven ? without(own, 'id', 'jobId') : { ...others, unitPriceMinor }),
      // The lines of a draft have the categories of the feed.
      vatCategory: line.vatCategory as DraftLine['vatCategory'],
      vatExemptionReason,
      ...(isWithId ? { id } : {}),
      ...(rate === undefined ? {} : { reverseChargeRateBasisPoints: rate }),
    };
  });
  const lines = creditedParts(draw, again, invoice.id);
  return { lines, ...(pricesIncludeVat ? { pricesIncludeVat } : {}) };
}

/** All lines, some, or a part of one; sometimes more than there was. */
function creditedParts(draw: Draw, again: DraftLine[], id: string | undefined): DraftLine[] {
  if (draw.happens(0.25)) return again;
  if (draw.happens(0.3)) return restOf(draw, again, id);
  const chosen = again.filter(() => draw.happens(0.5));
  const some = chosen.length > 0 ? chosen : again.slice(0, 1);
  if (draw.happens(0.3)) return some;
  const ones = some.map((line) => (Number(line.quantity) > 1 ? { ...line, quantity: '1' } : line));
  if (draw.happens(0.5)) return ones;
  if (draw.happens(0.15)) return some.map((line) => ({ ...line, quantity: draw.oneOf('30', '-3') }));
  return some.map((line) => ({
    ...without(line, 'unitPrice'),
    unitPriceMinor: draw.below(1 + (line.unitPriceMinor ?? 0)),
  }));
}

/**
 * The rest of a category and rate, or a part of the rest: VAT that is rounded for each part can exceed the rest.
 * Sometimes the line is a cent too much.
 */
function restOf(draw: Draw, lines: readonly DraftLine[], invoiceId: string | undefined): DraftLine[] {
  const { tables } = draw.company;
  const line = draw.pick(lines);
  if (!line) return [];
  const isOf = ({ category, rateBasisPoints }: Invoice['vatBreakdown'][number]) =>
    category === line.vatCategory && rateBasisPoints === line.vatRateBasisPoints;
  const taxableOf = ({ vatBreakdown }: Invoice) => vatBreakdown.find(isOf)?.taxableMinor ?? 0;
  const invoice = tables.invoices.get(invoiceId ?? '');
  const credited = [...tables.invoices.values()]
    .filter(({ creditsInvoiceId, status }) => creditsInvoiceId === invoiceId && status === 'issued')
    .reduce((sum, note) => sum + taxableOf(note), 0);
  const left = Math.max(0, (invoice ? taxableOf(invoice) : 0) - credited);
  const part = draw.oneOf(left, left + 1, Math.ceil(left / 2), Math.ceil(left / 3), Math.ceil(left / 7));
  const others = without(line, 'priceBaseQuantity', 'allowances', 'charges', 'unitPrice');
  return [{ ...others, quantity: '1', unitPriceMinor: Math.min(part, Number.MAX_SAFE_INTEGER) }];
}

/** Some members of a draft, drawn anew. */
function drawEdit(draw: Draw, draft: Partial<Invoice>, customer: Partial<Customer>): Partial<NewInvoice> {
  const currency = draft.currency ?? draw.company.currency;
  const isCreditNote = draft.kind === 'credit_note';
  const invoice = draw.company.tables.invoices.get(draft.creditsInvoiceId ?? '');
  const drawn = () => ({ lines: drawLines(draw, customer, currency), pricesIncludeVat: false });
  const given = isCreditNote && invoice ? creditedLines(draw, invoice) : drawn();
  const { note, ...terms } = drawTerms(draw, customer);
  const others = isPlain(draw, draft) ? {} : { allowances: [], charges: [] };
  return {
    ...someOf(draw, isCreditNote ? 0.1 : 0.3, terms),
    // Other lines have no part in discounts of the whole document.
    ...(draw.happens(0.4) ? { ...given, ...others } : {}),
    ...someOf(draw, 0.3, { note: note ?? 'Corrected.' }),
    ...(draw.happens(isCreditNote ? 0.02 : 0.1) ? drawExchange(draw, currency) : {}),
    ...someOf(draw, 0.05, {
      currency: draw.pick(['EUR', 'GBP', 'USD'].filter((other) => other !== currency)),
    }),
  };
}

type List = 'payments' | 'refunds';

/** Rarely its id is one that the invoice has given to another, be it voided. */
function drawMoney(
  draw: Draw,
  invoice: Partial<Invoice> & { id: string },
  list: List,
  amountMinor: number,
): ChangeContent<'payment.record'> {
  const { id: invoiceId, currency = 'EUR' } = invoice;
  const voided = draw.company.kept.get(invoiceId)?.voided[list] ?? [];
  const taken = draw.pick([...(invoice[list] ?? []).map(({ id }) => id), ...voided]);
  const isTaken = taken !== undefined && draw.happens(0.04);
  return {
    id: isTaken ? taken : draw.newId(list.slice(0, 3)),
    invoiceId,
    amountMinor,
    currency: draw.happens(0.97) ? currency : draw.oneOf('EUR', 'GBP', 'USD'),
    method: draw.oneOf('bank_transfer', 'card', 'cash', 'cheque'),
  };
}

function drawPayment({ happens, below, oneOf }: Draw, dueMinor: number): number {
  if (happens(0.015)) return oneOf(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1);
  if (dueMinor <= 0) return 1 + below(500);
  if (happens(0.55)) return dueMinor;
  if (happens(0.6)) return Math.max(1, Math.floor(dueMinor / (2 + below(3))));
  return Math.min(Number.MAX_SAFE_INTEGER, dueMinor + 1 + below(500));
}

function drawRefund({ happens, below }: Draw, paidMinor: number, creditMinor: number): number {
  const most = Math.max(1, Math.min(paidMinor, Number.MAX_SAFE_INTEGER - 1));
  if (happens(0.1)) return most + 1;
  if (happens(0.5) && creditMinor > 0) return Math.min(most, creditMinor);
  return happens(0.3) ? most : 1 + below(most);
}

/** A payment or refund of an invoice; sometimes one that was voided, or that another invoice has. */
function drawVoid(draw: Draw, list: List): ChangeContent<'payment.void'> | undefined {
  const invoice = recordOf(draw, invoices, (one) => (one[list] ?? []).length > 0);
  if (!invoice) return undefined;
  const voided = [...draw.company.kept.values()].flatMap((kept) => kept.voided[list]);
  const id = draw.happens(0.08) ? draw.pick(voided) : draw.pick<{ id: string }>(invoice[list] ?? [])?.id;
  return { invoiceId: invoice.id, id: id ?? 'none_1' };
}
