/** The model's quotes: their versions, their expiry and what they are converted to. */
import { isDeepStrictEqual } from 'node:util';

import type { ChangeContent } from '../../src/contract/feed.ts';
import type { Quote } from '../../src/contract/records.ts';
import { type Moves, need, nextNumber, type QuoteTerms, type Turn, without } from './_model.ts';
import { draftInvoice } from './_invoices.ts';
import { asModelLines, customerOf, keptLines, namingOf, partiesOf, sumsOf } from './_lines.ts';
import { quoteSummaryOf } from './_money.ts';
import { createJob } from './_work.ts';

const VERSIONS_MAX = 1000;

export const quoteMoves = {
  'quote.draft': draftQuote,
  'quote.edit': (turn, { id, ...changes }) => {
    const { quote, terms } = quoteIn(turn, id, ['draft']);
    const { lines, ...given } = changes;
    const edited = { ...terms, ...given, lines: lines ? asModelLines(turn, lines) : terms.lines };
    const after = composed(turn, quote, edited, changes);
    keepTerms(turn, after, edited);
    if (isDeepStrictEqual({ ...after, updatedAt: quote.updatedAt }, quote)) return quote;
    return putQuote(turn, after, edited);
  },
  'quote.send': (turn, { id }) => {
    const { quote, terms } = quoteIn(turn, id, ['draft']);
    if (isOver(turn, quote)) turn.refuse('wrong_state', '/with/id');
    const named = composed(turn, quote, terms, {});
    return putQuote(turn, { ...named, status: 'sent', sentDate: turn.today }, terms);
  },
  'quote.revise': reviseQuote,
  'quote.accept': (turn, { id }) => {
    const { quote, terms } = quoteIn(turn, id, ['sent']);
    refuseEarlyAnswer(turn, quote);
    const accepted = putQuote(turn, { ...quote, status: 'accepted', respondedAt: turn.at }, terms);
    turn.send('quote.accepted', quoteSummaryOf(accepted));
    return accepted;
  },
  'quote.decline': (turn, { id }) => {
    const { quote, terms } = quoteIn(turn, id, ['sent', 'expired']);
    refuseEarlyAnswer(turn, quote);
    return putQuote(turn, { ...quote, status: 'declined', respondedAt: turn.at }, terms);
  },
  'quote.convert_to_job': (turn, { id, job }) => {
    const { quote, terms } = quoteIn(turn, id, ['accepted']);
    if (quote.convertedJobId !== null) turn.refuse('wrong_state', '/with/id');
    const { id: convertedJobId } = createJob(
      turn,
      { title: quote.title, ...job, customerId: quote.customer.id },
      '/with/job',
    );
    return putQuote(turn, { ...quote, convertedJobId }, terms);
  },
  'quote.convert_to_invoice': (turn, { id, invoice = {} }) => {
    const { quote, terms } = quoteIn(turn, id, ['accepted']);
    if (quote.convertedInvoiceId !== null) turn.refuse('wrong_state', '/with/id');
    // Lines of another document are other lines, and belong to the job that came of the same quote.
    const lines = terms.lines.map((line) => ({
      ...without(line, 'id'),
      jobId: line.jobId ?? quote.convertedJobId,
    }));
    const { siteId, currency, buyerReference } = quote;
    const draft = { siteId, currency, buyerReference, lines, ...invoice };
    const fixed = { kind: 'invoice', customerId: quote.customer.id } as const;
    const { id: convertedInvoiceId } = draftInvoice(
      turn,
      { ...draft, ...fixed },
      { path: '/with/invoice', quoteId: id, given: invoice },
    );
    return putQuote(turn, { ...quote, convertedInvoiceId }, terms);
  },
} satisfies Partial<Moves>;

function refuseEarlyAnswer(turn: Turn, { sentDate }: Quote): void {
  if ((sentDate ?? '') > turn.today) turn.refuse('invalid_change', '/at');
}

/** The members of a version that stay the same whatever it is drafted with. */
type Fixed = Pick<Quote, 'id' | 'quoteGroupId' | 'number' | 'version' | 'supersedesQuoteId' | 'createdAt'>;

