import type { ChangeContent } from '../../contract/feed.ts';
import type { Quote } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote as quoted } from '../../errors.ts';
import { hasQuoteGroup, hasQuoteNumber } from '../store/records/moves.ts';
import { startComposition, quoteUnpublishedOf } from './document-lines.ts';
import { checkedAmounts, pricedImport } from './import-check.ts';
import { importedLines, importedNaming } from './imports.ts';
import { mustBeIssuedElsewhere } from './issued-elsewhere.ts';
import type { Move } from './move.ts';
import { getInState, quoteRecord } from './quotes.ts';
import { withRefusalPath, Refusal } from './refusal.ts';
import { refuseDayOutside, refuseDayToCome } from './times.ts';

type Imported = ChangeContent<'quote.import'>;

/**
 * Imports a version of a quote that the business system has sent, and marks any previous version as `revised`. Publishes
 * quote.accepted for an accepted quote imported with `notify`.
 * @throws Refusal `wrong_sums`, or `wrong_state` while quotes are issued here.
 */
export async function importQuote(move: Move, given: Imported): Promise<RenderedRecord> {
  mustBeIssuedElsewhere(move, 'quote');
  if (given.notify !== true) move.keepQuiet();
  if (given.id !== undefined) await move.mustBeNew('quotes', given.id, '/with/id');
  refuseDayToCome(move, given.sentDate, '/with/sentDate');
  refuseDayOutside(given.validUntil, '/with/validUntil');
  const customer = await move.get('customers', given.customerId, '/with/customerId');
  const before = await supersededBy(move, given);
  const known = { path: '/with', currency: given.currency, credited: undefined, conversion: null };
  const priced = pricedImport(await startComposition(move, given, known));
  const lines = importedLines(priced, given);
  const id = given.id ?? move.mintUuid();
  const version = await versionOf(move, given, before);
  const record = {
    ...quoteRecord({ id, number: given.number, createdAt: move.at, ...version }, given, given.currency),
    ...importedNaming(customer, given),
    status: given.status,
    sentDate: given.sentDate,
    respondedAt: respondedAtOf(move, given),
    lines,
    vatBreakdown: checkedAmounts(given, priced).vatBreakdown,
    totals: given.totals,
    // The previous version is written first, as in `reviseQuote`, but gets the later stamp.
    updatedAt: move.stamp(),
  };
  if (before) await move.putStamped('quotes', { ...before, status: 'revised' });
  const rendered = await move.put('quotes', record, quoteUnpublishedOf(priced));
  if (given.status === 'accepted') move.send('quote.accepted', rendered.body);
  return rendered;
}

/** Returns the quote that an imported quote replaces, if any. */
async function supersededBy(
  move: Move,
  { supersedesQuoteId, number, customerId }: Imported,
): Promise<Quote | undefined> {
  if (supersedesQuoteId === undefined) {
    if (!(await hasQuoteNumber(move.transaction, move.company.id, number))) return undefined;
    const message = `The company has another quote with the number ${quoted(number)}; supersedesQuoteId names the version before.`;
    throw new Refusal('duplicate_id', message, '/with/number');
  }
  const path = '/with/supersedesQuoteId';
  const states = ['sent', 'expired', 'accepted', 'declined'] as const;
  const { record: before } = await withRefusalPath(path, () =>
    getInState(move, supersedesQuoteId, states, 'superseded'),
  );
  const converted = before.convertedInvoiceId ?? before.convertedJobId;
  if (converted !== null) {
    const message = `The version before was converted to ${quoted(converted)}, so that none can take its place.`;
    throw new Refusal('wrong_state', message, path);
  }
  if (before.number === number && before.customer.id === customerId) return before;
  const message = `The version before has the number ${quoted(before.number)} and the customer ${quoted(before.customer.id)}, which this one must have too.`;
  throw new Refusal('invalid_change', message, path);
}

async function versionOf(
  move: Move,
  given: Imported,
  before: Quote | undefined,
): Promise<Pick<Quote, 'quoteGroupId' | 'version' | 'supersedesQuoteId'>> {
  const { version = (before?.version ?? 0) + 1, quoteGroupId = before?.quoteGroupId } = given;
  await refuseOtherGroup(move, quoteGroupId, before);
  if (!before) return { quoteGroupId: quoteGroupId ?? move.mintUuid(), version, supersedesQuoteId: null };
  if (version > before.version)
    return { quoteGroupId: before.quoteGroupId, version, supersedesQuoteId: before.id };
  const message = `version is ${version}, and must be above ${before.version}, the one that it supersedes.`;
  throw new Refusal('invalid_change', message, '/with/version');
}

async function refuseOtherGroup(
  { transaction, company }: Move,
  quoteGroupId: string | undefined,
  before: Quote | undefined,
): Promise<void> {
  if (quoteGroupId === before?.quoteGroupId || quoteGroupId === undefined) return;
  if (!before && !(await hasQuoteGroup(transaction, company.id, quoteGroupId))) return;
  const message = `The quoteGroupId ${quoted(quoteGroupId)} is another quote's, or not that of the version before.`;
  throw new Refusal('duplicate_id', message, '/with/quoteGroupId');
}

/** Returns when the customer responded, or null. @throws Refusal `invalid_change` if unanswered, or if sent later. */
function respondedAtOf(move: Move, { status, respondedAt, sentDate }: Imported): string | null {
  if (status === 'sent') {
    if (respondedAt === undefined) return null;
    const message = `respondedAt is ${respondedAt}, and a quote that is sent has no answer yet.`;
    throw new Refusal('invalid_change', message, '/with/respondedAt');
  }
  const at = respondedAt === undefined ? move.at : move.readTime(respondedAt, '/with/respondedAt');
  if (move.dayOf(at) >= sentDate) return at;
  const message = `respondedAt is ${at}, before the quote was sent on ${sentDate}.`;
  throw new Refusal('invalid_change', message, '/with/respondedAt');
}
