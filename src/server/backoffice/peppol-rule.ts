import { inexpressible } from '../e-invoice/expressible.ts';
import { peppolProblems } from '../e-invoice/peppol.ts';
import { toEInvoice } from '../e-invoice/reading.ts';
import type { CheckedDocument, LegalRule } from './legal-checklist.ts';

/** The legal rule that a document sent over Peppol must pass Peppol's own checks. */
export const peppolRule: LegalRule = {
  item: 'what Peppol asks for, where the customer has its documents by it',
  source: 'Peppol BIS Billing 3',
  problem: (checked) => (checked.terms?.isPeppol ? problemOf(checked) : undefined),
};

/** Returns a document as it would be printed, with a stand-in number: the real one is assigned after all checks. */
export function asPrinted({ document, ...others }: CheckedDocument) {
  return {
    ...others,
    record: { ...document, number: '1', updatedAt: '' },
    logo: undefined,
  };
}

function problemOf(checked: CheckedDocument): string | undefined {
  const printed = asPrinted(checked);
  const problem = inexpressible(printed);
  if (problem !== undefined) return `${problem}, so that it can't go over Peppol`;
  const problems = peppolProblems(toEInvoice(printed));
  return problems.length === 0 ? undefined : `for Peppol, ${problems.join(', ')}`;
}
