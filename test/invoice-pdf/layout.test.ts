import t from 'tap';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { exampleDocuments } from './_documents.ts';
import { placedTexts } from './_reading.ts';
import type { PlacedText } from './_reading.ts';

const renderer = createRenderer();
const examples = await exampleDocuments();
const laid = await Promise.all(
  examples.map(async ({ name, document }) => ({
    name,
    document,
    texts: (await placedTexts(await renderer.render(document))).filter(({ isRotated }) => !isRotated),
  })),
);

/** Twenty millimetres at the left and the right, and fifteen at the top, where printers reach and windows of envelopes are. */
const MARGIN = { left: 56.7, right: 595.28 - 56.7, top: 42, bottom: 841.89 - 20 };
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

t.test('all text stands within the margins', async (t) => {
  for (const { name, texts } of laid) {
    const outside = texts.filter(
      ({ left, right, baseline }) =>
        left < MARGIN.left - TOLERANCE ||
        right > MARGIN.right + TOLERANCE ||
        baseline < MARGIN.top ||
        baseline > MARGIN.bottom,
    );
    t.strictSame(
      outside.map(({ text }) => text),
      [],
      name,
    );
  }
});

t.test('no text stands on another', async (t) => {
  for (const { name, texts } of laid) {
    const found = pagesOf(texts).flatMap((page) => {
      const sorted = page.toSorted((a, b) => a.baseline - b.baseline);
      return sorted.flatMap((text, index) => {
        const near = sorted.slice(index + 1).filter(({ baseline }) => baseline - text.baseline < 40);
        return near.filter((other) => overlap(text, other)).map((other) => `${text.text} / ${other.text}`);
      });
    });
    t.strictSame(found, [], name);
  }
});

t.test('the amounts of the lines end at the right margin, one under another', async (t) => {
  for (const { name, texts, document } of laid) {
    const ends = new Set(
      texts
        .filter(
          ({ right, text }) =>
            /^\u2212?\d{1,3}(?:,\d{3})*(?:\.\d+)?$/.test(text) && right > MARGIN.right - 20,
        )
        .map(({ right }) => Math.round(right * 5) / 5),
    );
    if (document.record.lines.length > 0) t.equal(ends.size, 1, name);
  }
});

t.test('a document of many pages repeats its heads, carries its sums and counts its pages', async (t) => {
  const long = laid.filter(({ document }) => document.record.lines.length >= 100);
  t.ok(long.length > 0);
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
    const carried = carriedSums(pages);
    const sums = sumsAfterEachLine(document.record.lines.map(({ amountMinor }) => amountMinor));
    for (const { forward, brought } of carried) {
      t.equal(forward, brought);
      t.ok(sums.has(forward), `${forward} is the sum of the lines before`);
    }
  }
});

/** What each page carries forward, and what the next one brings. */
function carriedSums(pages: readonly PlacedText[][]): { forward: string; brought: string }[] {
  const sumBeside = (page: readonly PlacedText[], label: string) => {
    const row = page.find(({ text }) => text === label)?.baseline ?? NaN;
    return page.findLast(({ baseline, text }) => Math.abs(baseline - row) < 1 && text !== label)?.text ?? '';
  };
  return pages.slice(1).flatMap((page, index) =>
    page.some(({ text }) => text === 'Brought forward')
      ? [
          {
            forward: sumBeside(pages[index] ?? [], 'Carried forward'),
            brought: sumBeside(page, 'Brought forward'),
          },
        ]
      : [],
  );
}

function sumsAfterEachLine(amountsMinor: readonly number[]): Set<string> {
  let sum = 0;
  const texts = amountsMinor.map((amountMinor) => {
    sum += amountMinor;
    return (sum / 100).toLocaleString('en-IE', { minimumFractionDigits: 2 });
  });
  return new Set(texts);
}

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
  for (const { name, texts } of laid) {
    const label = texts.find(({ text }) => text === 'Invoice to' || text === 'Credit to');
    t.ok(label && label.page === 1 && label.left < 57.5, name);
    // From 53 to 57 mm below the upper edge, so that the name is in the window of a DL envelope.
    t.ok(label && label.baseline > 150 && label.baseline < 162, name);
  }
});
