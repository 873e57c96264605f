/** Reads a PDF as a screen reader does: by its tags, and letter by letter, with nothing guessed from where it stands. */
import { getDocument, OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { arrayOf, at, readPdf } from './_pdf-objects.ts';
import type { PdfReference } from './_pdf-objects.ts';
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
async function markedTexts(bytes: Buffer): Promise<Map<string, string>> {
  // It takes the memory that it is given away.
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 });
  try {
    const pdf = await task.promise;
    const texts = new Map<string, string>();
    for (let number = 1; number <= pdf.numPages; number++) await addTexts(await pdf.getPage(number), texts);
    return texts;
  } finally {
    await task.destroy();
  }
}

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
