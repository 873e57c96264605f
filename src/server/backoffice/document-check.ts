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
  /** The reason why the document has no e-invoice, which is allowed; null if it has one, and for a pro forma. */
  eInvoiceProblem: string | null;
}

/**
 * Returns how a stored document meets the legal check-list: an issued one as it was issued, a draft as it would be issued
 * now. Changes nothing.
 * @throws UsageError when there is no such company or document, when the company's country has no check-list, or when the
 * draft can no longer be computed, for example because its customer is gone.
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

/** Returns an issued document as at its issue. One that no move issued has no stored supplier and takes the current one. */
async function wasIssued(move: Move, { record, unpublished }: StoredDocument): Promise<CheckedDocument> {
  const { supplier, ...others } = unpublished as Partial<Unpublished>;
  return {
    reverseChargeRates: {},
    ...others,
    document: record,
    supplier: supplier ?? (await move.supplier()),
  };
}

/** Returns a draft as it would be issued now, with its buyer, legal wording and sums recomputed. */
async function wouldBeIssued(move: Move, stored: StoredDocument): Promise<CheckedDocument> {
  const composed = await recompose(move, stored, '');
  const document = asIssued(move, composed);
  return { ...composed.unpublished, document, supplier: supplierOn(await move.supplier(), document) };
}
