/** The model's invoices, credit notes and pro formas while they are drafts. */
import { isDeepStrictEqual } from 'node:util';

import type { DraftLine, NewInvoice, ChangeContent } from '../../src/contract/feed.ts';
import type { Invoice } from '../../src/contract/records.ts';
import { amountsOf, asBreakdown, asTotals, convertedItems, isSafe, sumOf, totalsOf } from './_exact.ts';
import { checkPayable } from './_amounts.ts';
import { type Credit, creditOf, type Worked } from './_credited.ts';
import { type Draft, type Kept, type Moves, need, type Turn, without } from './_model.ts';
import { asModelLines, customerOf, keptLines, namingOf, partiesOf, type Sums, sumsOf } from './_lines.ts';

export const invoiceMoves = {
  'invoice.draft': (turn, what) => draftInvoice(turn, what),
  'invoice.edit': editInvoice,
  'invoice.discard': (turn, { id }) => {
    const { quoteId } = draftedOf(turn, id);
    const { invoices, quotes } = turn.company.tables;
    invoices.delete(id);
    turn.company.kept.delete(id);
    const quote = quoteId === null ? undefined : quotes.get(quoteId);
    if (quote) quotes.set(quote.id, { ...quote, convertedInvoiceId: null, updatedAt: turn.stamp() });
    return null;
  },
} satisfies Partial<Moves>;

/** A document before it is stamped. */
export type Unstamped = Omit<Invoice, 'updatedAt'>;

/** Drafts a document; `path` is where the draft is within the change, and `given` what the change says of it. */
export function draftInvoice(
  turn: Turn,
  what: NewInvoice,
  {
    path = '/with',
    quoteId = null,
    given = what,
  }: { path?: string; quoteId?: string | null; given?: Partial<NewInvoice> } = {},
): Invoice {
  const id = what.id ?? '';
  if (turn.company.tables.invoices.has(id)) turn.fault('duplicate_id', `${path}/id`);
  const draft = completed(turn, what, path);
  const { record, worked } = composed(turn, { id, createdAt: turn.at, draft }, given, path);
  return putDraft(turn, record, { draft, quoteId, worked });
}

function editInvoice(turn: Turn, { id, ...changes }: ChangeContent<'invoice.edit'>): Invoice {
  const { quoteId, draft: before, worked: workedBefore } = draftedOf(turn, id);
  const record = need(turn, 'invoices', id, '/with/id');
  const draft = edited(turn, before, changes);
  const { record: after, worked } = composed(
    turn,
    { id, createdAt: record.createdAt, draft },
    changes,
    '/with',
  );
  const isSame = isDeepStrictEqual({ ...after, updatedAt: record.updatedAt }, record);
  const isGivenAlike = isDeepStrictEqual(givenIn(draft), givenIn(before));
  // Another note, once issued, can change how a note's amounts are worked out, though its record is the same.
  const isWorkedAlike = isDeepStrictEqual(worked, workedBefore);
  const isRatedAlike = isDeepStrictEqual(ratesOf(draft), ratesOf(before));
  if (isSame && isGivenAlike && isWorkedAlike && isRatedAlike) return record;
  return putDraft(turn, after, { draft, quoteId, worked });
}

function putDraft(
  turn: Turn,
  record: Unstamped,
  { draft, ...others }: Pick<Kept, 'draft' | 'quoteId' | 'worked'>,
): Invoice {
  const stamped = { ...record, updatedAt: turn.stamp() };
  turn.company.tables.invoices.set(record.id, stamped);
  const kept = { draft: { ...draft, lines: keptLines(turn, draft.lines, record) }, ...others };
  turn.company.kept.set(record.id, { ...kept, supplier: null, voided: { payments: [], refunds: [] } });
  return stamped;
}

export function draftedOf(turn: Turn, id: string): Kept {
  const { status } = need(turn, 'invoices', id, '/with/id');
  const kept = turn.company.kept.get(id);
  return status === 'draft' && kept ? kept : turn.refuse('wrong_state', '/with/id');
}

const priceOf = ({ unitPriceMinor, unitPrice, priceBaseQuantity, allowances, charges }: DraftLine) => ({
  ...{ unitPriceMinor, unitPrice, priceBaseQuantity, allowances, charges },
});

/** The amounts that a draft gives; a credit note without discounts takes its invoice's, and one with none doesn't. */
const givenIn = ({ lines, pricesIncludeVat = false, allowances, charges, cashRounding = false }: Draft) => ({
  ...{ pricesIncludeVat, allowances, charges, cashRounding },
  lines: lines.map(priceOf),
});

