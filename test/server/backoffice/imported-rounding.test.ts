import type { ChangeContent } from '../../../src/contract/feed.ts';
import { onSqlite } from './_backoffice.ts';
import { creditNoteOf, issued, line } from './_documents.ts';
import { balanceOf, issueElsewhere, item, totalsOf } from './_issued.ts';
import { amountsOf, importedLine, invoiceImport, openImporter } from './_imports.ts';

const first = importedLine({ quantity: '3', unitPriceMinor: 3333, amountMinor: 9999 });
const of101 = { quantity: '1.5', unitPriceMinor: 101, amountMinor: 152 };
const second = importedLine({ ...of101, vatRateBasisPoints: 1350 });
const standard = item('S', 2300, 9999, 2300);

const untaxed: [name: string, lines: ReturnType<typeof importedLine>[], vat: ReturnType<typeof item>][] = [
  ['what is exempt', [importedLine({ vatCategory: 'E', vatRateBasisPoints: 0 })], item('E', 0, 10_000, 1)],
  ['nothing', [importedLine({ quantity: '0', amountMinor: 0 })], item('S', 2300, 0, 1)],
  ['the other way round', [importedLine({ unitPriceMinor: 1, amountMinor: 1 })], item('S', 2300, 1, -1)],
];

onSqlite('no rounding makes VAT where there is none', async (t, office) => {
  const company = await openImporter(office);
  for (const [name, lines, vat] of untaxed) {
    const sums = { vatBreakdown: [vat], totals: totalsOf(vat.taxableMinor, vat.vatMinor) };
    const refusal = await company.refusal(invoiceImport({ lines, ...sums, tolerate: 'rounding' }));
    t.match(refusal, { code: 'wrong_sums', path: '/with/vatBreakdown/0/vatMinor' }, name);
  }
});

onSqlite('rounding is tolerated where that is asked for, and is kept', async (t, office) => {
  const company = await openImporter(office);
  const rounded: Partial<ChangeContent<'invoice.import'>> = {
    lines: [{ ...first, amountMinor: 10_000 }, second, second],
    // VAT that was rounded line by line.
    vatBreakdown: [standard, item('S', 1350, 303, 42)],
    totals: totalsOf(10_302, 2342),
  };
  t.match(await company.refusal(invoiceImport(rounded)), { code: 'wrong_sums' });
  const invoice = await company.apply(invoiceImport({ ...rounded, tolerate: 'rounding' }));
  t.match(invoice, rounded);
  t.equal(invoice.amountDueMinor, 12_644);
  await issueElsewhere(company, []);
  const lines = [line({ unitPriceMinor: 9999 }), line({ unitPriceMinor: 303, vatRateBasisPoints: 1350 })];
  const note = await issued(company, creditNoteOf(invoice, { lines }));
  t.strictSame(note.totals, rounded.totals, 'a credit note of it all gives back exactly what was charged');

  await issueElsewhere(company);
  const cheap = [
    importedLine({ quantity: '3', unitPriceMinor: 33, amountMinor: 98 }),
    importedLine({ unitPriceMinor: 100, amountMinor: 100 }),
  ];
  const other = invoiceImport({ number: 'RE-2', ...amountsOf(cheap), tolerate: 'rounding' });
  const cheaper = await company.apply(other);
  await issueElsewhere(company, []);
  const back = [line({ quantity: '3', unitPriceMinor: 33 }), line({ unitPriceMinor: 100 })];
  await issued(company, creditNoteOf(cheaper, { lines: back }));
  t.strictSame(await balanceOf(company, cheaper), [0, 0], 'by its own lines, too');
});