function draftQuote(turn: Turn, what: ChangeContent<'quote.draft'>): Quote {
  const { id = '', quoteGroupId = '', lines = [], ...given } = what;
  const { quotes } = turn.company.tables;
  if (quotes.has(id)) turn.fault('duplicate_id', '/with/id');
  if ([...quotes.values()].some((other) => other.quoteGroupId === quoteGroupId)) {
    turn.fault('duplicate_id', '/with/quoteGroupId');
  }
  const customer = customerOf(turn, what.customerId);
  const blank = { siteId: null, validUntil: null, buyerReference: null, note: null };
  const terms = { ...blank, currency: customer.currency, ...given, lines: asModelLines(turn, lines) };
  const fixed = { id, quoteGroupId, version: 1, supersedesQuoteId: null, createdAt: turn.at };
  const quote = composed(turn, { ...fixed, number: '' }, terms, what);
  return putQuote(turn, { ...quote, number: nextNumber(turn, 'quote', turn.today) }, terms);
}

function reviseQuote(turn: Turn, what: ChangeContent<'quote.revise'>): Quote {
  const { id, newId = '', lines, ...given } = what;
  if (turn.company.tables.quotes.has(newId)) turn.fault('duplicate_id', '/with/newId');
  const { quote: old, terms: before } = quoteIn(turn, id, ['sent', 'expired', 'declined']);
  if (old.version >= VERSIONS_MAX) turn.refuse('limit_reached', '/with/id');
  const oldLines = before.lines.map((line) => without(line, 'id'));
  const terms = { ...before, validUntil: null, ...given, lines: asModelLines(turn, lines ?? oldLines) };
  const { quoteGroupId, number } = old;
  const version = old.version + 1;
  const fixed = { id: newId, quoteGroupId, number, version, supersedesQuoteId: id, createdAt: turn.at };
  const revision = putQuote(turn, composed(turn, fixed, terms, what), terms);
  putQuote(turn, { ...old, status: 'revised' }, before);
  return revision;
}

/** A quote that stands in one of these states on the company's calendar day. */
function quoteIn(
  turn: Turn,
  id: string,
  allowed: readonly Quote['status'][],
): { quote: Quote; terms: QuoteTerms } {
  const quote = need(turn, 'quotes', id, '/with/id');
  const terms = turn.company.quoteTerms.get(id);
  if (!terms) throw new Error('The model lost the terms of a quote.');
  const status = quote.status === 'sent' && isOver(turn, quote) ? 'expired' : quote.status;
  if (!allowed.includes(status)) turn.refuse('wrong_state', '/with/id');
  return { quote, terms };
}

const isOver = ({ today }: Turn, { validUntil }: Quote) => validUntil !== null && validUntil < today;

function putQuote(turn: Turn, quote: Omit<Quote, 'updatedAt'>, terms: QuoteTerms): Quote {
  const stamped = { ...quote, updatedAt: turn.stamp() };
  turn.company.tables.quotes.set(quote.id, stamped);
  keepTerms(turn, quote, terms);
  return stamped;
}

function keepTerms(turn: Turn, quote: Omit<Quote, 'updatedAt'>, terms: QuoteTerms): void {
  turn.company.quoteTerms.set(quote.id, { ...terms, lines: keptLines(turn, terms.lines, quote) });
}

/** A draft as its terms make it; `given` says which members the change brings, whose places are known. */
function composed(
  turn: Turn,
  fixed: Fixed,
  terms: QuoteTerms,
  given: Partial<ChangeContent<'quote.draft'>>,
): Omit<Quote, 'updatedAt'> {
  const customer = customerOf(turn, terms.customerId);
  const { siteId, currency, title, validUntil, buyerReference, note } = terms;
  const parties = partiesOf(turn, customer, currency);
  const at = (member: 'lines' | 'siteId') => (given[member] === undefined ? undefined : `/with/${member}`);
  const sums = sumsOf(turn, terms.lines, parties, at('lines'));
  const { id, quoteGroupId, number, version, supersedesQuoteId, createdAt } = fixed;
  const unanswered = { sentDate: null, respondedAt: null, convertedJobId: null, convertedInvoiceId: null };
  return {
    ...{ id, quoteGroupId, number, version, supersedesQuoteId, createdAt, status: 'draft', title },
    ...namingOf(turn, customer, siteId, at('siteId')),
    ...{ currency, validUntil, buyerReference, note, ...unanswered },
    ...without(sums, 'items', 'accounted', 'worked'),
    links: { self: `/api/v1/quotes/${id}` },
  };
}
