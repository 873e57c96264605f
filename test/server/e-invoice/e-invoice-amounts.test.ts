import { deepEqual } from 'node:assert/strict';
import { Profile, validateXsd } from '@stackforge-eu/factur-x';
import fc from 'fast-check';
import t from 'tap';

import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import type { DraftLine } from '../../../src/contract/feed.ts';
import { eInvoiceText, hasEInvoice } from '../../../src/server/e-invoice/e-invoice.ts';
import type { PrintedDocument } from '../../../src/server/invoice-pdf/printed-document.ts';
import { openTestDatabase } from '../../_server.ts';
import { creditNoteOf, invoiceDraft, issued, lineIn, openIssuer } from '../backoffice/_documents.ts';
import { createTestBackoffice } from '../backoffice/_backoffice.ts';
import { irishProfile } from '../backoffice/_parties.ts';
import { printedDocument } from '../invoice-pdf/_documents.ts';
import { brokenRules } from './_en16931-rules.ts';
import { parseXml, valuesOf } from '../invoice-pdf/_xml.ts';

const currencies = [
  { currency: 'EUR', digits: 2 },
  { currency: 'USD', digits: 2 },
  { currency: 'JPY', digits: 0 },
];
const rates = [2300, 1350, 900, 480, 50, 10_000];

const quantity = fc
  .tuple(fc.nat(7), fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 0, max: 6 }))
  .map(([chance, count, digits]) => {
    const text = (count / 10 ** digits).toFixed(digits);
    return chance === 0 && Number(text) !== 0 ? `-${text}` : text;
  });

const draftLine: fc.Arbitrary<DraftLine> = fc.record({
  // Letters that can be set, markup among them; one that is seen, so that the document can be issued.
  description: fc
    .string({
      maxLength: 40,
      unit: fc.constantFrom('a', '0', ' ', 'Ó', 'œ', '€', '½', 'ж', 'Ω', '<', '&', '>', '"', "'", '\n'),
    })
    .map((text) => `x${text}`),
  quantity,
  unitPriceMinor: fc.oneof(fc.nat(99), fc.nat(1_000_000)),
  unitCode: fc.constantFrom('C62', 'HUR', 'H87'),
  vatCategory: fc.constant('S' as const),
  vatRateBasisPoints: fc.constantFrom(...rates),
});
const otherLine: fc.Arbitrary<DraftLine> = fc
  .tuple(draftLine, fc.constantFrom('Z' as const, 'E' as const, 'AE' as const))
  .map(([line, category]) => ({ ...line, ...lineIn(category), unitPriceMinor: line.unitPriceMinor ?? 0 }));
const draft = fc.record({
  lines: fc.array(fc.oneof({ weight: 3, arbitrary: draftLine }, otherLine), { minLength: 1, maxLength: 12 }),
  in: fc.constantFrom(...currencies),
  isCreditNote: fc.boolean(),
});

function onlyRefused(error: unknown): undefined {
  if (!(error instanceof Refusal) || !/total is below zero/.test(error.message)) throw error;
}

/** Every amount of a document, as its record has it and in the order in which the e-invoice has it. */
function amountsOf({ record }: PrintedDocument): number[] {
  const { lines, vatBreakdown, totals, accountingCurrency } = record;
  return [
    ...lines.flatMap(({ unitPriceMinor, amountMinor }) => [unitPriceMinor, amountMinor]),
    ...vatBreakdown.flatMap(({ vatMinor, taxableMinor }) => [vatMinor, taxableMinor]),
    ...[totals.netMinor, totals.netMinor, totals.vatMinor],
    ...(accountingCurrency ? [accountingCurrency.totals.vatMinor] : []),
    ...[totals.grossMinor, totals.grossMinor],
  ];
}

/** The same as it is written, with as many decimals as the currency has. */
function written(amountMinor: number, digits: number): string {
  const scaled = 10n ** BigInt(digits);
  const size = BigInt(Math.abs(amountMinor));
  const fraction = digits === 0 ? '' : `.${String(size % scaled).padStart(digits, '0')}`;
  return `${amountMinor < 0 ? '-' : ''}${size / scaled}${fraction}`;
}

t.test('amounts of the e-invoice and of the record agree to the cent', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const testBackoffice = createTestBackoffice(database);
  await t.resolves(
    fc.assert(
      fc.asyncProperty(draft, async ({ lines, in: { currency, digits }, isCreditNote }) => {
        const company = await openIssuer(testBackoffice, {
          company: { profile: irishProfile },
          customer: { currency },
        });
        const exchange =
          currency === 'EUR'
            ? {}
            : {
                exchange: {
                  exchangeRate: '0.92717',
                  exchangeRateDate: '2026-11-19',
                  exchangeRateSource: 'ECB',
                },
              };
        const given = invoiceDraft({ lines, ...exchange });
        const invoice = await issued(company, given).catch(onlyRefused);
        // A credit note of nothing would be refused.
        if (!invoice || (isCreditNote && invoice.totals.grossMinor <= 0)) return;
        const { id } = isCreditNote ? await issued(company, creditNoteOf(invoice, { lines })) : invoice;
        const printed = await printedDocument(testBackoffice.engine, company, id);
        if (!hasEInvoice(printed)) return;
        const xml = eInvoiceText(printed, 'cii');
        const { valid, errors } = await validateXsd(xml, Profile.EN16931);
        if (!valid) throw new Error(JSON.stringify(errors));
        const document = parseXml(xml);
        const amounts = valuesOf(document, "//ram:*[ends-with(local-name(), 'Amount')]");
        const expected = amountsOf(printed).map((amount) => written(amount, digits));
        const at = amounts.length - 3;
        // The VAT in the national currency is in cents.
        if (printed.record.accountingCurrency) {
          expected[at] = written(printed.record.accountingCurrency.totals.vatMinor, 2);
        }
        deepEqual(amounts, expected);
        deepEqual(brokenRules(document), []);
      }),
      { numRuns: 150 },
    ),
  );
});