export function ratesOf({ lines }: Pick<Draft, 'lines'>): Record<string, number> {
  return Object.fromEntries(
    lines.flatMap(({ id, vatCategory, reverseChargeRateBasisPoints: rate }) =>
      vatCategory === 'AE' && rate !== undefined ? [[id, rate]] : [],
    ),
  );
}

/** A draft with what it doesn't give: from its customer, or from the invoice that it corrects. */
function completed(turn: Turn, what: NewInvoice, path: string): Draft {
  checkDates(turn, what, (member) => `${path}/${member}`);
  const customer = customerOf(turn, what.customerId, `${path}/customerId`);
  const invoice = creditedBy(turn, what, path);
  const { currency, paymentTermsDays } = customer;
  return {
    ...{ siteId: null, supplyDate: null, supplyPeriod: null, dueDate: null, currency, paymentTermsDays },
    ...{ buyerReference: null, purchaseOrderReference: null, note: null, exchange: null },
    creditsInvoiceId: null,
    ...(invoice ? inheritedFrom(invoice, what) : {}),
    ...without(what, 'id'),
    lines: asModelLines(turn, what.lines ?? []),
  };
}

/** A day and a period of supply belong together. */
function inheritedFrom(invoice: Invoice, { supplyDate, supplyPeriod }: NewInvoice): Partial<Draft> {
  const { siteId, currency, buyerReference, purchaseOrderReference } = invoice;
  const isSupplyGiven = supplyDate !== undefined || supplyPeriod !== undefined;
  const supply = { supplyDate: invoice.supplyDate, supplyPeriod: invoice.supplyPeriod };
  return { siteId, currency, buyerReference, purchaseOrderReference, ...(isSupplyGiven ? {} : supply) };
}

function edited(turn: Turn, before: Draft, changes: Omit<ChangeContent<'invoice.edit'>, 'id'>): Draft {
  const { lines, ...given } = changes;
  const isOtherCurrency = given.currency !== undefined && given.currency !== before.currency;
  // The end of a period is the day of supply: it comes and goes with the period.
  const isDayDropped =
    given.supplyPeriod !== undefined && (given.supplyPeriod ?? before.supplyPeriod) !== null;
  return {
    ...before,
    ...(isOtherCurrency ? { exchange: null } : {}),
    ...(isDayDropped || before.supplyPeriod ? { supplyDate: null } : {}),
    ...given,
    lines: lines ? asModelLines(turn, lines) : before.lines,
  };
}

/** The invoice that a credit note corrects; undefined for another kind of document. */
function creditedBy(turn: Turn, what: NewInvoice | Draft, path: string): Invoice | undefined {
  const { kind, creditsInvoiceId = null } = what;
  if ((kind === 'credit_note') !== (creditsInvoiceId !== null)) {
    turn.refuse('invalid_change', `${path}/creditsInvoiceId`);
  }
  if (creditsInvoiceId === null) return undefined;
  const invoice = need(turn, 'invoices', creditsInvoiceId, `${path}/creditsInvoiceId`);
  if (invoice.kind !== 'invoice' || invoice.status !== 'issued') {
    turn.refuse('wrong_state', `${path}/creditsInvoiceId`);
  }
  if (invoice.customer.id !== what.customerId) turn.fault('invalid_change', `${path}/customerId`);
  return invoice;
}

