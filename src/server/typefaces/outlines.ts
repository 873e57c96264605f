import type { Font } from 'fontkit';
import type { PlacedGlyph } from './glyphs.ts';

/** fontkit's subset of a TrueType font, which pdfkit embeds; its types lack all of this. */
interface Subset {
  /** The glyphs that it holds: those of the font by their numbers, and such as are drawn anew. */
  glyphs: (number | Outlined)[];
  glyf: Uint8Array[];
  loca: { offsets: number[] };
  hmtx: { metrics: { advance: number; bearing: number }[] };
  offset: number;
  _addGlyph: (glyph: number | Outlined) => void;
}

/** A glyph that is drawn anew, of parts that may come from several fonts. */
export interface Outlined {
  parts: readonly PlacedGlyph[];
  advanceWidth: number;
}

/**
 * A font as pdfkit embeds it: its subset takes letters with their marks as one glyph each, and glyphs of other fonts. So
 * each glyph of a document stands for letters of its own, and every reader finds them in the order in which they are written.
 */
export function embeddable(font: Font): Font {
  const inner = font as unknown as { loca: object; createSubset: () => Subset };
  const createSubset = () => {
    const subset = inner.createSubset.call(own);
    const addFromFont = subset._addGlyph.bind(subset);
    subset._addGlyph = (glyph) => {
      if (typeof glyph === 'number') addFromFont(glyph);
      else addOutlined(subset, font, glyph);
    };
    return subset;
  };
  // The outlines of a long text need longer offsets than those of some fonts.
  const loca = { ...inner.loca, version: 1 };
  const own = Object.create(font, { loca: { value: loca }, createSubset: { value: createSubset } }) as Font;
  return own;
}

function addOutlined(subset: Subset, font: Font, { parts, advanceWidth }: Outlined): void {
  const { bytes, left } = outlineOf(parts.flatMap((part) => contoursOf(part.font ?? font, part)));
  subset.glyf.push(bytes);
  subset.loca.offsets.push(subset.offset);
  subset.hmtx.metrics.push({ advance: Math.round(advanceWidth), bearing: left });
  subset.offset += bytes.length;
}

interface Point {
  x: number;
  y: number;
  isOnCurve: boolean;
}

/** A simple glyph of the table `glyf` (ISO 14496-22, 5.3.3), without hints. */
function outlineOf(contours: readonly Point[][]): { bytes: Uint8Array; left: number } {
  const points = contours.flat();
  if (points.length === 0) return { bytes: new Uint8Array(), left: 0 };
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const smallest = (values: number[]) => values.reduce((a, b) => Math.min(a, b));
  const largest = (values: number[]) => values.reduce((a, b) => Math.max(a, b));
  let end = -1;
  const ends = contours.map(({ length }) => (end += length));
  const steps = (values: number[]) => values.map((value, index) => value - (values[index - 1] ?? 0));
  const left = smallest(xs);
  const words = (values: number[]) => {
    const buffer = Buffer.alloc(values.length * 2);
    values.forEach((value, index) =>
      buffer.writeInt16BE(Math.max(-0x8000, Math.min(0x7fff, value)), index * 2),
    );
    return buffer;
  };
  const bytes = Buffer.concat([
    words([contours.length, left, smallest(ys), largest(xs), largest(ys), ...ends, 0]),
    Buffer.from(points.map(({ isOnCurve }) => (isOnCurve ? 1 : 0))),
    words([...steps(xs), ...steps(ys)]),
  ]);
  return { bytes: Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]), left };
}

function contoursOf(font: Font, { id, x, y }: PlacedGlyph): Point[][] {
  const contours: Point[][] = [];
  for (const { command, args } of font.getGlyph(id).path.commands) {
    if (command === 'moveTo') contours.push([]);
    for (let index = 0; index + 1 < args.length; index += 2) {
      const isOnCurve = command !== 'quadraticCurveTo' || index === 2;
      const [pointX = 0, pointY = 0] = args.slice(index, index + 2);
      contours.at(-1)?.push({ x: Math.round(pointX + x), y: Math.round(pointY + y), isOnCurve });
    }
  }
  return contours;
}
