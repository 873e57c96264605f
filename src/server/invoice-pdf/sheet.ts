import { EmbeddedFont } from './embedded-font.ts';
import type { Face, Fonts } from '../typefaces/fonts.ts';
import type { Logo } from '../logos/logo.ts';
import { BOTTOM_MARGIN, coloursOf, PAGE_SIZES, PAGE_WIDTH } from './page-design.ts';
import type { PaymentCode } from './payment-code.ts';
import { type TextBlock, textBlock, type TextLine, type TextStyle, textWidth } from './text-blocks.ts';

export type Align = 'left' | 'right';
export type Tag = PDFKit.PDFStructureElement;
type TagOptions = PDFKit.Mixins.StructureElementOptions & {
  scope?: 'Row' | 'Column';
  bbox?: [number, number, number, number];
};

/** The place of text: its upper left corner and width, in points from the upper left corner of the page. */
export interface Box {
  x: number;
  y: number;
  width: number;
}

/** A vertical position on a page. */
export interface SheetPlace {
  page: number;
  y: number;
}

export interface SheetOptions {
  pageSize: keyof typeof PAGE_SIZES;
  /** The colour of titles and rules, as `#rrggbb`; undefined for the default. */
  accent: string | undefined;
  /** Draws the header of a new page, and returns the position at which the content begins. */
  pageHead: (sheet: Sheet) => number;
}

/**
 * The pages of one document, drawn from top to bottom. Everything drawn is either tagged, for screen readers and other
 * programs, or marked as an artifact, which they skip (ISO 14289-1, 7.1).
 */
export class Sheet {
  readonly document: PDFKit.PDFDocument;
  readonly fonts: Fonts;
  readonly root: Tag;
  readonly size: { width: number; height: number };
  /** The lowest position of content. */
  readonly bottom: number;
  /** The position at which the next block is drawn. */
  y = 0;
  pageCount = 0;
  /** The current page, from 0. */
  page = -1;
  readonly #tops: number[] = [];
  readonly #pageHead: SheetOptions['pageHead'];
  readonly #colours: ReturnType<typeof coloursOf>;
  /** The horizontal offset that centres the content on the page. */
  readonly #shift: number;
  readonly #embedded = new Map<Face, EmbeddedFont>();
  #color = '';

  constructor(document: PDFKit.PDFDocument, fonts: Fonts, { pageSize, accent, pageHead }: SheetOptions) {
    this.document = document;
    this.fonts = fonts;
    this.size = PAGE_SIZES[pageSize];
    this.bottom = this.size.height - BOTTOM_MARGIN;
    this.#shift = (this.size.width - PAGE_WIDTH) / 2;
    this.#colours = coloursOf(accent);
    this.#pageHead = pageHead;
    this.root = document.struct('Document');
    document.addStructure(this.root);
    this.addPage();
  }

