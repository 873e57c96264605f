import type { Mutant } from './_mutant.ts';

const numbers = ['test/server/backoffice/numbers.test.ts'];
const imports = ['test/server/backoffice/imports.test.ts'];
const incomplete = ['test/server/backoffice/incomplete-documents.test.ts'];
const eInvoice = ['test/server/e-invoice/e-invoice.test.ts'];
const eInvoiceLimits = ['test/server/e-invoice/e-invoice-limits.test.ts'];

/** Invoices and quotes: their numbers and days, what the law asks for, what comes in from elsewhere, and e-invoices. */
export const documents: readonly Mutant[] = [
  {
    fault: "a series begins anew with the year of UTC, and not of the company's calendar",
    file: 'src/server/backoffice/issue-invoice.ts',
    from: 'takeNumber(move, issued.kind, move.today)',
    to: 'takeNumber(move, issued.kind, move.at.slice(0, 10))',
    tests: numbers,
  },
  {
    fault: 'quotes of another company hold up a series of numbers',
    file: 'src/server/store/records/number-series.ts',
    from: "WHERE company = ${company} AND ${sql.lit(kinds.includes('quote'))}",
    to: "WHERE ${sql.lit(kinds.includes('quote'))}",
    tests: [...numbers, 'test/server/store/records/number-series.test.ts'],
  },
  {
    fault: 'an imported credit note takes a number of the invoices that are issued here',
    file: 'src/server/store/records/number-series.ts',
    from: "(unpublished ->> 'isImported' IS NULL OR kind IN (${sql.join(kinds)}))",
    to: '(kind IN (${sql.join(kinds)}) OR TRUE)',
    tests: ['test/server/backoffice/imports-afterwards.test.ts'],
  },
  {
    fault: 'a clock that was set back numbers documents before the last one',
    file: 'src/server/backoffice/numbering.ts',
    from: '  if (day <= today) return;',
    to: '  if (day > today) return;',
    tests: numbers,
  },
  {
    fault: 'an invoice that is due on the day of its issue can not be issued',
    file: 'src/server/backoffice/legal-checklist.ts',
    from: 'issueDate !== null && dueDate < issueDate',
    to: 'issueDate !== null && dueDate <= issueDate',
    tests: ['test/model/model.test.ts'],
  },
  {
    fault: "goods to a customer of the supplier's own country are taken for intra-community ones",
    file: 'src/server/backoffice/vat-rules.ts',
    from: '!euVatPrefixes.includes(prefix) || prefix === from',
    to: '!euVatPrefixes.includes(prefix)',
    tests: incomplete,
  },
  {
    fault: 'a quote can not be accepted on its last day',
    file: 'src/server/backoffice/quotes.ts',
    from: 'stored.validUntil < move.today',
    to: 'stored.validUntil <= move.today',
    tests: ['test/server/backoffice/quote-answers.test.ts'],
  },
  {
    fault: 'a quote can not be sent on its last day',
    file: 'src/server/backoffice/quotes.ts',
    from: 'draft.validUntil < move.today',
    to: 'draft.validUntil <= move.today',
    tests: ['test/model/model.test.ts'],
  },
  {
    fault: "an imported invoice was issued at the midnight of UTC, and not of the company's zone",
    file: 'src/server/backoffice/imports.ts',
    from: 'companyInstant(move.company.timeZone, `${issueDate}T00:00`)',
    to: "companyInstant('UTC', `${issueDate}T00:00`)",
    tests: imports,
  },
  {
    fault: 'a credit note of the day of its invoice can not be imported',
    file: 'src/server/backoffice/imports.ts',
    from: "if (issueDate < (invoice.issueDate ?? ''))",
    to: "if (issueDate <= (invoice.issueDate ?? ''))",
    tests: ['test/server/backoffice/imports-afterwards.test.ts'],
  },
  {
    fault: 'the amount due of an e-invoice leaves out what was paid before',
    file: 'src/server/e-invoice/reading-amounts.ts',
    from: 'due: text(payableMinor(totals, amounts))',
    to: 'due: text(payableMinor(totals, amounts && { ...amounts, prepayments: [] }))',
    tests: eInvoice,
  },
  {
    fault: 'the base of a discount in an e-invoice has VAT in it where prices have',
    file: 'src/server/e-invoice/reading-amounts.ts',
    from: 'isWithVat ? baseMinor - vatWithinMinor(baseMinor, vatRateBasisPoints) : baseMinor',
    to: 'baseMinor',
    tests: eInvoiceLimits,
  },
  {
    fault: 'the VAT in the currency of the accounts has the decimals of another currency',
    file: 'src/server/e-invoice/reading.ts',
    from: 'decimalAmount(totals.vatMinor, other)',
    to: 'decimalAmount(totals.vatMinor, currency)',
    tests: eInvoiceLimits,
  },
  {
    fault: 'a line whose period ends after that of its document goes to Peppol',
    file: 'src/server/e-invoice/peppol.ts',
    from: ' || (period?.endDate ?? endDate) > endDate)',
    to: ')',
    tests: eInvoiceLimits,
  },
];
