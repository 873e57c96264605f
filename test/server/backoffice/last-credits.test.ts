/** What credit notes take back last: the rest of a discount, and that of the rounding. */
import { onSqlite } from './_backoffice.ts';
import { creditNoteOf, documentOf, invoiceDraft, issued, line, openIssuer } from './_documents.ts';

onSqlite('a credit note takes back no more of a discount than its invoice gave', async (t, office) => {
  const company = await openIssuer(office);
  const reduced = { quantity: '-1', vatRateBasisPoints: 1350 };
  const withDiscount = (unitPriceMinor: number) => [line(), line({ ...reduced, unitPriceMinor })];
  const invoice = await issued(company, invoiceDraft({ lines: withDiscount(2_000) }));
  t.match(await company.refusal(creditNoteOf(invoice, { lines: withDiscount(2_001) })), {
    code: 'exceeds_invoice',
    message: /takes -2001 net in category S at 1350 .*, where -2000 is left/,
  });
  const note = await issued(company, creditNoteOf(invoice, { lines: withDiscount(2_000) }));
  t.strictSame(note.totals, invoice.totals);
});

onSqlite('the last credit note takes back the rounding that those before it left', async (t, office) => {
  const company = await openIssuer(office);
  const invoice = await issued(company, invoiceDraft({ roundingMinor: 4 }));
  const credited = async (unitPriceMinor: number, given = {}) =>
    issued(company, creditNoteOf(invoice, { lines: [line({ unitPriceMinor })], ...given }));
  await credited(4_000, { roundingMinor: 1 });
  t.equal((await documentOf(company, invoice.id)).amountDueMinor, 7_383);
  await credited(6_000);
  t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
});
