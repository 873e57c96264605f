import type { Mutant } from './_mutant.ts';

const settlement = ['test/server/backoffice/settlement.test.ts'];
const creditNotes = ['test/server/backoffice/credit-notes.test.ts'];
const lastCredits = ['test/server/backoffice/last-credits.test.ts'];
const creditedAmounts = ['test/server/backoffice/credited-amounts.test.ts'];
const documentAmounts = ['test/server/backoffice/document-amounts.test.ts'];
const vat = ['test/contract/vat.test.ts'];

/** Amounts: rounding, VAT, payments and refunds, prepayments, and what credit notes give back. */
export const money: readonly Mutant[] = [
  {
    fault: 'half a cent is rounded down',
    file: 'src/contract/exact.ts',
    from: '(2n * magnitude + denominator)',
    to: '(2n * magnitude + denominator - 1n)',
    tests: vat,
  },
  {
    fault: 'of prices with VAT, the line with the smallest fraction of a cent is rounded up',
    file: 'src/contract/vat.ts',
    from: 'Number(b.fraction - a.fraction)',
    to: 'Number(a.fraction - b.fraction)',
    tests: ['test/model/model.test.ts', 'test/server/e-invoice/random-documents.test.ts'],
  },
  {
    fault: 'VAT in the currency of the accounts is worked out from the converted net',
    file: 'src/contract/vat.ts',
    from: 'vatMinor: convertMinor(item.vatMinor, conversion)',
    to: 'vatMinor: vatOf({ ...item, taxableMinor: convertMinor(item.taxableMinor, conversion) })',
    tests: vat,
  },
  {
    fault: 'a refund may be a cent more than was received',
    file: 'src/server/backoffice/payments.ts',
    from: 'if (given.amountMinor > paidMinor - refundedMinor) {',
    to: 'if (given.amountMinor > paidMinor - refundedMinor + 1) {',
    tests: settlement,
  },
  {
    fault: 'the id of a voided payment may be used again',
    file: 'src/server/backoffice/payments.ts',
    from: 'payments, invoice.unpublished.voidedPayments);',
    to: 'payments, []);',
    tests: settlement,
  },
  {
    fault: 'the id of a voided refund may be used again',
    file: 'src/server/backoffice/payments.ts',
    from: 'refunds, invoice.unpublished.voidedRefunds);',
    to: 'refunds, []);',
    tests: settlement,
  },
  {
    fault: 'the day of a refund may be still to come',
    file: 'src/server/backoffice/payments.ts',
    from: "refundedOn: dayOf(move, given.refundedOn, 'refundedOn')",
    to: 'refundedOn: given.refundedOn ?? move.today',
    tests: [...settlement, 'test/server/backoffice/days-to-come.test.ts'],
  },
  {
    fault: 'a payment may be of the day after tomorrow',
    file: 'src/server/backoffice/times.ts',
    from: 'const AHEAD_DAYS_MAX = 1;',
    to: 'const AHEAD_DAYS_MAX = 2;',
    tests: ['test/server/backoffice/days-to-come.test.ts', ...settlement],
  },
  {
    fault: 'an invoice that becomes settled by something else than a payment is not announced as paid',
    file: 'src/server/backoffice/settlement.ts',
    from: 'if (isSettled && !wasSettled)',
    to: 'if (payment && isSettled && !wasSettled)',
    tests: ['test/model/model.test.ts'],
  },
  {
    fault: 'a credit note may take a cent more than is left of its invoice',
    file: 'src/server/backoffice/credit-notes.ts',
    from: 'minor >= 0 && minor <= leftMinor',
    to: 'minor >= 0 && minor <= leftMinor + 1',
    tests: creditNotes,
  },
  {
    fault: 'a credit note may take back more of a discount than the invoice gave',
    file: 'src/server/backoffice/credit-notes.ts',
    from: 'minor <= 0 && minor >= leftMinor',
    to: 'minor <= 0',
    tests: lastCredits,
  },
  {
    fault: 'parts of a line are each rounded by themselves',
    file: 'src/server/backoffice/credited-parts.ts',
    from: 'amountMinor: upToMinor - taken.amountMinor,',
    to: 'amountMinor: proportionMinor(originMinor, quantity, whole),',
    tests: creditedAmounts,
  },
  {
    fault: 'a second credit note takes the discount of the document back once more',
    file: 'src/server/backoffice/credited-parts.ts',
    from: 'Math.min(upToMinor, totalMinor) - takenMinor)',
    to: 'Math.min(upToMinor, totalMinor))',
    tests: creditedAmounts,
  },
  {
    fault: 'the last credit note takes back rounding that an earlier one took',
    file: 'src/server/backoffice/prepayments.ts',
    from: 'return (credited.unpublished.amounts?.roundingMinor ?? 0) - takenMinor;',
    to: 'return credited.unpublished.amounts?.roundingMinor ?? 0;',
    tests: lastCredits,
  },
  {
    fault: 'each discount of a document may take all of its lines',
    file: 'src/server/backoffice/document-amounts.ts',
    from: 'allowances.slice(0, index + 1)',
    to: 'allowances.slice(index, index + 1)',
    tests: documentAmounts,
  },
  {
    fault: 'an invoice that is collected by direct debit asks its customer to pay',
    file: 'src/server/printed-document/means-of-payment.ts',
    from: "const DIRECT_DEBITS = ['49', '59'];",
    to: "const DIRECT_DEBITS = ['59'];",
    tests: ['test/server/printed-document/means-of-payment.test.ts'],
  },
];
