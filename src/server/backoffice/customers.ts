import type { ChangeContent } from '../../contract/feed.ts';
import { buyerTermNames, pickDefined, omit } from '../../contract/document-terms.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { problemOfVatNumber } from '../../contract/vat-numbers.ts';
import { quote } from '../../errors.ts';
import { refuseBadParty } from './document-terms.ts';
import type { Move } from './move.ts';
import { Refusal, refuseTwins } from './refusal.ts';

/**
 * Stores a new or changed customer, whose archived state stays the same. An unchanged customer isn't written again.
 * @throws Refusal `invalid_change` for an invalid VAT number or identifier, and `duplicate_id` for two sites with one id.
 */
export async function saveCustomer(
  move: Move,
  given: ChangeContent<'customer.save'>,
): Promise<RenderedRecord> {
  const stored = given.id === undefined ? undefined : await move.find('customers', given.id);
  const before = stored?.record;
  const unpublished = pickDefined(given, unpublishedNames);
  const customer = {
    ...blank,
    ...omit(given, unpublishedNames),
    id: given.id ?? move.mintId('cus_'),
    archived: before?.archived ?? false,
    createdAt: before?.createdAt ?? move.at,
  };
  // Documents refer to a site by its id, so ids must be unique.
  refuseTwins('sites', customer.sites, '/with/sites');
  refuseBadVatId(given.vatId);
  refuseBadParty(given, '/with');
  if (!stored) return move.putStamped('customers', customer, unpublished);
  return move.putChanged('customers', stored, { record: customer, unpublished });
}

const unpublishedNames = [...buyerTermNames, 'peppol'] as const;

const blank = { legalName: null, vatId: null, email: null, contactName: null, contacts: [], sites: [] };

function refuseBadVatId(vatId: string | null | undefined): void {
  if (typeof vatId !== 'string') return;
  const problem = problemOfVatNumber(vatId);
  if (problem === undefined) return;
  throw new Refusal('invalid_change', `vatId is ${quote(vatId)}, which ${problem}.`, '/with/vatId');
}

/** Archives or restores a customer. @throws Refusal `wrong_state` when it is already in that state. */
export async function setArchived(
  move: Move,
  { id }: ChangeContent<'customer.archive' | 'customer.restore'>,
  archived: boolean,
): Promise<RenderedRecord> {
  const customer = await move.get('customers', id, '/with/id');
  if (customer.archived === archived) {
    const state = archived ? 'is archived already' : "isn't archived";
    throw new Refusal('wrong_state', `The customer ${quote(id)} ${state}.`, '/with/id');
  }
  return move.putStamped('customers', { ...customer, archived });
}
