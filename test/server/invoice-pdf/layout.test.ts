// Long: it prints every example twice more.
import t from 'tap';

import { exampleCompany } from '../../../src/demo/example-company.ts';
import { generatedProfile } from '../../../src/demo/generate-company.ts';
import { quantityText, shareText } from '../../../src/server/printed-document/amounts.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { printable } from '../../../src/server/typefaces/letters.ts';
import { documentsByName, printedExamples, textsOf } from './_documents.ts';
import { attachmentOf, paint, pixelsOf, textOf } from './_reading.ts';
import type { PlacedText } from './_reading.ts';

const renderer = createRenderer();
const documentNamed = await documentsByName();
const laid = (await printedExamples()).map(({ texts, ...example }) => ({
  ...example,
  texts: texts.filter(({ isRotated }) => !isRotated),
  mark: texts.filter(({ isRotated }) => isRotated).map(({ text }) => text),
}));
/** Scripts whose letters pdf.js gives in another order, and some of them twice: it doesn't know texts beside glyphs. */
const inOrder = laid.filter(({ name }) => !/Arabic|Persian|Hebrew|Hindi|Thai/.test(name));
/** Twenty millimetres at the left and the right, where printers reach and windows of envelopes are, and eleven at the top. */
const MARGIN = { left: 56.7, right: 595.28 - 56.7, top: 33, bottom: 841.89 - 20 };
/** Letter is wider by twice this, and has the same content in its middle. */
const SHIFT = (612 - 595.28) / 2;
const LETTER_MARGIN = { ...MARGIN, left: MARGIN.left + SHIFT, right: MARGIN.right + SHIFT, bottom: 792 - 20 };
const marginOf = ({ supplier }: PrintedDocument) => (supplier.pageSize === 'Letter' ? LETTER_MARGIN : MARGIN);
/** Rounding of positions in the file, and the space at the end of a line, by its size. */
const TOLERANCE = 0.6;
const SPACE = 0.25;

/** The space that letters take: from the top of a capital to the bottom of a g. */
function overlap(a: PlacedText, b: PlacedText): boolean {
  const top = (text: PlacedText) => text.baseline - 0.68 * text.size;
  const bottom = (text: PlacedText) => text.baseline + 0.2 * text.size;
  const isBeside = a.right <= b.left + TOLERANCE || b.right <= a.left + TOLERANCE;
  return !isBeside && top(a) < bottom(b) - TOLERANCE && top(b) < bottom(a) - TOLERANCE;
}

function pagesOf(texts: readonly PlacedText[]): PlacedText[][] {
  return [...Map.groupBy(texts, ({ page }) => page).values()];
}

const squeezed = (text: string) => text.replace(/[\s\u200c]/g, '');

t.test('every text of a document is on its pages, as a foreign reader finds it', async (t) => {
  for (const { name, document, texts } of inOrder) {
    const pages = squeezed(texts.map(({ text }) => text).join(''));
    // The longest are found word by word, because they go on on the next page.
    const missing = textsOf(document)
      .flatMap((text) => (text.length > 600 || text.includes('\n') ? text.split(/\s/) : [text]))
      .filter((text) => !pages.includes(squeezed(printable(text))));
    t.strictSame(missing, [], name);
  }
});

t.test('all text stands within the margins, and none on another', async (t) => {
  for (const { name, texts, document } of inOrder) {
    const margin = marginOf(document);
    const outside = texts.filter(
      ({ left, right, baseline, size }) =>
        left < margin.left - TOLERANCE ||
        right > margin.right + TOLERANCE + SPACE * size ||
        baseline < margin.top ||
        baseline > margin.bottom,
    );
    const upon = pagesOf(texts).flatMap((page) => {
      const sorted = page.toSorted((a, b) => a.baseline - b.baseline);
      return sorted.flatMap((text, index) => {
        const near = sorted.slice(index + 1).filter(({ baseline }) => baseline - text.baseline < 40);
        return near.filter((other) => overlap(text, other)).map((other) => `${text.text} / ${other.text}`);
      });
    });
    t.strictSame({ outside: outside.map(({ text }) => text), upon }, { outside: [], upon: [] }, name);
  }
});