/** A document as its draft makes it; `given` says which members the change brings, whose places are known. */
export function composed(
  turn: Turn,
  { id, createdAt, draft }: { id: string; createdAt: string; draft: Draft },
  given: Partial<NewInvoice>,
  path: string,
): { record: Unstamped; worked: Worked } {
  const at = (member: keyof NewInvoice) => (given[member] === undefined ? undefined : `${path}/${member}`);
  checkDates(turn, draft, at);
  const invoice = creditedBy(turn, draft, path);
  const customer = customerOf(turn, draft.customerId, `${path}/customerId`);
  const { kind, siteId, currency, supplyDate, supplyPeriod, dueDate, creditsInvoiceId, note } = draft;
  const { paymentTermsDays, buyerReference, purchaseOrderReference } = draft;
  checkTerms(turn, draft, invoice, at);
  const exchange = invoice ? invoice.accountingCurrency : draft.exchange;
  const parties = partiesOf(turn, customer, currency, { kind, exchange });
  const credit = invoice && creditOf(turn, invoice);
  const sums = sumsOf(turn, draft.lines, parties, at('lines'), { extras: draft, credit });
  const { lines, vatBreakdown, totals } = sums;
  const record: Unstamped = {
    ...namingOf(turn, customer, siteId, at('siteId')),
    ...{ id, kind, status: 'draft', number: null, issueDate: null, issuedAt: null, createdAt },
    ...{ currency, supplyPeriod, dueDate, buyerReference, purchaseOrderReference, creditsInvoiceId, note },
    ...{ lines, vatBreakdown, totals, creditNotes: [] },
    supplyDate: supplyPeriod?.endDate ?? supplyDate,
    // A credit note isn't due.
    paymentTermsDays: invoice ? 0 : paymentTermsDays,
    accountingCurrency: accountedFor(turn, sums, currency, { invoice, exchange: draft.exchange }),
    links: { self: `/api/v1/invoices/${id}`, pdf: `/api/v1/invoices/${id}/pdf` },
    creditedInvoice: invoice ? referenceTo(invoice) : null,
  };
  const rounding = checkPayable(turn, record, draft, at, credit ? roundingLeft(credit, record) : 0n);
  return { record, worked: { ...sums.worked, rounding } };
}

/** A credit note of all that is left takes the rounding back. */
function roundingLeft({ invoice, worked, notes }: Credit, { totals }: Unstamped): bigint {
  const credited = sumOf([...notes.map(({ record }) => record.totals.grossMinor), totals.grossMinor]);
  if (credited !== BigInt(invoice.totals.grossMinor)) return 0n;
  return worked.rounding - sumOf(notes.map((note) => note.worked.rounding));
}

function checkTerms(
  turn: Turn,
  draft: Draft,
  invoice: Invoice | undefined,
  at: (member: keyof NewInvoice) => string | undefined,
): void {
  const { exchange, currency, pricesIncludeVat = false } = draft;
  const its = invoice && turn.company.kept.get(invoice.id)?.draft.pricesIncludeVat;
  if (invoice && pricesIncludeVat !== (its ?? false)) turn.fault('invalid_change', at('pricesIncludeVat'));
  if (invoice && currency !== invoice.currency) turn.fault('wrong_currency', at('currency'));
  if (exchange && (invoice || currency === turn.company.currency)) {
    turn.fault('invalid_change', at('exchange'));
  }
}

function checkDates(
  turn: Turn,
  { kind, supplyPeriod, supplyDate, dueDate }: Draft | NewInvoice,
  at: (member: keyof NewInvoice) => string | undefined,
): void {
  if (kind === 'credit_note' && dueDate) turn.fault('invalid_change', at('dueDate'));
  if (!supplyPeriod) return;
  const { startDate, endDate } = supplyPeriod;
  const periodAt = at('supplyPeriod');
  if (endDate < startDate) turn.fault('invalid_change', periodAt && `${periodAt}/endDate`);
  if (supplyDate && supplyDate !== endDate) turn.fault('invalid_change', at('supplyDate'));
}

type Exchange = Pick<
  NonNullable<Invoice['accountingCurrency']>,
  'exchangeRate' | 'exchangeRateDate' | 'exchangeRateSource'
>;

function accountedFor(
  turn: Turn,
  sums: Pick<Sums, 'items' | 'accounted'>,
  from: string,
  given: { invoice: Invoice | undefined; exchange: Exchange | null | undefined },
): Invoice['accountingCurrency'] {
  const exchange = given.invoice ? given.invoice.accountingCurrency : given.exchange;
  if (!exchange) return null;
  const { exchangeRate, exchangeRateDate, exchangeRateSource } = exchange;
  const { currency } = turn.company;
  const own = given.invoice ? sums.accounted : convertedItems(sums.items, exchangeRate, from, currency);
  if (!amountsOf(own).every(isSafe)) turn.fault('amount_out_of_range');
  const rate = { exchangeRate, exchangeRateDate, exchangeRateSource };
  return { currency, ...rate, totals: asTotals(totalsOf(own)), vatBreakdown: asBreakdown(own) };
}

export function referenceTo(document: Invoice): NonNullable<Invoice['creditedInvoice']> {
  const { id, number, status, issueDate, totals } = document;
  // An issued document has both.
  return { id, number: number ?? '', status, issueDate: issueDate ?? '', grossMinor: totals.grossMinor };
}
