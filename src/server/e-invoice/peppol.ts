import { isNumberIn } from '../../contract/vat-numbers.ts';
import type { AllowanceCharge, EInvoice, Identifier, Line, Period } from './model.ts';

/** Payment means codes (UNTDID 4461) of direct debits. */
const DIRECT_DEBITS = ['49', '59'];

/** Matches EAS schemes that Peppol accepts: no letters, such as EM for email, nor these numbers (PEPPOL-EN16931-CL008). */
const PEPPOL_SCHEME =
  /^(?!0037|0147|0154|0158|0170|0177|0193|0194|0202|0203|0205|0212|0213|0215|0217|0219|0220)\d{4}$/;

/** Form or stdnum validator of the registration numbers that Peppol checks (PEPPOL-COMMON-R041 to R053), by scheme. */
const registers: Partial<Record<string, RegExp | string>> = {
  '0007': 'se/orgnr',
  '0096': /^\d{10}$/,
  '0151': 'au/abn',
  '0184': /^(?:\d{8}|DK\d{8})$/,
  '0192': 'no/orgnr',
  '0198': /^DK\d{8}$/,
  '0208': 'be/vat',
};

/** Invoice types that Peppol accepts only between German firms or in other processes (PEPPOL-EN16931-P0100 and P0112). */
const OTHER_TYPES = ['204', '326', '384', '387', '389'];

/** Returns the rules of Peppol BIS Billing 3 beyond EN 16931 that an e-invoice breaks, naming the feed's members. */
export function peppolProblems(invoice: EInvoice): string[] {
  const { seller, buyer, payment, invoicingPeriod, lines } = invoice;
  const isDirectDebit = payment !== undefined && DIRECT_DEBITS.includes(payment.meansCode);
  const hasReference = invoice.buyerReference ?? invoice.purchaseOrderReference;
  return [
    ...addressProblems('the company', seller),
    ...addressProblems('the customer', buyer),
    ...(hasReference ? [] : ['the document has no buyer reference or purchase order reference']),
    ...(OTHER_TYPES.includes(invoice.typeCode) ? [`it has the typeCode ${invoice.typeCode}`] : []),
    ...(isDirectDebit && !payment.directDebit?.mandate ? ['its payment has no mandateReference'] : []),
    // Each account has its own payment means, and only one has the mandate (UBL-SR-55, PEPPOL-EN16931-R061).
    ...(isDirectDebit && payment.accounts.length > 1 ? ['its direct debit has several accounts'] : []),
    ...[invoice, ...lines]
      .flatMap(({ allowanceCharges }) => allowanceCharges)
      .filter(isShareless)
      .map(shareProblem),
    ...lines.filter((line) => isOutside(line, invoicingPeriod)).map(periodProblem),
    ...lines.filter(isRounded).map(roundingProblem),
    ...identifiersOf(invoice).filter(isWrong).map(identifierProblem),
  ];
}

/** Returns the problems with a party's electronic address (PEPPOL-EN16931-R010 and R020). */
function addressProblems(who: string, { electronicAddress }: EInvoice['seller']): string[] {
  if (!electronicAddress) return [`${who} has no electronic address`];
  const { scheme = '' } = electronicAddress;
  return PEPPOL_SCHEME.test(scheme) ? [] : [`${who} has an electronic address with the scheme ${scheme}`];
}

/** Whether a discount or charge has a base without a percentage (PEPPOL-EN16931-R042). */
function isShareless({ base, percent }: AllowanceCharge): boolean {
  return base !== undefined && percent === undefined;
}

function shareProblem({ isCharge, amount, base }: AllowanceCharge): string {
  return `its ${isCharge ? 'charge' : 'discount'} of ${amount} has a base, ${base}, and no percent`;
}

/** Whether a line's period extends beyond the invoice's (PEPPOL-EN16931-R110 and R111). */
function isOutside({ period }: Line, whole: Period | undefined): boolean {
  const { startDate = '', endDate = '' } = whole ?? {};
  return (
    whole !== undefined &&
    ((period?.startDate ?? startDate) < startDate || (period?.endDate ?? endDate) > endDate)
  );
}

function periodProblem({ id }: Line): string {
  return `line ${id} has a supplyPeriod that isn't within the document's`;
}

/** Whether a line's net differs from its computed amount, as rounding to whole yen can cause (PEPPOL-EN16931-R120). */
function isRounded({ net, quantity, netPrice, priceBaseQuantity = '1', allowanceCharges }: Line): boolean {
  const added = allowanceCharges.reduce(
    (sum, { isCharge, amount }) => sum + (isCharge ? Number(amount) : -Number(amount)),
    (Number(quantity) * Number(netPrice)) / Number(priceBaseQuantity),
  );
  return Math.abs(Number(net) - added) > 0.02;
}

function roundingProblem({ id, net }: Line): string {
  return `line ${id} comes to ${net}, more than 0.02 from its quantity times its price`;
}

function identifiersOf({ seller, buyer, payee }: EInvoice): Identifier[] {
  return [seller, buyer]
    .flatMap((party) => [party.electronicAddress, party.registration, ...party.identifiers])
    .concat(payee?.identifier, payee?.registration)
    .filter((one) => one !== undefined);
}

function isWrong({ id, scheme = '' }: Identifier): boolean {
  const register = registers[scheme];
  if (register === undefined) return false;
  return typeof register === 'string' ? !isNumberIn(register, id) : !register.test(id);
}

function identifierProblem({ id, scheme }: Identifier): string {
  return `${id} doesn't have the form or the check digits of scheme ${scheme}`;
}
