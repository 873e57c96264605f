import type { Font } from 'fontkit';
import type { PlacedGlyph } from './glyphs.ts';

/** fontkit's subset of a TrueType font, which pdfkit embeds; fontkit's types lack these members. */
interface Subset {
  /** The glyphs in the subset: numbers of the font's glyphs, and composed glyphs. */
  glyphs: (number | Outlined)[];
  glyf: Uint8Array[];
  loca: { offsets: number[] };
  hmtx: { metrics: { advance: number; bearing: number }[] };
  offset: number;
  _addGlyph: (glyph: number | Outlined) => void;
}

/** A composed glyph, whose parts can come from several fonts. */
export interface Outlined {
  parts: readonly PlacedGlyph[];
  advanceWidth: number;
}

/**
 * Returns a font that pdfkit can embed with composed glyphs: letters with their marks, and glyphs of other fonts. So each
 * glyph of a document stands for its own letters, and readers extract the text in logical order.
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
  // A long text's outlines need longer offsets than some fonts use.
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

/** Returns a simple glyph for the table `glyf` (ISO 14496-22, 5.3.3), without hints. */
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
