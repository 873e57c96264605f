import { embeddedFont, type EmbeddedFont, showText } from './embedded-font.ts';
import type { Face, Fonts } from '../typefaces/fonts.ts';
import type { Logo } from '../logos/logo.ts';
import { BOTTOM, PAGE } from './page-design.ts';
import { type TextBlock, textBlock, type TextLine, type TextStyle, textWidth } from './text-blocks.ts';

export type Align = 'left' | 'right';
export type Tag = PDFKit.PDFStructureElement;
type TagOptions = PDFKit.Mixins.StructureElementOptions & {
  scope?: 'Row' | 'Column';
  bbox?: [number, number, number, number];
};

/** Where text stands: its upper left corner and its width, in points from the upper left corner of the page. */
export interface Box {
  x: number;
  y: number;
  width: number;
}

/** A height on a page. */
export interface Place {
  page: number;
  y: number;
}

/** Draws the head of a new page, and returns the height at which the content begins. */
type PageHead = (sheet: Sheet) => number;

/**
 * The pages of one document, drawn from top to bottom. All that is drawn is either tagged, for screen readers and other
 * programs, or marked as an artifact, which they skip (ISO 14289-1, 7.1).
 */
export class Sheet {
  readonly document: PDFKit.PDFDocument;
  readonly fonts: Fonts;
  readonly root: Tag;
  /** Where the next thing is drawn. */
  y = 0;
  pageCount = 0;
  /** The page that is drawn on, of which the first is 0. */
  page = -1;
  readonly #tops: number[] = [];
  readonly #pageHead: PageHead;
  readonly #embedded = new Map<Face, EmbeddedFont>();
  #color = '';

  constructor(document: PDFKit.PDFDocument, fonts: Fonts, pageHead: PageHead) {
    this.document = document;
    this.fonts = fonts;
    this.#pageHead = pageHead;
    this.root = document.struct('Document');
    document.addStructure(this.root);
    this.addPage();
  }

  addPage(): void {
    this.document.addPage({ size: [PAGE.width, PAGE.height], margin: 0 });
    this.page = this.pageCount;
    this.pageCount += 1;
    this.#color = '';
    this.y = this.#pageHead(this);
    this.#tops.push(this.y);
  }

  /** Continues on the next page if fewer than `height` points are left. */
  makeRoom(height: number): void {
    if (this.y + height > BOTTOM) this.nextPage();
  }

  /** Continues on the next page, which is begun if there is none. */
  nextPage(): void {
    if (this.page + 1 === this.pageCount) this.addPage();
    else this.goTo({ page: this.page + 1, y: this.#tops[this.page + 1] ?? 0 });
  }

  /** Continues at another place, such as beside what was drawn. */
  goTo({ page, y }: Place): void {
    this.document.switchToPage(page);
    this.page = page;
    this.y = y;
    this.#color = '';
  }

  /** How many lines still fit on the page. */
  linesLeft({ leading }: TextStyle): number {
    return Math.max(1, Math.floor((BOTTOM - this.y) / leading));
  }

  /** @param goesOn whether it goes on in another block of the same tag. */
  text(text: string, style: TextStyle, width: number, goesOn = false): TextBlock {
    return textBlock(text, style, width, this.fonts, goesOn);
  }

  textWidth(text: string, style: TextStyle): number {
    return textWidth(text, style, this.fonts);
  }

  /** Adds a tag that holds others, or nothing, as an empty cell does. It has to be ended before its parent is. */
  group(parent: Tag, type: string, options: TagOptions = {}): Tag {
    const tag = this.document.struct(type, options);
    parent.add(tag);
    return tag;
  }

  /** Adds a tag with the content that `draw` draws. */
  tagged(parent: Tag, type: string, draw: () => void, options: TagOptions = {}): void {
    const tag = this.group(parent, type, options);
    this.content(tag, type, draw);
    tag.end();
  }

  /** Adds content to a tag, which may go on from page to page. */
  content(tag: Tag, type: string, draw: () => void): void {
    tag.add(this.document.markStructureContent(type));
    draw();
    this.document.endMarkedContent();
  }

  /** Draws something that carries no meaning, or repeats other content. */
  artifact(draw: () => void, type: 'Pagination' | 'Layout' = 'Layout'): void {
    this.document.markContent('Artifact', { type });
    draw();
    this.document.endMarkedContent();
  }

  draw(block: TextBlock, { x, y, width }: Box, align: Align = 'left'): void {
    block.lines.forEach((line, index) => {
      const left = align === 'right' ? x + width - line.width : x;
      this.drawLine(line, block.style, left, y + index * block.style.leading);
    });
  }

  /** Draws a block where the sheet is, and goes on below it. */
  drawDown(block: TextBlock, space: Omit<Box, 'y'>): void {
    this.draw(block, { ...space, y: this.y });
    this.y += block.height;
  }

  /** Draws one line whose space begins at `y`. */
  drawLine(line: TextLine, style: TextStyle, x: number, y: number): void {
    this.#fill(style.color);
    // Centres letters vertically, so that two sizes in one row align.
    const baseline = y + style.leading / 2 + style.size * 0.33;
    let left = x;
    for (const { face, text, width } of line.runs) {
      const size = style.size * face.sizeFactor;
      this.document.addContent(showText(this.#font(face), text, { x: left, y: baseline, size }));
      left += width * style.size;
    }
  }

  #font(face: Face): EmbeddedFont {
    const found = this.#embedded.get(face);
    const font = found ?? embeddedFont(this.document, face);
    if (!found) this.#embedded.set(face, font);
    const fonts = this.document.page.fonts as Record<string, unknown>;
    fonts[font.id] ??= font.ref();
    return font;
  }

  picture(logo: Logo, x: number, y: number, size: { width: number; height: number }): void {
    this.document.image(logo.file, x, y, size);
  }

  rule(y: number, { x, width }: Omit<Box, 'y'>, color: string, thickness = 0.6): void {
    this.document
      .lineWidth(thickness)
      .strokeColor(color)
      .moveTo(x, y)
      .lineTo(x + width, y)
      .stroke();
  }

  panel({ x, y, width }: Box, height: number, color: string): void {
    this.#fill(color);
    this.document.rect(x, y, width, height).fill();
  }

  #fill(color: string): void {
    if (color !== this.#color) this.document.fillColor(color);
    this.#color = color;
  }
}
