import type { Invoice } from '../../contract/records.ts';
import { quote, UsageError } from '../../errors.ts';
import { lockForMoves } from '../store/records/moves.ts';
import { inexpressible } from '../e-invoice/expressible.ts';
import { asPrinted } from './peppol-rule.ts';
import { recompose } from './invoice-drafts.ts';
import { asIssued, refuseUnsupported } from './issue-invoice.ts';
import { checkDocument, type CheckedDocument, type ChecklistItem } from './legal-checklist.ts';
import { Move } from './move.ts';
import type { Backoffice } from './backoffice.ts';
import { supplierOn } from '../store/records/suppliers.ts';
import { Refusal } from './refusal.ts';
import type { StoredDocument, Unpublished } from './unpublished.ts';

export interface CheckedRecord {
  record: Invoice;
  items: ChecklistItem[];
  /** Why it has no e-invoice, which a document may be without; null where it has one, and for a pro forma. */
  eInvoiceProblem: string | null;
}

/**
 * Goes through the legal check-list of a stored document: of an issued one as it was issued, of a draft as it would be
 * issued now. Nothing is changed.
 * @throws UsageError when there is no such company or document, when the company's country has no check-list, or when
 *   the draft can't be made out any more, for example because its customer is gone.
 */
export async function checkStored(
  backoffice: Backoffice,
  company: string,
  id: string,
  now: Date,
): Promise<CheckedRecord> {
  return backoffice.engine.transaction(async (transaction) => {
    const locked = await lockForMoves(transaction, company);
    if (!locked) throw new UsageError(`There is no company ${quote(company)}.`);
    const move = new Move(backoffice, transaction, locked, { at: now, now });
    try {
      const stored = await move.getStored('invoices', id, '');
      const checked = await (stored.record.status === 'draft'
        ? wouldBeIssued(move, stored)
        : wasIssued(move, stored));
      refuseUnsupported(checked.supplier);
      const isInvoice = stored.record.kind !== 'pro_forma' && !stored.unpublished.isImported;
      const eInvoiceProblem = (isInvoice && inexpressible(asPrinted(checked))) || null;
      return { record: stored.record, items: checkDocument(checked), eInvoiceProblem };
    } catch (error) {
      // Leaves the path out, because there is no change to point at.
      if (error instanceof Refusal) throw new UsageError(error.message);
      throw error;
    }
  });
}

/**
 * A document that no move made, such as a loaded one, has no supplier of its own: it is printed with the present one.
 */
async function wasIssued(move: Move, { record, unpublished }: StoredDocument): Promise<CheckedDocument> {
  const { supplier, ...others } = unpublished as Partial<Unpublished>;
  return {
    reverseChargeRates: {},
    ...others,
    document: record,
    supplier: supplier ?? (await move.supplier()),
  };
}

/** The buyer, the legends and the sums are worked out anew, as they are when it is issued. */
async function wouldBeIssued(move: Move, stored: StoredDocument): Promise<CheckedDocument> {
  const composed = await recompose(move, stored, '');
  const document = asIssued(move, composed);
  return { ...composed.unpublished, document, supplier: supplierOn(await move.supplier(), document) };
}