  addPage(): void {
    const { width, height } = this.size;
    this.document.addPage({ size: [width, height], margin: 0 }).translate(this.#shift, 0);
    this.page = this.pageCount;
    this.pageCount += 1;
    this.#color = '';
    this.y = this.#pageHead(this);
    this.#tops.push(this.y);
  }

  /** Continues on the next page if fewer than `height` points are left. */
  makeRoom(height: number): void {
    if (this.y + height > this.bottom) this.nextPage();
  }

  /** Continues on the next page, adding one if necessary. */
  nextPage(): void {
    if (this.page + 1 === this.pageCount) this.addPage();
    else this.goTo({ page: this.page + 1, y: this.#tops[this.page + 1] ?? 0 });
  }

  /** Continues at another place, such as beside earlier content. */
  goTo({ page, y }: SheetPlace): void {
    this.document.switchToPage(page);
    this.page = page;
    this.y = y;
    this.#color = '';
  }

  /** Returns the number of lines that still fit on the page, at least 1. */
  linesLeft({ leading }: TextStyle): number {
    return Math.max(1, Math.floor((this.bottom - this.y) / leading));
  }

  /** @param goesOn whether the text continues in another block of the same tag. */
  text(text: string, style: TextStyle, width: number, goesOn = false): TextBlock {
    return textBlock(text, style, width, this.fonts, goesOn);
  }

  textWidth(text: string, style: TextStyle): number {
    return textWidth(text, style, this.fonts);
  }

  /** Adds a tag for other tags, or for nothing, as in an empty cell. It must be ended before its parent. */
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

  /** Adds content to a tag; the tag can span several pages. */
  content(tag: Tag, type: string, draw: () => void): void {
    tag.add(this.document.markStructureContent(type));
    draw();
    this.document.endMarkedContent();
  }

  /** Draws content that carries no meaning, or repeats other content. */
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

  /** Draws a block at the current position, and continues below it. */
  drawDown(block: TextBlock, space: Omit<Box, 'y'>): void {
    this.draw(block, { ...space, y: this.y });
    this.y += block.height;
  }

  /** Draws one line whose space begins at `y`. */
  drawLine(line: TextLine, style: TextStyle, x: number, y: number): void {
    this.#fill(style.color);
    // Centres letters vertically, so that different sizes in one row align.
    const baseline = y + style.leading / 2 + style.size * 0.33;
    for (const run of line.runs) {
      const place = { x: x + run.left * style.size, y: baseline, size: style.size * run.face.sizeFactor };
      this.document.addContent(this.#font(run.face).show(run, place));
    }
  }

  #font(face: Face): EmbeddedFont {
    const found = this.#embedded.get(face);
    const font =
      found?.isFull === false ? found : new EmbeddedFont(this.document, face, found && found.part + 1);
    if (font !== found) this.#embedded.set(face, font);
    const fonts = this.document.page.fonts as Record<string, unknown>;
    fonts[font.id] ??= font.ref();
    return font;
  }

  /** Adds a picture with alternative text. */
  figure(
    parent: Tag,
    { x, y, width, height }: Box & { height: number },
    alt: string,
    draw: () => void,
  ): void {
    const left = x + this.#shift;
    this.tagged(parent, 'Figure', draw, { alt, bbox: [left, y, left + width, y + height] });
  }

  /** Draws a block at the current position as a paragraph that links to a URL. */
  link(parent: Tag, block: TextBlock, { x, width }: Omit<Box, 'y'>, url: string): void {
    const paragraph = this.group(parent, 'P');
    const link = this.group(paragraph, 'Link');
    const { y } = this;
    this.content(link, 'Link', () => this.drawDown(block, { x, width }));
    // The description is for screen readers (ISO 14289-1, 7.18.5). A String object makes pdfkit write a text, not a name.
    const options = { structParent: link, Contents: new String(`Payment at ${url}`) as string };
    this.document.link(x, y, width, block.height, url, options);
    link.end();
    paragraph.end();
  }

  /** Draws a QR code into a square. */
  code({ size, runs }: PaymentCode, { x, y, width }: Box): void {
    this.#fill('#000000');
    this.document
      .save()
      .translate(x, y)
      .scale(width / size)
      .addContent(runs.map((run) => `${run.x} ${run.y} ${run.length} 1 re`).join('\n'))
      .fill()
      .restore();
    // The colour was restored, too.
    this.#color = '';
  }

  picture(logo: Logo, x: number, y: number, size: { width: number; height: number }): void {
    this.document.image(logo.file, x, y, size);
  }

  rule(y: number, { x, width }: Omit<Box, 'y'>, color: string, thickness = 0.6): void {
    this.document
      .lineWidth(thickness)
      .strokeColor(this.#colours[color] ?? color)
      .moveTo(x, y)
      .lineTo(x + width, y)
      .stroke();
  }

  panel({ x, y, width }: Box, height: number, color: string): void {
    this.#fill(color);
    this.document.rect(x, y, width, height).fill();
  }

  #fill(color: string): void {
    if (color !== this.#color) this.document.fillColor(this.#colours[color] ?? color);
    this.#color = color;
  }
}
