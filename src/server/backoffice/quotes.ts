import type { ChangeContent } from '../../contract/feed.ts';
import type { Quote } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote as quoted } from '../../errors.ts';
import { namingOf } from './buyers.ts';
import { hasQuoteGroup } from '../store/records/moves.ts';
import { startComposition, draftLinesOf, quoteUnpublishedOf, computeTotals } from './document-lines.ts';
import { mustBeIssuedHere } from './issued-elsewhere.ts';
import type { Move } from './move.ts';
import { takeNumber } from './numbering.ts';
import { withRefusalPath, Refusal } from './refusal.ts';
import { refuseDayOutside } from './times.ts';
import type { QuoteUnpublished, Stored } from './unpublished.ts';

/** The members of a quote that its draft gives. Its other members record its history. */
type QuoteDraft = Omit<ChangeContent<'quote.draft'>, 'id' | 'quoteGroupId'>;

/** The members of a quote that stay the same when its draft is edited. */
type Fixed = Pick<Quote, 'id' | 'quoteGroupId' | 'number' | 'version' | 'supersedesQuoteId' | 'createdAt'>;

/** The maximum number of versions that the contract lets a quote have. */
const VERSIONS_MAX = 1000;

/** Drafts a quote and assigns its number. */
export async function draftQuote(move: Move, draft: ChangeContent<'quote.draft'>): Promise<RenderedRecord> {
  const { id, quoteGroupId } = draft;
  mustBeIssuedHere(move, 'quote');
  refuseDayOutside(move.today, '/at');
  if (id !== undefined) await move.mustBeNew('quotes', id, '/with/id');
  if (quoteGroupId !== undefined && (await hasQuoteGroup(move.transaction, move.company.id, quoteGroupId))) {
    const message = `A quote with the quoteGroupId ${quoted(quoteGroupId)} already exists; revise it.`;
    throw new Refusal('duplicate_id', message, '/with/quoteGroupId');
  }
  const composed = await compose(move, draft, {
    id: id ?? move.mintUuid(),
    quoteGroupId: quoteGroupId ?? move.mintUuid(),
    number: '',
    version: 1,
    supersedesQuoteId: null,
    createdAt: move.at,
  });
  const record = { ...composed.record, number: await takeNumber(move, 'quote', move.today) };
  return move.putStamped('quotes', record, composed.unpublished);
}

/** Changes the given members of a draft. @throws Refusal `wrong_state` when it was sent. */
export async function editQuote(
  move: Move,
  { id, ...changes }: ChangeContent<'quote.edit'>,
): Promise<RenderedRecord> {
  const before = await getInState(move, id, ['draft'], 'edited');
  const after = await compose(move, { ...(await draftOf(move, before)), ...changes }, before.record);
  return move.putChanged('quotes', before, after);
}

/**
 * Marks a draft as sent, with the customer's current details.
 * @throws Refusal `wrong_state` when it was sent before, `invalid_change` when it has already expired.
 */
export async function sendQuote(move: Move, { id }: ChangeContent<'quote.send'>): Promise<RenderedRecord> {
  mustBeIssuedHere(move, 'quote');
  const stored = await getInState(move, id, ['draft'], 'sent');
  const { record: draft } = stored;
  refuseDayOutside(move.today, '/at');
  if (draft.validUntil !== null && draft.validUntil < move.today) {
    const message = `The quote ${quoted(draft.number)} is valid until ${draft.validUntil}, which is over on ${move.today}.`;
    throw new Refusal('wrong_state', message, '/with/id');
  }
  const again = await draftOf(move, stored);
  const composed = await withRefusalPath('/with/id', () => compose(move, again, draft));
  const record: Omit<Quote, 'updatedAt'> = { ...composed.record, status: 'sent', sentDate: move.today };
  return move.putStamped('quotes', record, composed.unpublished);
}

/**
 * Drafts a new version, with its own id, of a sent, expired or declined quote; the old version's status becomes
 * `revised`.
 */
export async function reviseQuote(move: Move, given: ChangeContent<'quote.revise'>): Promise<RenderedRecord> {
  const { id, newId, ...changes } = given;
  mustBeIssuedHere(move, 'quote');
  if (newId !== undefined) await move.mustBeNew('quotes', newId, '/with/newId');
  const stored = await getInState(move, id, ['sent', 'expired', 'declined'], 'revised');
  const { record: old } = stored;
  if (old.version >= VERSIONS_MAX) {
    const message = `The quote ${quoted(old.number)} has ${VERSIONS_MAX} versions, the most it can have.`;
    throw new Refusal('limit_reached', message, '/with/id');
  }
  const { lines = [], ...draft } = { ...(await draftOf(move, stored)), validUntil: null, ...changes };
  // The new version's lines get ids of their own.
  const ownLines = changes.lines ?? lines.map(({ id: _id, ...line }) => line);
  const version = await compose(
    move,
    { ...draft, lines: ownLines },
    {
      id: newId ?? move.mintUuid(),
      quoteGroupId: old.quoteGroupId,
      number: old.number,
      version: old.version + 1,
      supersedesQuoteId: old.id,
      createdAt: move.at,
    },
  );
  // The new version has the earlier stamp, but the old one is written first, because the database allows only one
  // version of a quote that isn't `revised`.
  const updatedAt = move.stamp();
  await move.putStamped('quotes', { ...old, status: 'revised' });
  const record = { ...version.record, updatedAt };
  return move.put('quotes', record, version.unpublished);
}