t.test('the amounts of the lines end at the right margin, one under another', async (t) => {
  // Long words are of single letters.
  const isAmount = ({ right, text }: PlacedText) =>
    /^-?\d{1,3}(?:,\d{3})*(?:\.\d+)?$/.test(text) && text.length > 1 && right > MARGIN.right - 20;
  for (const { name, texts, document } of laid) {
    const ends = new Set(texts.filter(isAmount).map(({ right }) => Math.round(right * 5) / 5));
    if (document.record.lines.length > 0) t.equal(ends.size, 1, name);
  }
});

t.test('a document of many pages repeats its heads, carries its sums and counts its pages', async (t) => {
  const long = laid.filter(({ document }) => document.record.lines.length >= 100);
  for (const { name, texts, document } of long) {
    const pages = pagesOf(texts);
    t.ok(pages.length > 5, name);
    pages.forEach((page, index) => {
      const words = page.map(({ text }) => text);
      const all = words.join(' ');
      t.match(all, `Page ${index + 1} of ${pages.length}`);
      const hasLines = words.includes('Description');
      t.ok(hasLines || index === pages.length - 1, `page ${index + 1} has the heads of the table`);
      if (!hasLines) return;
      t.equal(words.includes('Brought forward'), index > 0);
      const isLast = words.includes('Total VAT');
      t.equal(words.includes('Carried forward'), !isLast);
    });
    const sums = sumsAfterEachLine(document.record.lines.map(({ amountMinor }) => amountMinor));
    for (const { forward, brought } of carriedSums(pages)) {
      t.equal(forward, brought);
      t.ok(sums.has(forward), `${forward} is the sum of the lines before`);
    }
  }
});

function carriedSums(pages: readonly PlacedText[][]): { forward: string; brought: string }[] {
  const sumBeside = (page: readonly PlacedText[], label: string) => {
    const row = page.find(({ text }) => text === label)?.baseline ?? NaN;
    return page.findLast(({ baseline, text }) => Math.abs(baseline - row) < 1 && text !== label)?.text ?? '';
  };
  return pages.flatMap((page, index) => {
    const isContinued = index > 0 && page.some(({ text }) => text === 'Brought forward');
    const forward = sumBeside(pages[index - 1] ?? [], 'Carried forward');
    return isContinued ? [{ forward, brought: sumBeside(page, 'Brought forward') }] : [];
  });
}

function sumsAfterEachLine(amountsMinor: readonly number[]): Set<string> {
  let sum = 0;
  return new Set(
    amountsMinor.map((amountMinor) =>
      ((sum += amountMinor) / 100).toLocaleString('en-IE', { minimumFractionDigits: 2 }),
    ),
  );
}

t.test('a line of many lines of text begins on its first page', async (t) => {
  const tall = laid.filter(({ name }) => name.includes('lines of text'));
  t.equal(tall.length, 7);
  for (const { name, texts } of tall) {
    const steps = texts.filter(({ text }) => /^Step \d+$/.test(text));
    const onFirst = steps.filter(({ page }) => page === 1).length;
    t.ok(onFirst === steps.length || onFirst > 25, `${name}: ${onFirst} on the first page`);
    for (const { forward, brought } of carriedSums(pagesOf(texts))) t.equal(forward, brought);
  }
});

t.test("the customer's name stands where the window of an envelope shows it", async (t) => {
  for (const { name, texts, document } of laid) {
    const label = texts.find(({ text }) => text === 'Invoice to' || text === 'Credit to');
    t.ok(label && label.page === 1 && label.left < marginOf(document).left + 0.8, name);
    // From 53 to 57 mm below the upper edge, so that the name is in the window of a DL envelope.
    t.ok(label && label.baseline > 150 && label.baseline < 162, name);
  }
});

const saidBy = (document: PrintedDocument) => textsOf(document).join(' ');

t.test('a discount that is a part of one reads as a percentage', async (t) => {
  const text = saidBy(documentNamed('discounts as lines below zero'));
  t.match(text, 'Discount of 5 % \u22125%  150.15');
  t.match(text, 'Discount of 10 % \u22121 unit 99.99');
  t.match(text, ' \u221299.99 ');
  const shares: Record<string, string | undefined> = {
    ...{ '-0.05': '\u22125%', '-0.5': '\u221250%', '-0.125': '\u221212.5%', '-0.333333': '\u221233.3333%' },
    ...{ '-0.10': '\u221210%', '-0.0': undefined, '-0.000001': '\u22120.0001%' },
    ...{ '-1': undefined, '-1.5': undefined, '0.05': undefined },
  };
  for (const [quantity, share] of Object.entries(shares)) t.equal(shareText(quantity), share, quantity);
});

