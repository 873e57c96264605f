import type { InvoiceSummary } from '../contract/records.ts';
import { whyNot } from './availability.ts';
import { PageError } from './page-error.ts';
import type { Visit } from './visit.ts';

/** What each kind of document is called. */
export const kindNames: Record<InvoiceSummary['kind'], string> = {
  invoice: 'Invoice',
  credit_note: 'Credit note',
  pro_forma: 'Pro forma',
};

/** Why an administrator sees no documents; undefined when they do. It is what the API asks of a key. */
export function whyNoDocuments({ administrator, company }: Visit): string | undefined {
  if (!administrator.scopes.includes('invoices:read'))
    return 'You don’t have the access invoices:read yourself. An administrator who has it can invite you with it.';
  const reason = whyNot(company, 'invoices');
  return reason && `${reason} Documents are shown here while the API gives them out.`;
}

/** @throws PageError for who sees no documents, whether there is one or not. */
export function refuseWithoutDocuments(visit: Visit): void {
  const reason = whyNoDocuments(visit);
  if (reason !== undefined) throw new PageError(403, 'Documents are not shown', reason);
}
