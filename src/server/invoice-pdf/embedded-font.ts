import type { Face } from '../typefaces/fonts.ts';
import { type Glyph, wordsOf } from '../typefaces/glyphs.ts';
import type { Outlined } from '../typefaces/outlines.ts';
import type { Run } from '../typefaces/shaping.ts';

/** The members of a document's font that pdfkit keeps, and its types lack. */
interface PdfFont {
  /** Its name among the fonts of a page. */
  id: string;
  ref: () => unknown;
  /** The width and the characters of each glyph. The first glyph marks a missing letter, and no document shows it. */
  widths: number[];
  unicode: number[][];
  subset: { glyphs: (number | Outlined)[] };
}

/** Glyphs are numbered with 16 bits. Glyphs that others are made of get numbers too. */
const GLYPHS_MAX = 30_000;

/** A font as one document embeds it: with the glyphs that the document shows. */
export class EmbeddedFont {
  /** How many fonts before it the document's glyphs of this face fill. */
  readonly part: number;
  readonly #face: Face;
  readonly #font: PdfFont;
  /** The number of each glyph as it is shown. */
  readonly #codes = new Map<string, string>();
  /** To thousandths of the font size. */
  readonly #scale: number;

  /**
   * Adds a font to a document. pdfkit embeds it; we place the text ourselves, because `document.text` takes as long as all
   * the rest of a document.
   */
  constructor(document: PDFKit.PDFDocument, face: Face, part = 0) {
    this.#face = face;
    this.#scale = 1000 / face.source.unitsPerEm;
    this.part = part;
    // pdfkit takes two fonts of one name for the same.
    const name = `${face.source.postscriptName}${part === 0 ? '' : `-${part}`}`;
    const source: unknown = Object.create(face.source, { postscriptName: { value: name } });
    // pdfkit accepts fontkit's interface and keeps the current font in a field, but its types lack both.
    document.registerFont(name, source as Buffer).font(name);
    this.#font = (document as unknown as { _font: PdfFont })._font;
    // pdfkit writes U+0000, which is forbidden here (ISO 19005-3, 6.2.11.7.2).
    this.#font.unicode[0] = [0xfffd];
  }

  get id(): string {
    return this.#font.id;
  }

  /** Whether more glyphs need another font. */
  get isFull(): boolean {
    return this.#font.unicode.length > GLYPHS_MAX;
  }

  ref(): unknown {
    return this.#font.ref();
  }

  /**
   * The operators that show a run of text (ISO 32000-1, 9.4). A page's y axis points down here, so the letters are turned
   * over. What goes from right to left is marked as shown in reverse (14.8.2.3.3).
   */
  show({ text, isRtl }: Run, { x, y, size }: Place): string {
    let shown = '';
    let word = '';
    for (const piece of isRtl ? wordsOf(text).reverse() : wordsOf(text)) {
      const { glyphs, advances } = this.#face.layOut(piece, isRtl);
      glyphs.forEach((glyph, index) => {
        word += this.#codes.get(glyph.key) ?? this.#add(glyph);
        const kerning = glyph.advanceWidth - (advances[index] ?? 0);
        if (kerning === 0) return;
        shown += `<${word}>${decimal(kerning * this.#scale)}`;
        word = '';
      });
    }
    if (word !== '') shown += `<${word}>`;
    const operators = `BT /${this.id} ${decimal(size)} Tf 1 0 0 -1 ${decimal(x)} ${decimal(y)} Tm [${shown}] TJ ET`;
    return isRtl ? `/ReversedChars BMC ${operators} EMC` : operators;
  }

  #add({ key, parts, advanceWidth, codePoint }: Glyph): string {
    const { subset, widths, unicode } = this.#font;
    const [first, ...more] = parts;
    const isOfFont = first && more.length === 0 && !first.font && first.x === 0 && first.y === 0;
    const number = subset.glyphs.push(isOfFont ? first.id : { parts, advanceWidth }) - 1;
    widths[number] = advanceWidth * this.#scale;
    unicode[number] = [codePoint];
    const code = number.toString(16).padStart(4, '0');
    this.#codes.set(key, code);
    return code;
  }
}

/** Where text begins: on its baseline, in points from the upper left corner of the page. */
interface Place {
  x: number;
  y: number;
  size: number;
}

function decimal(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
