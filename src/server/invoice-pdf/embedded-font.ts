import type { Face } from '../typefaces/fonts.ts';

/** A font as one document embeds it: with the glyphs that the document shows. */
export interface EmbeddedFont {
  /** Its name among the fonts of a page. */
  id: string;
  ref: () => unknown;
  /** The characters of each glyph. The first glyph marks a missing letter, and no document shows it. */
  unicode: number[][];
  /** The glyphs of a text as hexadecimal numbers, and how each is placed, in thousandths of the font size. */
  encode: (text: string) => [glyphs: string[], positions: Position[]];
}

interface Position {
  xAdvance: number;
  xOffset: number;
  yOffset: number;
  advanceWidth: number;
}

/**
 * Adds a font to a document. pdfkit encodes and embeds it; we place the text ourselves (`showText`), because
 * `document.text` takes as long as all the rest of a document.
 */
export function embeddedFont(document: PDFKit.PDFDocument, face: Face): EmbeddedFont {
  // pdfkit accepts fontkit's interface and keeps the current font in a field, but its types lack both.
  document.registerFont(face.name, face.source as unknown as Buffer).font(face.name);
  const font = (document as unknown as { _font: EmbeddedFont })._font;
  // pdfkit writes U+0000, which is forbidden here (ISO 19005-3, 6.2.11.7.2).
  font.unicode[0] = [0xfffd];
  return font;
}

/** Where text begins: on its baseline, in points from the upper left corner of the page. */
interface Place {
  x: number;
  y: number;
  size: number;
}

/**
 * The operators that show text (ISO 32000-1, 9.4). A page's y axis points down here, so the letters are turned over.
 */
export function showText(font: EmbeddedFont, text: string, { x, y, size }: Place): string {
  const [glyphs, positions] = font.encode(text);
  const operators = [`BT /${font.id} ${decimal(size)} Tf`];
  let pen = x;
  let from = pen;
  let shown = '';
  let word = '';
  const closeWord = () => {
    if (word !== '') shown += `<${word}>`;
    word = '';
  };
  const flush = (rise: number) => {
    closeWord();
    if (shown !== '') operators.push(`1 0 0 -1 ${decimal(from)} ${decimal(y - rise)} Tm [${shown}] TJ`);
    shown = '';
  };
  glyphs.forEach((glyph, index) => {
    const { xAdvance = 0, advanceWidth = 0, xOffset = 0, yOffset = 0 } = positions[index] ?? {};
    const isMoved = xOffset !== 0 || yOffset !== 0;
    if (isMoved) {
      flush(0);
      from = pen + (xOffset * size) / 1000;
    }
    word += glyph;
    if (xAdvance !== advanceWidth && !isMoved) {
      closeWord();
      shown += decimal(advanceWidth - xAdvance);
    }
    pen += (xAdvance * size) / 1000;
    if (isMoved) {
      flush((yOffset * size) / 1000);
      from = pen;
    }
  });
  flush(0);
  return `${operators.join(' ')} ET`;
}

function decimal(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
