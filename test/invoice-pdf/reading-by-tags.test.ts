import t from 'tap';
import { loadFonts } from '../../src/typefaces/fonts.ts';
import type { PrintedDocument } from '../../src/invoice-pdf/printed-document.ts';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { printable } from '../../src/typefaces/shaping.ts';
import { exampleDocuments } from './_documents.ts';
import { readByTags } from './_reading-by-tags.ts';

const renderer = createRenderer();
const examples = await exampleDocuments();
const fonts = loadFonts();

/** A longer description is set in several rows. */
const ONE_ROW_LENGTH_MAX = 1000;
const titles = { invoice: 'Invoice', credit_note: 'Credit note', pro_forma: 'Pro forma invoice' };

/** Text as it is read: with one space wherever there is any, and also where a line ends. */
const asRead = (text: string) => printable(text, fonts).replace(/\s+/g, ' ').trim();

/** The texts that a document has in a tag of their own, each whole. */
function wholeTexts({ record, supplier }: PrintedDocument): string[] {
  const { buyer } = record;
  const reasons = record.lines.map(({ vatExemptionReason }) => vatExemptionReason);
  const texts = [
    `${titles[record.kind]} ${record.number ?? 'DRAFT'}`,
    ...record.lines.map(({ description }) => description).filter(({ length }) => length < ONE_ROW_LENGTH_MAX),
    record.note,
    buyer.legalName ?? buyer.name,
    ...buyer.addressLines,
    ...(buyer.site?.addressLines ?? []),
    // What doesn't name the category has it in front.
    ...reasons.filter((reason) => reason?.startsWith('Reverse charge') === true),
    record.buyerReference,
    record.purchaseOrderReference,
    supplier.legalName,
  ];
  return texts.map((text) => asRead(text ?? '')).filter((text) => text !== '');
}

t.test('who reads by the tags hears every text word by word', async (t) => {
  for (const { name, document } of examples) {
    const heard = new Set((await readByTags(await renderer.render(document))).map(({ text }) => text));
    const missing = wholeTexts(document).filter((text) => !heard.has(text));
    t.strictSame(missing, [], name);
  }
});

t.test('no words run together where a line ends', async (t) => {
  const marked = examples.find(
    ({ name }) =>
      name === 'issued invoice, British, domestic reverse charge at two rates beside taxed and exempt',
  );
  if (!marked) throw new Error('there is no such document');
  const texts = (await readByTags(await renderer.render(marked.document))).map(({ text }) => text);
  t.ok(texts.includes('Invoice INV-2026-0001'));
  t.ok(texts.some((text) => text.endsWith('on the VAT-exclusive price of items marked reverse charge.')));
});
