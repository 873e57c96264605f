import { hasEInvoice } from '../e-invoice/e-invoice.ts';
import { peppolProblems } from '../e-invoice/peppol.ts';
import { readDocument } from '../e-invoice/reading.ts';
import type { CheckedDocument, LegalRule } from './legal-checklist.ts';

/** No document goes to a customer over Peppol that Peppol would refuse. */
export const peppolRule: LegalRule = {
  item: 'what Peppol asks for, where the customer has its documents by it',
  source: 'Peppol BIS Billing 3',
  problem: (checked) => (checked.terms?.isPeppol ? problemOf(checked) : undefined),
};

function problemOf({ document, ...others }: CheckedDocument): string | undefined {
  // The number is taken when all else is right.
  const record = { ...document, number: '1', updatedAt: '' };
  const printed = { ...others, record, logo: undefined };
  if (!hasEInvoice(printed)) return "EN 16931 has no terms for it, so that it can't go over Peppol";
  const problems = peppolProblems(readDocument(printed));
  return problems.length === 0 ? undefined : `for Peppol, ${problems.join(', ')}`;
}
