/** Companies that issue documents, and the documents that they draft. */
import type { CompanySettings } from '../../../src/server/backoffice/companies.ts';
import type { DraftLine, NewInvoice, ChangeContent } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { customerSave } from './_changes.ts';
import type { Given, TestCompany, TestBackoffice } from './_backoffice.ts';
import { customerIn, irishCompany } from './_parties.ts';

/** A line of 100.00 at the Irish standard rate, unless something else is given. */
export function line(given: Partial<DraftLine> = {}): DraftLine {
  return {
    description: 'Labour',
    quantity: '1',
    ...(given.unitPrice === undefined ? { unitPriceMinor: 10_000 } : {}),
    vatCategory: 'S',
    vatRateBasisPoints: 2300,
    ...given,
  };
}

export function lineIn(vatCategory: DraftLine['vatCategory'], given: Partial<DraftLine> = {}): DraftLine {
  const reason = vatCategory === 'E' ? { vatExemptionReason: 'Exempt: VATCA 2010 Sch 1 para 7' } : {};
  return line({ vatCategory, vatRateBasisPoints: 0, ...reason, ...given });
}

export function invoiceDraft(given: Partial<NewInvoice> = {}): Given<'invoice.draft'> {
  return {
    change: 'invoice.draft',
    with: { kind: 'invoice', customerId: 'cus_1', lines: [line()], ...given },
  };
}

export function creditNoteOf(
  { id: creditsInvoiceId, customer }: Pick<Invoice, 'id' | 'customer'>,
  given: Partial<NewInvoice> = {},
): Given<'invoice.draft'> {
  const what = { creditsInvoiceId, customerId: customer.id, note: 'Two hours were charged twice.' };
  return invoiceDraft({ kind: 'credit_note', ...what, ...given });
}

export function issue(id: string): Given<'invoice.issue'> {
  return { change: 'invoice.issue', with: { id } };
}

export function payment(
  { id: invoiceId, currency }: Pick<Invoice, 'id' | 'currency'>,
  given: Partial<ChangeContent<'payment.record'>> = {},
): Given<'payment.record'> {
  return {
    change: 'payment.record',
    with: { invoiceId, currency, amountMinor: 12_300, method: 'bank_transfer', ...given },
  };
}

export function refund(
  { id: invoiceId, currency }: Pick<Invoice, 'id' | 'currency'>,
  given: Partial<ChangeContent<'refund.record'>> = {},
): Given<'refund.record'> {
  return {
    change: 'refund.record',
    with: { invoiceId, currency, amountMinor: 1000, method: 'bank_transfer', ...given },
  };
}

export async function issued(company: TestCompany, draft: Given<'invoice.draft'>): Promise<Invoice> {
  const { id } = await company.apply(draft);
  return company.apply(issue(id));
}

/** A company with the customer `cus_1`: an Irish one with an Irish customer, unless something else is given. */
export async function openIssuer(
  { openCompany }: Pick<TestBackoffice, 'openCompany'>,
  {
    company: settings = irishCompany,
    customer = {},
  }: { company?: Partial<CompanySettings>; customer?: Partial<ChangeContent<'customer.save'>> } = {},
): Promise<TestCompany> {
  const company = await openCompany(settings);
  await company.apply(
    customerSave({ id: 'cus_1', ...customerIn('IE', 'EUR'), paymentTermsDays: 30, ...customer }),
  );
  return company;
}

/** Issues a credit note with some lines. */
export const credit = (company: TestCompany, invoice: Invoice, lines: DraftLine[]) =>
  issued(company, creditNoteOf(invoice, { lines }));

/** A document as it is read, with its summary and details. */
export async function documentOf(company: TestCompany, id: string): Promise<Invoice> {
  const found = await company.record('invoices', id);
  if (!found) throw new Error(`There is no document ${id}.`);
  return found;
}
