/**
 * Every gross amount from 0.01 to 10,000.00, at each rate in use: invoiced with prices that include VAT, and credited.
 * GROSS_AMOUNTS_WHOLE=1 works out all of them, and invoices 140,000.
 */
import t from 'tap';

import { vatOf } from '../../../src/contract/vat.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { addCredit, amountsTaken, chargedOn } from '../../../src/server/backoffice/credit-notes.ts';
import { chanceOf } from '../../model/_chance.ts';
import { onSqlite, type TestCompany } from './_backoffice.ts';
import { creditNoteOf, invoiceDraft, issued, line, openIssuer } from './_documents.ts';
import { balanceOf } from './_issued.ts';

const MAX = 1_000_000;
/** In basis points; 0 is category Z. */
const rates = [2300, 2000, 1350, 900, 500, 480, 0];
const isWhole = process.env.GROSS_AMOUNTS_WHOLE !== undefined;
/** A prime, so that every digit comes up at every place. */
const stride = isWhole ? 1 : 499;
const documentCount = isWhole ? 20_000 : 60;

const categoryAt = (rate: number) => (rate === 0 ? ('Z' as const) : ('S' as const));

/** The problems of the VAT that is taken out of an amount, and given back as a whole or in two parts. */
function problemOf(grossMinor: number, rateBasisPoints: number): string | undefined {
  const category = categoryAt(rateBasisPoints);
  const item = { category, rateBasisPoints, taxableMinor: grossMinor, vatMinor: 0 };
  const charged = chargedOn(item, true);
  if (charged.taxableMinor + charged.vatMinor !== grossMinor) return 'is another amount';
  // BR-CO-17 of EN 16931, whose validators take a minor unit either way for its rounding.
  if (Math.abs(charged.vatMinor - vatOf(charged)) > 1) return `has VAT of ${charged.vatMinor}`;
  const record = { vatBreakdown: [charged] } as Invoice;
  for (const first of [grossMinor, grossMinor >> 1]) {
    let earlier: Invoice['vatBreakdown'] = [];
    for (const taxableMinor of [first, grossMinor - first].filter((part) => part > 0)) {
      const credited = { record, earlier, earlierAccounted: [] };
      const note = { conversion: null, includesVat: true };
      const taken = amountsTaken(credited, note, [{ ...item, taxableMinor }]).vatBreakdown;
      earlier = addCredit(earlier, taken);
    }
    const [back] = earlier;
    if (back?.taxableMinor !== charged.taxableMinor || back.vatMinor !== charged.vatMinor)
      return `gives back ${JSON.stringify(back)}`;
  }
  return undefined;
}

t.test('VAT is taken out of every amount, and given back, to the minor unit', (t) => {
  for (const rate of rates) {
    const problems: string[] = [];
    let count = 0;
    for (let amount = 1; amount <= MAX; amount += stride, count += 1) {
      const problem = problemOf(amount, rate);
      if (problem !== undefined) problems.push(`${amount} ${problem}`);
    }
    t.strictSame(problems.slice(0, 9), [], `${count} amounts at ${rate} basis points`);
  }
  t.end();
});

/** Invoices one amount at each rate, and credits all of them, in one note or two. */
async function comeAndGo(company: TestCompany, amounts: readonly number[], noteCount: 1 | 2) {
  const linesOf = (part: (amount: number) => number) =>
    amounts.map((amount, index) => {
      const vatRateBasisPoints = rates[index] ?? 0;
      const of = { vatCategory: categoryAt(vatRateBasisPoints), vatRateBasisPoints };
      return line({ ...of, unitPriceMinor: part(amount) });
    });
  const pricesIncludeVat = true;
  const invoice = await issued(company, invoiceDraft({ pricesIncludeVat, lines: linesOf((all) => all) }));
  const parts =
    noteCount === 1
      ? [(all: number) => all]
      : [Math.floor, Math.ceil].map((round) => (all: number) => round(all / 2));
  for (const part of parts)
    await issued(company, creditNoteOf(invoice, { pricesIncludeVat, lines: linesOf(part) }));
  return { invoice, balance: await balanceOf(company, invoice) };
}

onSqlite('invoices come to each amount, and their credit notes back to zero', async (t, office) => {
  const company = await openIssuer(office);
  const { below, pick } = chanceOf(Date.now());
  const edges = [1, 2, 3, 49, 50, 51, 99, 100, 101, 12_345, 99_999, MAX - 1, MAX];
  for (let index = 0; index < documentCount; index += 1) {
    const amounts = rates.map(() => (index % 3 === 0 ? (pick(edges) ?? MAX) : 1 + below(MAX)));
    const { invoice, balance } = await comeAndGo(company, amounts, index % 2 === 0 ? 1 : 2);
    const grosses = invoice.vatBreakdown.map(({ taxableMinor, vatMinor }) => taxableMinor + vatMinor);
    t.strictSame([...grosses, ...balance], [...amounts, 0, 0], `${amounts.join(' ')}, credited`);
  }
});
