import { isDeposit } from '../../contract/document-terms.ts';
import type { ChangeContent } from '../../contract/feed.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import { balanceAtIssue } from '../../contract/vat.ts';
import { addCredit, type CreditedInvoice } from './credit-notes.ts';
import { recompose, referenceTo } from './invoice-drafts.ts';
import { getDraft } from './invoices.ts';
import { checkDocument, type CheckedDocument } from './legal-checklist.ts';
import { mustBeIssuedHere, documentKindName } from './issued-elsewhere.ts';
import { isSupported } from './legends.ts';
import type { Move } from './move.ts';
import { takeNumber } from './numbering.ts';
import { withRefusalPath, Refusal, withinRange } from './refusal.ts';
import { usePrepayments } from './prepayments.ts';
import { putRebalanced, sendPrepaid } from './settlement.ts';
import { daysAfter, refuseDayOutside } from './times.ts';
import { type Supplier, supplierOn } from '../store/records/suppliers.ts';
import type { DocumentRecord, Drafted } from './unpublished.ts';

/** The maximum number of credit notes that the contract lets an invoice show. */
const CREDIT_NOTES_MAX = 1000;

/**
 * Issues a draft: fixes the current buyer and supplier details, checks the legal requirements and assigns a number.
 * Publishes invoice.issued or credit_note.issued. A credit note also updates the invoice it corrects, and publishes
 * invoice.paid if it settles that invoice.
 * @throws Refusal `incomplete_document` naming everything that is missing, `unsupported_country`, or `wrong_state`.
 */
export async function issueInvoice(
  move: Move,
  { id }: ChangeContent<'invoice.issue'>,
): Promise<RenderedRecord> {
  const before = await getDraft(move, id);
  mustBeIssuedHere(move, before.record.kind);
  refuseDayOutside(move.today, '/at');
  const composed = await withRefusalPath('/with/id', () => recompose(move, before, '/with'));
  const issued = asIssued(move, composed);
  const supplier = await move.keepSupplier(supplierOn(await move.supplier(), issued));
  const unpublished = { ...composed.unpublished, supplier };
  refuseIncomplete({ ...unpublished, document: issued });
  const record = { ...issued, number: await takeNumber(move, issued.kind, move.today) };
  const rendered = await move.putStamped('invoices', record, unpublished);
  if (record.kind !== 'pro_forma') await move.handOver(record.id);
  await applyIssueConsequences(move, { ...composed, record }, rendered, '/with/id');
  return rendered;
}

/**
 * Publishes the event of an issued document, marks its prepayments as used, and deducts a credit note from its invoice.
 * `path` is the member that named these.
 */
export async function applyIssueConsequences(
  move: Move,
  issued: Drafted,
  { body }: RenderedRecord,
  path: string,
): Promise<void> {
  if (issued.record.kind === 'invoice') {
    move.send('invoice.issued', body);
    await usePrepayments(move, issued, path);
    sendPrepaid(move, issued);
  }
  if (issued.credited) {
    move.send('credit_note.issued', body);
    await creditInvoice(move, issued.credited, issued, path);
  }
}

/** Returns a draft with the dates that it gets when issued. A credit note has no due date. */
export function asIssued(
  move: Pick<Move, 'today' | 'at'>,
  { record: draft, unpublished: { amounts, terms } }: Drafted,
): DocumentRecord {
  const { kind, paymentTermsDays } = draft;
  const paidOn =
    amounts?.prepayments
      .map((one) => one.paidOn)
      .sort()
      .at(-1) ?? null;
  // The supply of a pro forma, or of a payment on account, can still be in the future.
  const suppliedOn = isDeposit(terms) ? paidOn : move.today;
  return {
    ...draft,
    status: 'issued',
    issueDate: move.today,
    issuedAt: move.at,
    supplyDate: draft.supplyDate ?? (kind === 'pro_forma' ? null : suppliedOn),
    dueDate: kind === 'credit_note' ? null : (draft.dueDate ?? daysAfter(move.today, paymentTermsDays)),
    ...balanceAtIssue(draft, amounts),
  };
}

function refuseIncomplete(checked: CheckedDocument): void {
  refuseUnsupported(checked.supplier);
  const missing = checkDocument(checked).filter(({ problem }) => problem !== undefined);
  if (missing.length === 0) return;
  const problems = missing.map(({ problem }) => problem).join('; ');
  throw new Refusal(
    'incomplete_document',
    `The ${documentKindName(checked.document.kind)} can't be issued: ${problems}.`,
    '/with/id',
  );
}

/** Refuses a supplier in a country for which there is no check-list. @throws Refusal `unsupported_country`. */
export function refuseUnsupported({ countryCode }: Supplier): void {
  if (isSupported(countryCode)) return;
  const country = countryCode === undefined ? 'no country' : `the country ${quote(countryCode)}`;
  const message = `The company's profile has ${country}; documents can be issued for IE and GB.`;
  throw new Refusal('unsupported_country', message, '/company');
}

/** Deducts an issued credit note from the invoice that it corrects. */
async function creditInvoice(
  move: Move,
  invoice: CreditedInvoice,
  { record: note, unpublished: { amounts } }: Drafted,
  path: string,
): Promise<void> {
  const { creditNotes } = invoice.record;
  if (creditNotes.length >= CREDIT_NOTES_MAX) {
    const message = `The invoice ${quote(invoice.record.number ?? '')} has ${CREDIT_NOTES_MAX} credit notes, the most it can have.`;
    throw new Refusal('limit_reached', message, path);
  }
  const record = { creditNotes: [...creditNotes, referenceTo(note)].sort((a, b) => (a.id < b.id ? -1 : 1)) };
  const { creditedRoundingMinor: rounded = 0 } = invoice.unpublished;
  const unpublished = withinRange(path, () => ({
    credited: addCredit(invoice.earlier, note.vatBreakdown),
    creditedAccounted: addCredit(invoice.earlierAccounted, note.accountingCurrency?.vatBreakdown ?? []),
    ...(amounts && { creditedRoundingMinor: rounded + amounts.roundingMinor }),
  }));
  await putRebalanced(move, invoice, { record, unpublished }, path);
}
