/** Reads PDFs as programs do that didn't write them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createCanvas, type ImageData } from '@napi-rs/canvas';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { PageViewport, PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** A piece of text where it stands, in points from the upper left corner of its page, the first of which is 1. */
export interface PlacedText {
  text: string;
  page: number;
  left: number;
  right: number;
  /** Of the line on which the letters stand. */
  baseline: number;
  size: number;
  isRotated: boolean;
}

/** The test suite's output folder, which git ignores. */
const OUTPUT = join(import.meta.dirname, '../../../../.tap/documents');

/** Opens a PDF for as long as something is read in it. */
export async function withPdf<T>(bytes: Buffer, read: (pdf: PDFDocumentProxy) => Promise<T>): Promise<T> {
  // It takes the memory that it is given away.
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 });
  try {
    return await read(await task.promise);
  } finally {
    await task.destroy();
  }
}

/** Its pages, in their order. */
export async function* pagesOf(pdf: PDFDocumentProxy): AsyncGenerator<PDFPageProxy> {
  for (let number = 1; number <= pdf.numPages; number++) yield await pdf.getPage(number);
}

/** All pieces of text, page by page, in the order in which they are drawn. */
export async function placedTexts(bytes: Buffer): Promise<PlacedText[]> {
  return withPdf(bytes, async (pdf) => {
    const found: PlacedText[] = [];
    for await (const page of pagesOf(pdf)) {
      const { height } = page.getViewport({ scale: 1 });
      const { items } = await page.getTextContent({ disableNormalization: true });
      for (const item of items) {
        if (!('str' in item) || item.str.trim() === '') continue;
        const [a = 0, b = 0, , , x = 0, y = 0] = item.transform as number[];
        found.push({
          text: item.str,
          page: page.pageNumber,
          left: x,
          right: x + item.width,
          baseline: height - y,
          size: Math.hypot(a, b),
          isRotated: Math.abs(b) > 0.01,
        });
      }
    }
    return found;
  });
}

/** The text of a file inside; undefined when there is none of that name. */
export async function attachmentOf(bytes: Buffer, name: string): Promise<string | undefined> {
  return withPdf(bytes, async (pdf) => {
    const names = await pdf.getAttachments();
    if (!names?.has(name)) return undefined;
    // Its types don't say that this is an array of bytes.
    const content = (await pdf.getAttachmentContent(name)) as unknown as Uint8Array;
    return Buffer.from(content).toString('utf8');
  });
}

/** The text of a document with single spaces, as somebody reads it. */
export async function textOf(bytes: Buffer): Promise<string> {
  const texts = await placedTexts(bytes);
  return texts
    .map(({ text }) => text)
    .join(' ')
    .replace(/\s+/g, ' ');
}

type Size = Record<'width' | 'height', number>;

async function paintPage(page: PDFPageProxy, viewport: PageViewport, size: Size = viewport) {
  const canvas = createCanvas(size.width, size.height);
  // pdf.js is typed for a browser's canvas, which this one is like.
  await page.render({ canvas: canvas as never, viewport }).promise;
  return canvas;
}

/** The pixels of each page, as a camera sees it that has the whole page in view. */
export async function pixelsOf(bytes: Buffer, scale: number): Promise<ImageData[]> {
  return withPdf(bytes, async (pdf) => {
    const pages: ImageData[] = [];
    for await (const page of pagesOf(pdf)) {
      const canvas = await paintPage(page, page.getViewport({ scale }));
      pages.push(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height));
    }
    return pages;
  });
}

/** Paints the first pages of a document into the output folder, for people to look at. */
export async function paint(bytes: Buffer, name: string, pagesMax = 3): Promise<void> {
  await withPdf(bytes, async (pdf) => {
    for await (const page of pagesOf(pdf)) {
      if (page.pageNumber > pagesMax) return;
      const canvas = await paintPage(page, page.getViewport({ scale: 1.4 }));
      const path = join(OUTPUT, `${name.replace(/[^a-z0-9]+/gi, '-')}-${page.pageNumber}.png`);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, await canvas.encode('png'));
    }
  });
}

/** The picture on the first page as it is painted, at 10 pixels for each point. */
export async function paintedLogo(bytes: Buffer, size: Size): Promise<(x: number, y: number) => number[]> {
  return withPdf(bytes, async (pdf) => {
    const page = await pdf.getPage(1);
    const [offsetX, offsetY] = [-LOGO.left * LOGO.scale, -LOGO.top * LOGO.scale];
    const viewport = page.getViewport({ scale: LOGO.scale, offsetX, offsetY });
    const { width, height } = size;
    const canvas = await paintPage(page, viewport, {
      width: width * LOGO.scale,
      height: height * LOGO.scale,
    });
    return (x, y) =>
      [...canvas.getContext('2d').getImageData(x * LOGO.scale, y * LOGO.scale, 1, 1).data].slice(0, 3);
  });
}

/** Where a logo stands, in points. */
const LOGO = { left: 56.7, top: 45, scale: 10 };
