/** Reads a PDF as a screen reader does: by its tags, and letter by letter, with nothing guessed from where it stands. */
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { arrayOf, at, readPdf } from './_pdf-objects.ts';
import type { PdfReference } from './_pdf-objects.ts';
import { pagesOf, withPdf } from './_reading.ts';
import { everyTag, readTag } from './_structure.ts';

/** The type and the text of one tag, which may go on from page to page. */
export interface TagText {
  type: string;
  text: string;
}

export async function readByTags(bytes: Buffer): Promise<TagText[]> {
  const texts = await markedTexts(bytes);
  const pdf = readPdf(bytes);
  const [root] = arrayOf(at(pdf, pdf.trailer, 'Root', 'StructTreeRoot', 'K')) as PdfReference[];
  if (!root) throw new Error('the document has no tags');
  return everyTag(readTag(pdf, root))
    .filter(({ contents }) => contents.length > 0)
    .map(({ type, contents }) => ({
      type,
      text: contents.map((content) => texts.get(content.join()) ?? '').join(''),
    }));
}

/** The text of each marked content, by its page's object and its identifier. */
const markedTexts = async (bytes: Buffer): Promise<Map<string, string>> =>
  withPdf(bytes, async (pdf) => {
    const texts = new Map<string, string>();
    for await (const page of pagesOf(pdf)) await addTexts(page, texts);
    return texts;
  });

async function addTexts(page: PDFPageProxy, texts: Map<string, string>): Promise<void> {
  const { fnArray, argsArray } = await page.getOperatorList();
  let key: string | undefined;
  let isReversed = false;
  fnArray.forEach((operator, index) => {
    const operands = argsArray[index] as unknown[];
    if (operator === OPS.beginMarkedContentProps) {
      const [, mcid] = operands;
      key = typeof mcid === 'number' ? [page.ref?.num, mcid].join() : undefined;
    } else if (operator === OPS.beginMarkedContent) isReversed = true;
    else if (operator === OPS.endMarkedContent && isReversed) isReversed = false;
    else if (operator === OPS.endMarkedContent) key = undefined;
    else if (operator === OPS.showText && key !== undefined) {
      const glyphs = operands[0] as (number | { unicode: string })[];
      const letters = glyphs.map((glyph) => (typeof glyph === 'number' ? '' : glyph.unicode));
      texts.set(key, (texts.get(key) ?? '') + (isReversed ? letters.reverse() : letters).join(''));
    }
  });
}
