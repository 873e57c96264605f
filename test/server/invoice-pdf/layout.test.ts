// Long: it prints every example twice more.
import t from 'tap';

import { exampleCompany } from '../../../src/demo/example-company.ts';
import { generatedProfile } from '../../../src/demo/generate-company.ts';
import { quantityText, shareText } from '../../../src/server/invoice-pdf/amounts.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { balancedBlock } from '../../../src/server/invoice-pdf/text-blocks.ts';
import { loadFonts } from '../../../src/server/typefaces/fonts.ts';
import { documentsByName, printedExamples } from './_documents.ts';
import { readByTags } from './_reading-by-tags.ts';
import { attachmentOf, paint, placedTexts, textOf } from './_reading.ts';
import type { PlacedText } from './_reading.ts';

const renderer = createRenderer();
const documentNamed = await documentsByName();
const laid = (await printedExamples()).map(({ texts, ...example }) => ({
  ...example,
  texts: texts.filter(({ isRotated }) => !isRotated),
}));
const printedText = (name: string) =>
  laid
    .find((example) => example.name === name)
    ?.texts.map(({ text }) => text)
    .join(' ')
    .replace(/\s+/g, ' ') ?? '';

/** Twenty millimetres at the left and the right, and fifteen at the top, where printers reach and windows of envelopes are. */
const MARGIN = { left: 56.7, right: 595.28 - 56.7, top: 42, bottom: 841.89 - 20 };
/** Letter is wider by twice this, and has the same content in its middle. */
const SHIFT = (612 - 595.28) / 2;
const LETTER_MARGIN = { ...MARGIN, left: MARGIN.left + SHIFT, right: MARGIN.right + SHIFT, bottom: 792 - 20 };
const marginOf = ({ supplier }: PrintedDocument) => (supplier.pageSize === 'Letter' ? LETTER_MARGIN : MARGIN);
/** Rounding of positions in the file. */
const TOLERANCE = 0.6;

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

