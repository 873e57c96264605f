/** Changes of documents that were drafted or issued, quotes, and what is left of an invoice. */
import type { DraftLine, ChangeContent } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import type { Given, TestBackoffice, TestCompany } from './_backoffice.ts';
import { documentOf, invoiceDraft, issued, openIssuer } from './_documents.ts';

/** The rate of an invoice in a currency that isn't its company's. */
export const exchange = { exchangeRate: '0.8517', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' };

export function edit(id: string, given: Omit<ChangeContent<'invoice.edit'>, 'id'>): Given<'invoice.edit'> {
  return { change: 'invoice.edit', with: { id, ...given } };
}

/** Takes back a payment or a refund of an invoice. */
export const voided = (of: 'payment' | 'refund', { id: invoiceId }: { id: string }, id: string) => ({
  ...({ change: `${of}.void` } as const),
  with: { invoiceId, id },
});

export function quoteDraft(given: Partial<ChangeContent<'quote.draft'>> = {}): Given<'quote.draft'> {
  return { change: 'quote.draft', with: { customerId: 'cus_1', title: 'A boiler', ...given } };
}

/** A quote that is sent and accepted, and so can be converted. */
export async function acceptedQuote(company: TestCompany, given: Partial<ChangeContent<'quote.draft'>> = {}) {
  const { id } = await company.apply(quoteDraft(given));
  await company.apply({ change: 'quote.send', with: { id } });
  return company.apply({ change: 'quote.accept', with: { id } });
}

/** What is due on an invoice, and what is owed back of it. */
export async function balanceOf(company: TestCompany, { id }: { id: string }) {
  const { amountDueMinor, creditBalanceMinor } = await documentOf(company, id);
  return [amountDueMinor, creditBalanceMinor];
}

/** A company that has issued an invoice with some lines. */
export async function start(
  testBackoffice: TestBackoffice,
  lines: DraftLine[],
): Promise<{ company: TestCompany; invoice: Invoice }> {
  const company = await openIssuer(testBackoffice);
  return { company, invoice: await issued(company, invoiceDraft({ lines })) };
}

type Kinds = NonNullable<ChangeContent<'company.switch'>['issuedElsewhere']>;

/** Says which kinds of document the business system issues: all of them unless told. */
export async function issueElsewhere(
  company: Pick<TestCompany, 'apply'>,
  issuedElsewhere: Kinds = ['invoice', 'credit_note', 'quote'],
): Promise<void> {
  await company.apply({ change: 'company.switch', with: { issuedElsewhere } });
}

/** The kinds of the events that a company has sent. */
export const kindsOf = async (company: TestCompany) => (await company.events()).map(({ kind }) => kind);
/** An item of a breakdown. */
export const item = (category: string, rateBasisPoints: number, taxableMinor: number, vatMinor: number) => {
  return { category, rateBasisPoints, taxableMinor, vatMinor };
};
export const totalsOf = (netMinor: number, vatMinor: number) => {
  return { netMinor, vatMinor, grossMinor: netMinor + vatMinor };
};