/**
 * Records the customer's acceptance; publishes quote.accepted.
 * @throws Refusal `wrong_state` unless the quote was sent and is still valid on the company's calendar day.
 */
export async function acceptQuote(
  move: Move,
  { id }: ChangeContent<'quote.accept'>,
): Promise<RenderedRecord> {
  const sent = await getAnswerable(move, id, ['sent'], 'accepted');
  const rendered = await move.putStamped('quotes', { ...sent, status: 'accepted', respondedAt: move.at });
  move.send('quote.accepted', rendered.body);
  return rendered;
}

/** Records that the customer declined a quote. @throws Refusal `wrong_state` unless the quote was sent. */
export async function declineQuote(
  move: Move,
  { id }: ChangeContent<'quote.decline'>,
): Promise<RenderedRecord> {
  const sent = await getAnswerable(move, id, ['sent', 'expired'], 'declined');
  return move.putStamped('quotes', { ...sent, status: 'declined', respondedAt: move.at });
}

/** Returns a quote as `getInState` does. @throws Refusal also for a response dated before the quote was sent. */
async function getAnswerable(...[move, ...which]: Parameters<typeof getInState>): Promise<Quote> {
  const { record: sent } = await getInState(move, ...which);
  if (sent.sentDate === null || sent.sentDate <= move.today) return sent;
  const message = `The quote ${quoted(sent.number)} was sent on ${sent.sentDate}, and can't be answered on ${move.today}, before it.`;
  throw new Refusal('invalid_change', message, '/at');
}

/**
 * Returns a quote as of the company's calendar day; a sent quote past its validity is expired.
 * @throws Refusal `wrong_state` naming the state that doesn't allow the move.
 */
export async function getInState(
  move: Move,
  id: string,
  allowed: readonly Quote['status'][],
  verb: string,
): Promise<Stored<'quotes'>> {
  const { record: stored, unpublished } = await move.getStored('quotes', id, '/with/id');
  const isOver = stored.status === 'sent' && stored.validUntil !== null && stored.validUntil < move.today;
  const status = isOver ? 'expired' : stored.status;
  if (allowed.includes(status)) return { record: { ...stored, status }, unpublished };
  const message = `The quote ${quoted(stored.number)}, version ${stored.version}, is ${status} and can't be ${verb}.`;
  throw new Refusal('wrong_state', message, '/with/id');
}

/** Returns a stored quote as the change that would draft it. An edit replaces some of its members. */
export async function draftOf(
  move: Move,
  { record: quote, unpublished }: Stored<'quotes'>,
): Promise<QuoteDraft> {
  return {
    customerId: quote.customer.id,
    title: quote.title,
    siteId: quote.siteId,
    currency: quote.currency,
    validUntil: quote.validUntil,
    buyerReference: quote.buyerReference,
    note: quote.note,
    lines: await draftLinesOf(move, { record: quote, unpublished }, null),
    ...unpublished.amounts?.given,
  };
}

/** A quote that still lacks `updatedAt`, with its unpublished data. */
interface Composed {
  record: Omit<Quote, 'updatedAt'>;
  unpublished: QuoteUnpublished;
}

async function compose(move: Move, draft: QuoteDraft, fixed: Fixed): Promise<Composed> {
  refuseDayOutside(draft.validUntil, '/with/validUntil');
  const customer = await move.get('customers', draft.customerId, '/with/customerId');
  const currency = draft.currency ?? customer.currency;
  const known = { path: '/with', currency, credited: undefined, conversion: null };
  const sums = await computeTotals(move, await startComposition(move, draft, known), customer.countryCode);
  const naming = namingOf(customer, draft.siteId ?? null, '/with');
  const record = {
    ...quoteRecord(fixed, draft, currency),
    ...{ status: 'draft' as const, sentDate: null, respondedAt: null },
    ...naming,
    ...sums.shown,
  };
  return { record, unpublished: quoteUnpublishedOf(sums) };
}

/** Returns the members that drafted and imported versions of a quote begin with. */
export function quoteRecord(
  { id, quoteGroupId, number, version, supersedesQuoteId, createdAt }: Fixed,
  given: Pick<QuoteDraft, 'title' | 'validUntil' | 'buyerReference' | 'note'>,
  currency: string,
) {
  const { title, validUntil = null, buyerReference = null, note = null } = given;
  return {
    ...{ id, quoteGroupId, number, version, supersedesQuoteId, createdAt },
    ...{ title, currency, validUntil, buyerReference, note },
    ...{ convertedJobId: null, convertedInvoiceId: null },
    links: { self: `/api/v1/quotes/${id}` },
  };
}