t.test('all text stands within the margins, and none on another', async (t) => {
  for (const { name, texts, document } of laid) {
    const margin = marginOf(document);
    const outside = texts.filter(
      ({ left, right, baseline }) =>
        left < margin.left - TOLERANCE ||
        right > margin.right + TOLERANCE ||
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
  const isAmount = ({ right, text }: PlacedText) =>
    /^-?\d{1,3}(?:,\d{3})*(?:\.\d+)?$/.test(text) && right > MARGIN.right - 20;
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

t.test('a line of many lines of text fills its first page, and no rule cuts it', async (t) => {
  const tall = laid.filter(({ name }) => name.includes('lines of text'));
  t.equal(tall.length, 7);
  for (const { name, texts, bytes } of tall) {
    const steps = texts.filter(({ text }) => /^Step \d+$/.test(text));
    const onFirst = steps.filter(({ page }) => page === 1).length;
    t.ok(onFirst === steps.length || onFirst > 25, `${name}: ${onFirst} on the first page`);
    const last = pagesOf(texts).findLast((page) => page.some(({ text }) => text === 'Total excluding VAT'));
    t.ok(last?.some(({ text }) => text.startsWith('Step')) ?? false, `${name}: some stand above the totals`);
    // One row and one cell hold the text, from page to page.
    const cells = (await readByTags(bytes)).filter(({ text }) => text.includes('Step 1'));
    t.equal(cells.length, 1, name);
    t.equal(cells[0]?.text.match(/Step/g)?.length, steps.length, name);
    for (const { forward, brought } of carriedSums(pagesOf(texts))) t.equal(forward, brought);
  }
});

t.test('the totals never begin a page without a line', async (t) => {
  for (const { name, texts } of laid) {
    for (const page of pagesOf(texts)) {
      const labels = page.map(({ text }) => text);
      const isTotals = labels.includes('Amount due') && labels.includes('Total excluding VAT');
      if (!isTotals) continue;
      const head = page.find(({ text }) => text === 'Description')?.baseline ?? NaN;
      const total = page.findLast(({ text }) => text === 'Total excluding VAT')?.baseline ?? NaN;
      const between = page.filter(({ baseline }) => baseline > head + 5 && baseline < total - 5);
      t.ok(
        between.some(({ text }) => text !== 'Brought forward' && text !== 'VAT summary'),
        name,
      );
    }
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

/** Where the word mark ends, above the customer's address. */
const MARK_BOTTOM = 120;
const MARK_SIZE = 17;

t.test('no word of either demo company stands alone in the last line of its word mark', async (t) => {
  const document = documentNamed('issued invoice, Irish, one rate');
  for (const supplier of [exampleCompany.profile, generatedProfile]) {
    const texts = await placedTexts(await renderer.render({ ...document, supplier, logo: undefined }));
    const lines = texts.filter(({ size, baseline }) => size === MARK_SIZE && baseline < MARK_BOTTOM);
    t.equal(lines.map(({ text }) => text).join(' '), supplier.legalName);
    t.ok(
      lines.every(({ text }) => text.includes(' ')),
      lines.map(({ text }) => text).join(' / '),
    );
  }
});

const fonts = loadFonts();
const style = { size: 10, leading: 12, weight: 'regular', color: '#000000' } as const;
const balanced = (text: string, width: number) =>
  balancedBlock(text, style, width, fonts).lines.map(({ runs }) =>
    runs
      .map((run) => run.text)
      .join('')
      .trim(),
  );

t.test('balanced lines are as few as others, and break no word for it', async (t) => {
  t.strictSame(balanced('one two', 200), ['one two']);
  t.strictSame(balanced('Donaudampfschifffahrtsgesellschaft AG', 160), [
    'Donaudampfschifffahrtsgesellschaft',
    'AG',
  ]);
  t.equal(balanced('W'.repeat(30), 100).join(''), 'W'.repeat(30));
  t.strictSame(balanced('', 100), []);
});

t.test(
  'a discount that is a part of one reads as a percentage, with the minus of spreadsheets',
  async (t) => {
    const text = printedText('discounts as lines below zero');
    t.match(text, 'Discount of 5 % -5% 150.15');
    t.match(text, 'Discount of 10 % -1 unit 99.99');
    t.match(text, ' -99.99 ');
    t.notMatch(text, /\u2212/);
    const shares: Record<string, string | undefined> = {
      ...{ '-0.05': '\u22125%', '-0.5': '\u221250%', '-0.125': '\u221212.5%', '-0.333333': '\u221233.3333%' },
      ...{ '-0.10': '\u221210%', '-0.0': undefined, '-0.000001': '\u22120.0001%' },
      ...{ '-1': undefined, '-1.5': undefined, '0.05': undefined },
    };
    for (const [quantity, share] of Object.entries(shares)) t.equal(shareText(quantity), share, quantity);
  },
);

t.test('what asks for nothing names no account and no day', async (t) => {
  const draft = printedText('draft invoice, Irish, one rate');
  t.match(draft, 'There is nothing to pay on this draft.');
  t.notMatch(draft, /Please pay|Amount due/);
  const document = documentNamed('nothing to pay');
  const bytes = await renderer.render(document);
  const text = await textOf(bytes);
  t.match(text, 'Payment Nothing is due on this invoice.');
  t.notMatch(text, /Please pay|IBAN|Due date/);
  t.notMatch(await attachmentOf(bytes, 'factur-x.xml'), /IBAN|DueDate/);
  const record = { ...document.record, status: 'draft' as const, number: null };
  const asDraft = await textOf(await renderer.render({ ...document, record }));
  t.match(asDraft, 'Payment Nothing will be due on this invoice.');
});

t.test('a quantity of minus zero is printed as zero, in zero units', async (t) => {
  t.strictSame(['-0', '-0.00', '0', '-0.01'].map(quantityText), ['0', '0', '0', '\u22120.01']);
  const { record, ...document } = documentNamed('one cent');
  const lines = record.lines.map((line) => ({ ...line, quantity: '-0' }));
  t.match(await textOf(await renderer.render({ ...document, record: { ...record, lines } })), ' 0 units ');
});

t.test('the documents of both demo companies say how to pay', async (t) => {
  const document = documentNamed('issued invoice, Irish, one rate');
  for (const supplier of [exampleCompany.profile, generatedProfile]) {
    const text = await textOf(await renderer.render({ ...document, supplier }));
    t.match(text, supplier.iban.replace(/(.{4})(?=.)/g, '$1 '));
  }
  const without = printedText('a company without bank account, logo or number');
  t.match(without, 'Payment Please pay');
  t.notMatch(without, 'How to pay');
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
