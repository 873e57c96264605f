import fc from 'fast-check';
import t from 'tap';
import { lineAmountMinor, totals, vatBreakdown } from '../../../src/contract/vat.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { decimalAmount, rateText } from '../../../src/contract/currencies.ts';
import { moneyFormat, quantityText } from '../../../src/server/invoice-pdf/amounts.ts';
import type { PrintedDocument } from '../../../src/server/invoice-pdf/printed-document.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { exampleDocuments } from './_documents.ts';
import { hasAmounts, minorOf, placedTexts, rowsOf } from './_reading.ts';

const renderer = createRenderer();
const examples = await exampleDocuments();
const example = examples.find(({ name }) => name === 'issued invoice, Irish, four rates');
if (!example) throw new Error('there is no invoice to vary');
const { document: plain } = example;

/** Decimals of each currency's smallest unit. */
const currencies = { EUR: 2, GBP: 2, JPY: 0, KWD: 3 };

const anyLine = fc.record({
  quantity: fc
    .tuple(fc.integer({ min: -999, max: 99_999 }), fc.integer({ min: 0, max: 999_999 }))
    .map(([whole, part]) => `${whole}.${String(part).padStart(6, '0')}`),
  unitPriceMinor: fc.integer({ min: 0, max: 9_999_999 }),
  vatRateBasisPoints: fc.constantFrom(2300, 1350, 900, 480, 2000, 500),
});
const anyDocument = fc.record({
  currency: fc.constantFrom(...(Object.keys(currencies) as (keyof typeof currencies)[])),
  lines: fc.array(anyLine, { minLength: 1, maxLength: 40 }),
});

function documentOf(currency: string, lines: readonly Partial<Invoice['lines'][number]>[]): PrintedDocument {
  const [template] = plain.record.lines;
  if (!template) throw new Error('the example has no line');
  const computed = lines.map((line, index) => ({
    ...template,
    ...line,
    id: `lin_${index}`,
    position: index + 1,
    description: `Item ${index + 1}`,
    amountMinor: lineAmountMinor(line.quantity ?? '1', line.unitPriceMinor ?? 0),
  }));
  const breakdown = vatBreakdown(computed);
  const record = {
    ...plain.record,
    currency,
    lines: computed,
    vatBreakdown: breakdown,
    totals: totals(breakdown),
  };
  return { ...plain, record };
}

t.test('every amount of a document is the amount of its record, to the smallest unit', async (t) => {
  const property = fc.asyncProperty(anyDocument, async ({ currency, lines }) => {
    const document = documentOf(currency, lines);
    const { record } = document;
    const rows = rowsOf(await placedTexts(await renderer.render(document)));
    for (const line of record.lines) {
      const row = rows.find(([first]) => first === line.description) ?? [];
      const [unitPrice = '', , amount = ''] = row.slice(-3);
      if (minorOf(unitPrice) !== BigInt(line.unitPriceMinor)) return false;
      if (minorOf(amount) !== BigInt(line.amountMinor)) return false;
    }
    const isThere = (label: string, ...amounts: number[]) => hasAmounts(rows, label, amounts);
    const { netMinor, vatMinor, grossMinor } = record.totals;
    return (
      isThere('Total excluding VAT', netMinor) &&
      isThere('Total VAT', vatMinor) &&
      isThere('Amount due', grossMinor) &&
      record.vatBreakdown.every((item) =>
        isThere(rateText(item.rateBasisPoints), item.taxableMinor, item.vatMinor),
      )
    );
  });
  await t.resolves(fc.assert(property, { numRuns: 60 }));
});

t.test('amounts are written as in Ireland and the United Kingdom', async (t) => {
  t.strictSame(
    [
      moneyFormat('EUR').withSymbol(123_456_789),
      moneyFormat('GBP').withSymbol(-5),
      moneyFormat('JPY').withSymbol(1234),
      moneyFormat('KWD').plain(1234),
      moneyFormat('EUR').plain(Number.MAX_SAFE_INTEGER),
      moneyFormat('EUR').plain(0),
    ],
    ['€1,234,567.89', '\u2212£0.05', 'JP¥1,234', '1.234', '90,071,992,547,409.91', '0.00'],
  );
  t.strictSame(['1', '2.500000', '-1234567.25', '0.333333'].map(quantityText), [
    '1',
    '2.5',
    '\u22121,234,567.25',
    '0.333333',
  ]);
  t.strictSame([2300, 1350, 480, 0].map(rateText), ['23%', '13.5%', '4.8%', '0%']);
});

t.test('amounts have the decimals of their currency', async (t) => {
  t.equal(decimalAmount(0, 'EUR'), '0.00');
  t.equal(decimalAmount(-5, 'EUR'), '-0.05');
  t.equal(decimalAmount(-0, 'EUR'), '0.00');
  t.equal(decimalAmount(123_456, 'GBP'), '1234.56');
  t.equal(decimalAmount(123_456, 'JPY'), '123456');
  t.equal(decimalAmount(123_456, 'KWD'), '123.456');
  t.equal(decimalAmount(Number.MAX_SAFE_INTEGER, 'EUR'), '90071992547409.91');
});
