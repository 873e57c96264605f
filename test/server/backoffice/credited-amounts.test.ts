import fc from 'fast-check';
import t from 'tap';

import type { Invoice } from '../../../src/contract/records.ts';
import { openTestDatabase } from '../../_server.ts';
import { draftWithAmounts, linesAsShown, type RandomDraft, splitQuantities } from './_amounts.ts';
import { createTestBackoffice, type TestCompany } from './_backoffice.ts';
import { creditNoteOf, documentOf, invoiceDraft, issue, issued, openIssuer } from './_documents.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/** Credit notes of nothing aren't issued, and discounts of more than there is are refused. */
function onlyRefused(error: unknown): undefined {
  const isMeant = error instanceof Refusal && ['invalid_change', 'incomplete_document'].includes(error.code);
  if (!isMeant) throw error;
}

interface Tried {
  draft: RandomDraft;
  parts: readonly number[];
  /** Whether lines are credited with the prices that the API shows. */
  isAsShown: boolean;
}

/** Issues an invoice and credits it in two parts. @returns it and its notes; undefined when it comes to nothing. */
async function creditInParts(
  company: TestCompany,
  { draft, parts, isAsShown }: Tried,
): Promise<{ after: Invoice; notes: Invoice[] } | undefined> {
  const invoice = await issued(company, invoiceDraft(draft)).catch(onlyRefused);
  if (!invoice || invoice.totals.grossMinor === 0) return undefined;
  const { pricesIncludeVat = false } = draft;
  const lines = isAsShown && !pricesIncludeVat ? linesAsShown(invoice) : draft.lines;
  const [first, rest] = splitQuantities(lines, parts);
  const part = await company.apply(creditNoteOf(invoice, { lines: first, pricesIncludeVat }));
  const { grossMinor } = part.totals;
  // A note of nothing isn't issued, and after one of everything nothing is left.
  if (grossMinor > 0) await company.apply(issue(part.id));
  if (grossMinor < invoice.totals.grossMinor) {
    await issued(company, creditNoteOf(invoice, { lines: grossMinor > 0 ? rest : lines, pricesIncludeVat }));
  }
  const after = await documentOf(company, invoice.id);
  const notes: Invoice[] = [];
  for (const { id } of after.creditNotes) notes.push(await documentOf(company, id));
  return { after, notes };
}

t.test('a credit note of no lines takes no charge', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const company = await openIssuer(createTestBackoffice(database));
  const of23 = { vatCategory: 'S' as const, vatRateBasisPoints: 2300 };
  const free = { description: 'Free of charge', quantity: '1', unitPriceMinor: 0, ...of23 };
  const charges = [{ amountMinor: 500, reasonCode: 'FC', ...of23 }];
  const invoice = await issued(company, invoiceDraft({ lines: [free], charges }));
  const draft = await company.apply(creditNoteOf(invoice, { lines: [] }));
  t.equal(draft.totals.grossMinor, 0);
  t.equal((await issued(company, creditNoteOf(invoice, { lines: [free] }))).totals.grossMinor, 615);
});

t.test('whatever an invoice consists of, crediting it in parts comes back to zero', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const company = await openIssuer(createTestBackoffice(database));
  let [creditedCount, partCount] = [0, 0];
  const parts = fc.array(fc.nat(9), { minLength: 4, maxLength: 4 });
  const tried = fc.record({ draft: draftWithAmounts, parts, isAsShown: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(tried, async (given) => {
      const found = await creditInParts(company, given);
      if (!found) return;
      const { after, notes } = found;
      creditedCount += 1;
      partCount += notes.length - 1;
      t.strictSame([after.amountDueMinor, after.creditBalanceMinor], [0, 0], JSON.stringify(given));
      for (const member of ['netMinor', 'vatMinor', 'grossMinor'] as const)
        t.equal(sum(notes.map(({ totals }) => totals[member])), after.totals[member], member);
    }),
    { numRuns: 150 },
  );
  t.ok(creditedCount > 60 && partCount > 30, `${creditedCount} invoices, ${partCount} in parts`);
});
