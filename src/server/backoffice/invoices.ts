import type { NewInvoice, ChangeContent } from '../../contract/feed.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import { composeInvoice, recompose } from './invoice-drafts.ts';
import { documentKindName } from './issued-elsewhere.ts';
import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';
import type { StoredDocument } from './unpublished.ts';

/**
 * Drafts an invoice, credit note or pro forma, and returns it.
 * @param quoteId the id of the quote that was converted, if any.
 * @param path the draft's place within the change.
 */
export async function draftInvoice(
  move: Move,
  draft: NewInvoice,
  quoteId: string | null = null,
  path = '/with',
): Promise<RenderedRecord> {
  if (draft.id !== undefined) await move.mustBeNew('invoices', draft.id, `${path}/id`);
  const fixed = { id: draft.id ?? move.mintUuid(), createdAt: move.at, quoteId };
  const { record, unpublished } = await composeInvoice(move, draft, fixed, path);
  return move.putStamped('invoices', record, unpublished);
}

/**
 * Changes the given members of a draft.
 * @throws Refusal `wrong_state` when it is issued.
 */
export async function editInvoice(
  move: Move,
  { id, ...changes }: ChangeContent<'invoice.edit'>,
): Promise<RenderedRecord> {
  const before = await getDraft(move, id);
  const after = await recompose(move, before, '/with', {
    // A supply period determines the supply date, and another currency needs another exchange rate.
    ...(changes.supplyPeriod ? { supplyDate: null } : {}),
    ...(changes.currency === undefined ? {} : { exchange: null }),
    ...changes,
  });
  return move.putChanged('invoices', before, after);
}

/**
 * Discards a draft. The quote it was converted from can be converted again.
 * @throws Refusal `wrong_state` when it is issued.
 */
export async function discardInvoice(
  move: Move,
  { id }: ChangeContent<'invoice.discard'>,
): Promise<undefined> {
  const { unpublished } = await getDraft(move, id);
  await move.remove('invoices', id);
  const source = unpublished.quoteId === null ? undefined : await move.find('quotes', unpublished.quoteId);
  if (source) await move.putStamped('quotes', { ...source.record, convertedInvoiceId: null });
}

/** Returns a draft. @throws Refusal `unknown_record`, or `wrong_state` when the document is issued. */
export async function getDraft(move: Move, id: string): Promise<StoredDocument> {
  const document = await move.getStored('invoices', id, '/with/id');
  const { status, kind, number } = document.record;
  if (status === 'draft') return document;
  const message = `The ${documentKindName(kind)} ${quote(number ?? id)} is issued and can't change.`;
  throw new Refusal('wrong_state', message, '/with/id');
}
