import assert from 'node:assert/strict';
import fc from 'fast-check';

import { decimalAmount } from '../../../src/contract/currencies.ts';
import type { DraftLine, NewInvoice } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { without } from '../../model/_model.ts';
import { draftWithAmounts, linesAsShown, type RandomDraft, splitQuantities } from './_amounts.ts';
import { onSqlite, type TestCompany } from './_backoffice.ts';
import { creditNoteOf, documentOf, invoiceDraft, issue, issued, openIssuer } from './_documents.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';

const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);

/** Credit notes of nothing aren't issued, and discounts of more than there is are refused. */
function onlyRefused(error: unknown): undefined {
  const isMeant = error instanceof Refusal && ['invalid_change', 'incomplete_document'].includes(error.code);
  if (!isMeant) throw error;
}

interface Note {
  /** How many of each line are credited, of those that are left. */
  parts: readonly number[];
  /** Whether its lines have only the prices that the API shows, or that were given with VAT. */
  isAsShown: boolean;
  isReversed: boolean;
  /** So many per cent of what is left are credited in each category and rate, without lines of the invoice. */
  goodwill: number | undefined;
}

interface Tried {
  draft: RandomDraft;
  notes: readonly Note[];
}

type Item = Invoice['vatBreakdown'][number];
type Member = 'taxableMinor' | 'vatMinor';

/** The amounts that each of some notes takes in a category and rate. */
const takenOf = (notes: readonly Invoice[], item: Item, member: Member) =>
  notes.map(({ vatBreakdown }) =>
    sum(vatBreakdown.filter((one) => isLike(one, item)).map((one) => one[member])),
  );

const isLike = (one: Item, item: Item) =>
  one.category === item.category && one.rateBasisPoints === item.rateBasisPoints;

/** A percentage of the rest of an invoice in each category and rate, as lines that no line of it has the price of. */
function leftOf(
  invoice: Invoice,
  notes: readonly Invoice[],
  includesVat: boolean,
  percent = 100,
): DraftLine[] {
  const members: Member[] = includesVat ? ['taxableMinor', 'vatMinor'] : ['taxableMinor'];
  return invoice.vatBreakdown.map((item) => {
    const left = members.map((member) => item[member] - sum(takenOf(notes, item, member)));
    const vatCategory = item.category as DraftLine['vatCategory'];
    const unitPrice = decimalAmount(Math.floor((sum(left) * percent) / 100), 'EUR');
    const of = { vatCategory, vatRateBasisPoints: item.rateBasisPoints };
    return { description: 'Goodwill', quantity: '1', unitPrice, ...of };
  });
}

/**
 * Issues an invoice and credits all of it: in parts of lines, or of categories and rates, and then what is left.
 * @returns it and its notes; undefined when it comes to nothing.
 */
async function creditInParts(
  company: TestCompany,
  { draft, notes }: Tried,
): Promise<{ invoice: Invoice; issuedNotes: Invoice[] } | undefined> {
  const invoice = await issued(company, invoiceDraft(draft)).catch(onlyRefused);
  if (!invoice || invoice.totals.grossMinor === 0) return undefined;
  const { pricesIncludeVat = false } = draft;
  const issuedNotes: Invoice[] = [];
  const credit = async (given: Partial<NewInvoice>) => {
    const { id, totals } = await company.apply(creditNoteOf(invoice, { pricesIncludeVat, ...given }));
    // A note of nothing isn't issued.
    if (totals.grossMinor > 0) issuedNotes.push(await company.apply(issue(id)));
    return totals.grossMinor > 0;
  };
  const own = { allowances: [], charges: [] };
  let { lines } = draft;
  for (const { parts, isAsShown, isReversed, goodwill } of notes) {
    if (goodwill !== undefined) {
      await credit({ ...own, lines: leftOf(invoice, issuedNotes, pricesIncludeVat, goodwill) });
      continue;
    }
    const [some, rest] = splitQuantities(lines, parts);
    const shown = isAsShown ? some.map((line) => asShown(line, invoice, pricesIncludeVat)) : some;
    if (await credit({ lines: isReversed ? shown.toReversed() : shown })) lines = rest;
  }
  const isOfLines = notes.every(({ goodwill }) => goodwill === undefined);
  if (sum(issuedNotes.map(({ totals }) => totals.grossMinor)) < invoice.totals.grossMinor)
    await credit(isOfLines ? { lines } : { ...own, lines: leftOf(invoice, issuedNotes, pricesIncludeVat) });
  return { invoice: await documentOf(company, invoice.id), issuedNotes };
}

/** A line with its price alone: as the API shows it, or with VAT as it was given. */
function asShown(line: DraftLine, invoice: Invoice, includesVat: boolean): DraftLine {
  const shown = linesAsShown(invoice).find(({ description }) => description === line.description);
  const { quantity } = line;
  return includesVat || !shown ? without(line, 'allowances', 'charges') : { ...shown, quantity };
}

onSqlite('a credit note of no lines takes no charge', async (t, office) => {
  const company = await openIssuer(office);
  const of23 = { vatCategory: 'S' as const, vatRateBasisPoints: 2300 };
  const free = { description: 'Free of charge', quantity: '1', unitPriceMinor: 0, ...of23 };
  const charges = [{ amountMinor: 500, reasonCode: 'FC', ...of23 }];
  const invoice = await issued(company, invoiceDraft({ lines: [free], charges }));
  const draft = await company.apply(creditNoteOf(invoice, { lines: [] }));
  t.equal(draft.totals.grossMinor, 0);
  t.equal((await issued(company, creditNoteOf(invoice, { lines: [free] }))).totals.grossMinor, 615);
});

const note = fc.record({
  parts: fc.array(fc.nat(9), { minLength: 4, maxLength: 4 }),
  isAsShown: fc.boolean(),
  isReversed: fc.boolean(),
  goodwill: fc.constantFrom(undefined, undefined, undefined, 0, 7, 50, 100),
});

/** After an amount without a line, all lines together would be too much. */
const linesFirst = (notes: readonly Note[]) =>
  notes.toSorted((a, b) => Number(a.goodwill !== undefined) - Number(b.goodwill !== undefined));

onSqlite('whatever an invoice consists of, crediting it in parts comes back to zero', async (t, office) => {
  const company = await openIssuer(office);
  let [creditedCount, partCount] = [0, 0];
  const tried = fc.record({
    draft: draftWithAmounts,
    notes: fc.array(note, { maxLength: 4 }).map(linesFirst),
  });
  await fc.assert(
    fc.asyncProperty(tried, async (given) => {
      const found = await creditInParts(company, given);
      if (!found) return;
      const { invoice, issuedNotes } = found;
      creditedCount += 1;
      partCount += issuedNotes.length - 1;
      assert.deepEqual([invoice.amountDueMinor, invoice.creditBalanceMinor], [0, 0]);
      for (const item of invoice.vatBreakdown)
        for (const member of ['taxableMinor', 'vatMinor'] as const) {
          const taken = takenOf(issuedNotes, item, member);
          assert.equal(sum(taken), item[member], member);
          assert.ok(Math.min(...taken, 0) === 0, `${member} of ${taken.join(', ')}`);
        }
    }),
    // So many that luck alone hardly leaves too few parts.
    { numRuns: 150 },
  );
  t.ok(creditedCount > 40 && partCount > 60, `${creditedCount} invoices, ${partCount} in parts`);
});