t.test('what asks for nothing names no account and no day', async (t) => {
  const draft = saidBy(documentNamed('draft invoice, Irish, one rate'));
  t.match(draft, 'There is nothing to pay on this draft.');
  t.notMatch(draft, /Please pay|Amount due/);
  const document = documentNamed('nothing to pay');
  const text = saidBy(document);
  t.match(text, 'Payment Nothing is due on this invoice.');
  t.notMatch(text, /Please pay|IBAN|Due date/);
  const bytes = await renderer.render(document);
  t.notMatch(await attachmentOf(bytes, 'factur-x.xml'), /IBAN|DueDate/);
  const record = { ...document.record, status: 'draft' as const, number: null };
  t.match(saidBy({ ...document, record }), 'Payment Nothing will be due on this invoice.');
});

t.test('a quantity of minus zero is printed as zero, in zero units', async (t) => {
  t.strictSame(['-0', '-0.00', '0', '-0.01'].map(quantityText), ['0', '0', '0', '\u22120.01']);
  const { record, ...document } = documentNamed('one cent');
  const lines = record.lines.map((line) => ({ ...line, quantity: '-0' }));
  t.match(saidBy({ ...document, record: { ...record, lines } }), ' 0 units ');
});

t.test('the documents of both demo companies say how to pay', async (t) => {
  const document = documentNamed('issued invoice, Irish, one rate');
  for (const supplier of [exampleCompany.profile, generatedProfile])
    t.match(saidBy({ ...document, supplier }), supplier.iban.replace(/(.{4})(?=.)/g, '$1 '));
  const without = saidBy(documentNamed('a company without bank account, logo or number'));
  t.match(without, 'Payment Please pay');
  t.notMatch(without, 'How to pay');
});

t.test('a draft is marked across each page, and nothing else is', async (t) => {
  for (const { name, document, mark, texts } of laid) {
    const isDraft = document.record.status === 'draft';
    t.strictSame(mark, isDraft ? pagesOf(texts).map(() => 'DRAFT') : [], name);
  }
});

t.test('a document is in the colour of its operator', async (t) => {
  const document = documentNamed('issued invoice, Irish, one rate');
  const hasColour = async (accent?: string) => {
    const [{ data } = { data: [] }] = await pixelsOf(await renderer.render({ ...document, accent }), 3);
    const pixels = Buffer.from(data);
    return ['0b5566ff', '9c3d00ff'].map((colour) => pixels.includes(Buffer.from(colour, 'hex')));
  };
  t.strictSame(
    [await hasColour(), await hasColour('#9c3d00')],
    [
      [true, false],
      [false, true],
    ],
  );
});

t.test('the same document gives the same bytes, whatever was rendered before', async (t) => {
  const made: [name: string, document: PrintedDocument, bytes: Buffer][] = [];
  for (const { name, document } of laid) made.push([name, document, await renderer.render(document)]);
  for (const [name, document, bytes] of made.toReversed())
    t.ok(bytes.equals(await renderer.render(document)), name);
});

t.test('a company that has told nothing of itself gets its draft all the same', async (t) => {
  const document = { ...documentNamed('draft invoice, Irish, one rate'), supplier: {}, logo: undefined };
  t.match(await textOf(await renderer.render(document)), 'DRAFT – not a VAT invoice');
});

/** One of each kind and state in each country, and those that look different. */
const fates = ['issued invoice', 'issued credit_note', 'issued pro_forma', 'draft invoice'];
const shown = [
  ...fates.map((fate) => `${fate}, Irish, taxed in dollars`),
  ...fates.map((fate) => `${fate}, British, domestic reverse charge at two rates beside taxed and exempt`),
  'issued invoice, Irish, construction under reverse charge',
  'issued invoice, Irish, of a company that is not registered',
  'words and addresses that are too long for their columns',
  'a customer with a Georgian and Armenian name',
  '500 lines',
  'a payment link and terms for late payment, 36 lines on A4',
  'a payment link and terms for late payment, 1 lines on Letter',
  'terms for late payment over half a page, and a long link',
];

t.test('pages of every kind are painted to be looked at', async (t) => {
  const painted = laid.filter(({ name }) => shown.includes(name));
  t.equal(painted.length, shown.length);
  for (const { name, bytes } of painted) await t.resolves(paint(bytes, name, 2), name);
});
