import type { EInvoice, Line, Period } from './model.ts';

/** Direct debits of UNTDID 4461. */
const DIRECT_DEBITS = ['49', '59'];

/** Peppol's list of schemes has no letters, such as EM for e-mail (PEPPOL-EN16931-CL008). */
const PEPPOL_SCHEME = /^\d{4}$/;

/** Invoices that Peppol takes between German companies alone, or in another process (PEPPOL-EN16931-P0100 and P0112). */
const OTHER_TYPES = ['204', '326', '384', '387', '389'];

/** The members of Peppol BIS Billing 3 that an e-invoice lacks, beyond the norm, in the words of the feed. */
export function peppolProblems(invoice: EInvoice): string[] {
  const { seller, buyer, payment, invoicingPeriod, lines } = invoice;
  const isDirectDebit = payment !== undefined && DIRECT_DEBITS.includes(payment.meansCode);
  const hasReference = invoice.buyerReference ?? invoice.purchaseOrderReference;
  return [
    ...addressProblems("the company's", seller),
    ...addressProblems("the customer's", buyer),
    ...(hasReference ? [] : ['it has neither a buyerReference nor a purchaseOrderReference']),
    ...(OTHER_TYPES.includes(invoice.typeCode) ? [`it has the typeCode ${invoice.typeCode}`] : []),
    ...(isDirectDebit && !payment.directDebit?.mandate ? ['its payment has no mandateReference'] : []),
    ...lines.filter((line) => isOutside(line, invoicingPeriod)).map(periodProblem),
  ];
}

/** PEPPOL-EN16931-R010 and R020. */
function addressProblems(whose: string, { electronicAddress }: EInvoice['seller']): string[] {
  if (!electronicAddress) return [`${whose} electronicAddress is missing`];
  const { scheme = '' } = electronicAddress;
  return PEPPOL_SCHEME.test(scheme) ? [] : [`${whose} electronicAddress has the scheme ${scheme}`];
}

/** PEPPOL-EN16931-R110 and R111. */
function isOutside({ period }: Line, whole: Period | undefined): boolean {
  return (
    period !== undefined &&
    whole !== undefined &&
    (period.startDate < whole.startDate || period.endDate > whole.endDate)
  );
}

function periodProblem({ id }: Line): string {
  return `line ${id} has a supplyPeriod that isn't within the document's`;
}
