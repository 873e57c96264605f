/** Documents that a business system has issued. */
import type { ChangeContent } from '../../../src/contract/feed.ts';
import { totals, vatBreakdown } from '../../../src/contract/vat.ts';
import type { Given, TestBackoffice, TestCompany } from './_backoffice.ts';
import { openIssuer } from './_documents.ts';
import { issueElsewhere } from './_issued.ts';

export type ImportedLine = ChangeContent<'invoice.import'>['lines'][number];

/** A line of 100.00 at the Irish standard rate, unless something else is given. */
export function importedLine(given: Partial<ImportedLine> = {}): ImportedLine {
  return {
    description: 'Labour',
    quantity: '1',
    unitPriceMinor: 10_000,
    amountMinor: 10_000,
    vatCategory: 'S',
    vatRateBasisPoints: 2300,
    ...given,
  };
}

/** Lines with the sums that belong to them. */
export function amountsOf(lines: ImportedLine[] = [importedLine()]) {
  const items = vatBreakdown(lines);
  return { lines, vatBreakdown: items, totals: totals(items) };
}

const common = { customerId: 'cus_1', currency: 'EUR' };

export function invoiceImport(given: Partial<ChangeContent<'invoice.import'>> = {}): Given<'invoice.import'> {
  const own = { number: 'RE-1041', issueDate: '2026-10-05' };
  return { change: 'invoice.import', with: { ...common, ...own, ...amountsOf(), ...given } };
}

export function creditNoteImport(
  creditsInvoiceId: string,
  given: Partial<ChangeContent<'credit_note.import'>> = {},
): Given<'credit_note.import'> {
  const own = { number: 'GS-17', issueDate: '2026-10-20', creditsInvoiceId };
  return { change: 'credit_note.import', with: { ...common, ...own, ...amountsOf(), ...given } };
}

export function quoteImport(given: Partial<ChangeContent<'quote.import'>> = {}): Given<'quote.import'> {
  const own = { number: 'AN-5', title: 'A new boiler', status: 'sent' as const, sentDate: '2026-10-01' };
  return { change: 'quote.import', with: { ...common, ...own, ...amountsOf(), ...given } };
}

/** A company with the customer `cus_1`, whose business system issues every document. */
export async function openImporter(
  testBackoffice: Pick<TestBackoffice, 'openCompany'>,
  given: Parameters<typeof openIssuer>[1] = {},
): Promise<TestCompany> {
  const company = await openIssuer(testBackoffice, given);
  await issueElsewhere(company);
  return company;
}
