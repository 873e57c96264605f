import type { ChangeContent } from '../../contract/feed.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote as quoted } from '../../errors.ts';
import { draftInvoice } from './invoices.ts';
import { createJob } from './jobs.ts';
import type { Move } from './move.ts';
import { draftOf, getInState } from './quotes.ts';
import { Refusal } from './refusal.ts';

/**
 * Creates a job from an accepted quote, for its customer; publishes job.created.
 * @returns the quote, with the job's id.
 * @throws Refusal `wrong_state` unless it is accepted and has no job yet.
 */
export async function convertToJob(
  move: Move,
  { id, job }: ChangeContent<'quote.convert_to_job'>,
): Promise<RenderedRecord> {
  const { record: accepted } = await getInState(move, id, ['accepted'], 'converted');
  refuseTwice(accepted.convertedJobId, 'job');
  const made = { title: accepted.title, ...job, customerId: accepted.customer.id };
  const { id: convertedJobId } = await createJob(move, made, '/with/job');
  return move.putStamped('quotes', { ...accepted, convertedJobId });
}

/**
 * Drafts an invoice from an accepted quote, with the quote's lines unless others are given.
 * @returns the quote, with the invoice's id.
 * @throws Refusal `wrong_state` unless it is accepted and has no invoice yet.
 */
export async function convertToInvoice(
  move: Move,
  { id, invoice = {} }: ChangeContent<'quote.convert_to_invoice'>,
): Promise<RenderedRecord> {
  const stored = await getInState(move, id, ['accepted'], 'converted');
  const { record: accepted } = stored;
  refuseTwice(accepted.convertedInvoiceId, 'invoice');
  const { lines = [], pricesIncludeVat, allowances, charges } = await draftOf(move, stored);
  const draft = {
    siteId: accepted.siteId,
    currency: accepted.currency,
    buyerReference: accepted.buyerReference,
    ...(invoice.lines ? {} : { pricesIncludeVat, allowances, charges }),
    // The invoice's lines get ids of their own, and the wording that belongs on an invoice.
    lines: lines.map(({ id: _id, ...line }) => ({
      ...line,
      jobId: line.jobId ?? accepted.convertedJobId,
    })),
    ...invoice,
    kind: 'invoice' as const,
    customerId: accepted.customer.id,
  };
  const { id: convertedInvoiceId } = await draftInvoice(move, draft, accepted.id, '/with/invoice');
  return move.putStamped('quotes', { ...accepted, convertedInvoiceId });
}

function refuseTwice(convertedId: string | null, name: string): void {
  if (convertedId === null) return;
  throw new Refusal(
    'wrong_state',
    `The quote was already converted to the ${name} ${quoted(convertedId)}.`,
    '/with/id',
  );
}
