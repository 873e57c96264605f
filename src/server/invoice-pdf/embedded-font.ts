import type { Face } from '../typefaces/fonts.ts';
import { type Glyph, wordsOf } from '../typefaces/glyphs.ts';
import type { Outlined } from '../typefaces/outlines.ts';
import type { Run } from '../typefaces/shaping.ts';

/** Members of a pdfkit font that pdfkit's types lack. */
interface PdfFont {
  /** The font's name among the fonts of a page. */
  id: string;
  ref: () => unknown;
  /** The width of each glyph; `unicode` has its characters. The first glyph, for a missing letter, is never shown. */
  widths: number[];
  unicode: number[][];
  subset: { glyphs: (number | Outlined)[] };
}

/** The most glyphs in one font. Glyph numbers have 16 bits, and components of glyphs need numbers too. */
const GLYPHS_MAX = 30_000;

/** A font as embedded in one document, with only the glyphs that the document shows. */
export class EmbeddedFont {
  /** The number of full fonts of this face that the document already has. */
  readonly part: number;
  readonly #face: Face;
  readonly #font: PdfFont;
  /** The hexadecimal code of each glyph, by the glyph's key. */
  readonly #codes = new Map<string, string>();
  /** The factor from font units to thousandths of the font size. */
  readonly #scale: number;

  /**
   * Adds a font to a document. pdfkit embeds it, but the text is placed here, because `document.text` would double the
   * time to print a document.
   */
  constructor(document: PDFKit.PDFDocument, face: Face, part = 0) {
    this.#face = face;
    this.#scale = 1000 / face.source.unitsPerEm;
    this.part = part;
    // pdfkit treats two fonts with one name as the same font.
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

  /** Whether the font is full, so that further glyphs need another one. */
  get isFull(): boolean {
    return this.#font.unicode.length > GLYPHS_MAX;
  }

  ref(): unknown {
    return this.#font.ref();
  }

  /**
   * Returns the operators that show a run of text (ISO 32000-1, 9.4). The page's y axis points down here, so letters are
   * flipped. Right-to-left text is marked as shown in reverse (14.8.2.3.3).
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
