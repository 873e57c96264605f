import { Profile, validateXsd } from '@stackforge-eu/factur-x';
import fc from 'fast-check';
import t from 'tap';

import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import { eInvoiceText } from '../../../src/server/e-invoice/e-invoice.ts';
import { openTestDatabase } from '../../_server.ts';
import { draftWithAmounts, splitQuantities } from '../backoffice/_amounts.ts';
import { createTestBackoffice } from '../backoffice/_backoffice.ts';
import { creditNoteOf, invoiceDraft, issue, issued, openIssuer } from '../backoffice/_documents.ts';
import { printedDocument } from '../invoice-pdf/_documents.ts';
import { parseXml } from '../invoice-pdf/_xml.ts';
import { brokenRules } from './_en16931-rules.ts';
import { termsIn } from './_terms.ts';

/** Credit notes of nothing aren't issued, and discounts of more than there is are refused. */
function onlyRefused(error: unknown): undefined {
  const isMeant = error instanceof Refusal && ['invalid_change', 'incomplete_document'].includes(error.code);
  if (!isMeant) throw error;
}

const cents = (texts: string[] = []) => texts.map((text) => Number(text.replace('.', '')));

t.test('record and both e-invoices agree, by all rules, whatever a document consists of', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const testBackoffice = createTestBackoffice(database);
  const company = await openIssuer(testBackoffice);
  let [invoiceCount, noteCount] = [0, 0];
  const agrees = async (id: string) => {
    const printed = await printedDocument(testBackoffice.engine, company, id);
    const cii = eInvoiceText(printed, 'cii');
    const { valid, errors } = await validateXsd(cii, Profile.EN16931);
    t.ok(valid, 'the schema', { errors });
    const xml = parseXml(cii);
    t.strictSame(brokenRules(xml), [], cii);
    const terms = termsIn(xml);
    t.strictSame(termsIn(parseXml(eInvoiceText(printed, 'ubl'))), terms);
    const { lines, vatBreakdown, totals, amountDueMinor } = printed.record;
    t.strictSame(
      ['BT-131', 'BT-116', 'BT-117', 'BT-109', 'BT-110', 'BT-112'].map((term) => cents(terms[term])),
      [
        lines.map(({ amountMinor }) => amountMinor),
        ...[
          vatBreakdown.map(({ taxableMinor }) => taxableMinor),
          vatBreakdown.map(({ vatMinor }) => vatMinor),
        ],
        ...[[totals.netMinor], [totals.vatMinor], [totals.grossMinor]],
      ],
    );
    if (amountDueMinor !== undefined) t.strictSame(cents(terms['BT-115']), [amountDueMinor]);
  };
  await fc.assert(
    fc.asyncProperty(draftWithAmounts, fc.array(fc.nat(9), { maxLength: 4 }), async (draft, some) => {
      const invoice = await issued(company, invoiceDraft(draft)).catch(onlyRefused);
      if (!invoice) return;
      invoiceCount += 1;
      await agrees(invoice.id);
      const { pricesIncludeVat = false } = draft;
      const [lines] = splitQuantities(draft.lines, some);
      const note = await company.apply(creditNoteOf(invoice, { lines, pricesIncludeVat }));
      if (note.lines.length === 0 || !(await company.apply(issue(note.id)).catch(onlyRefused))) return;
      noteCount += 1;
      await agrees(note.id);
    }),
    { numRuns: 60 },
  );
  t.ok(invoiceCount > 30 && noteCount > 10, `${invoiceCount} invoices and ${noteCount} credit notes`);
});
