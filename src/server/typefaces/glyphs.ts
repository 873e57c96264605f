import type { Font } from 'fontkit';
import { mirrored } from './direction.ts';

/** A glyph, moved from where the pen stands. Measures are in units of the font, here and below. */
export interface PlacedGlyph {
  id: number;
  x: number;
  y: number;
  /** The font that has it, if it isn't the one that is embedded. */
  font?: Font;
}

/** A letter as a document shows it. */
export interface Glyph {
  /** Tells it from all others of its face: a form that stands for two letters is two glyphs. */
  key: string;
  /** None for what is drawn with the letter before it, such as an accent. */
  parts: readonly PlacedGlyph[];
  advanceWidth: number;
  codePoint: number;
}

/** The glyphs of a text from left to right, and how far the pen goes on after each, which kerning changes. */
export interface Layout {
  glyphs: Glyph[];
  advances: number[];
  width: number;
}

export type LayOut = (word: string, isRtl: boolean) => Layout;

/** Words whose layout is kept for each font; a company's documents mostly say the same ones. */
const KEPT_LAYOUTS_MAX = 20_000;

/** Longer ones are seldom met again, and take memory by their length. */
const KEPT_WORD_MAX = 40;

/** Ligatures would be found as one odd character by who searches or copies the text. Kerning and marks stay. */
const NO_LIGATURES = Object.fromEntries(
  ['liga', 'clig', 'dlig', 'calt', 'ccmp', 'locl', 'rlig'].map((feature) => [feature, false]),
);

/**
 * How a script is shaped: letter by letter; as a word whose letters join (Arabic); or in clusters, where the form of a
 * letter and its place depend on its neighbours, and each cluster is drawn as one glyph.
 */
export type Shaping = 'letters' | 'joined' | 'clusters';

/** fontkit takes seconds for thousands of marks on one letter (UAX 15, section 13), so longer words are shaped in pieces. */
const PIECES = /[^ \u200c]{1,40}[ \u200c]?|[ \u200c]/gu;

/** Splits into words with the space, or the sign against joining, after each. */
export function wordsOf(text: string): string[] {
  return text.match(PIECES) ?? [];
}

const segmenter = new Intl.Segmenter('en');

/** The letters of a text, each with its marks, and a syllable of Devanagari as one (UAX 29). */
export function clustersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Lays out words in a font, and keeps the layouts. */
export function layingOut(font: Font, shaping: Shaping): LayOut {
  const shaper = shaperOf(font);
  let kept = new Map<string, Layout>();
  return (word, isRtl) => {
    const key = isRtl ? `\n${word}` : word;
    const found = kept.get(key);
    if (found) return found;
    if (kept.size >= KEPT_LAYOUTS_MAX) kept = new Map();
    const pieces = shaping === 'clusters' ? clustersOf(word) : [word];
    const shaped = pieces.flatMap((piece) => shape(shaper, shaping, piece, isRtl));
    const layout = layoutOf(isRtl ? shaped.reverse() : shaped);
    if (word.length <= KEPT_WORD_MAX) kept.set(key, layout);
    return layout;
  };
}

/** The layout of glyphs that come from left to right. */
export function layoutOf(placed: readonly Placed[]): Layout {
  const advances = placed.map(({ advance }) => advance);
  return {
    glyphs: placed.map(({ glyph }) => glyph),
    advances,
    width: advances.reduce((sum, advance) => sum + advance, 0),
  };
}

/**
 * fontkit keeps one object for each glyph, with the characters for which it was first used, perhaps in another document.
 * The meaning of a glyph must depend on this text alone, so each use gets an object of its own.
 */
function shaperOf(font: Font): Font {
  const getGlyph = (id: number, codePoints: number[] = []) => ({
    id,
    codePoints,
    advanceWidth: font.getGlyph(id).advanceWidth,
  });
  const shaper = Object.create(font, { getGlyph: { value: getGlyph } }) as Font & {
    _layoutEngine: LayoutEngine;
  };
  const { GPOSProcessor: positions } = shaper._layoutEngine.engine;
  const applyLookup = positions.applyLookup.bind(positions);
  // fontkit fails where a letter has no place for one kind of mark; another lookup may have one (ISO 14496-22, 6.3.2).
  positions.applyLookup = (type, table) => {
    try {
      return applyLookup(type, table);
    } catch {
      return false;
    }
  };
  return shaper;
}

/** The tables by which fontkit places marks. */
interface LayoutEngine {
  engine: { GPOSProcessor: { applyLookup: (type: number, table: unknown) => boolean } };
}

interface Placed {
  glyph: Glyph;
  advance: number;
}

/** A glyph of fontkit's, the letters that it stands for, and its place. */
interface Shaped {
  id: number;
  text: string;
  advanceWidth: number;
  xAdvance: number;
  xOffset: number;
  yOffset: number;
}

/** Shapes a piece of text. Its glyphs come in the order in which they are written. */
function shape(shaper: Font, shaping: Shaping, piece: string, isRtl: boolean): Placed[] {
  const forms = formsOf(isRtl ? mirrored(piece) : piece);
  const features = shaping === 'letters' ? NO_LIGATURES : undefined;
  const run = shaper.layout(forms, features, undefined, undefined, isRtl ? 'rtl' : 'ltr');
  const glyphs = run.glyphs.map(({ id, codePoints, advanceWidth }, index): Shaped => {
    const { xAdvance = 0, xOffset = 0, yOffset = 0 } = run.positions[index] ?? {};
    return { id, text: String.fromCodePoint(...codePoints), advanceWidth, xAdvance, xOffset, yOffset };
  });
  if (isRtl) glyphs.reverse();
  const letters = lettersOf(glyphs);
  const texts = letters.map((letter) => letter.map(({ text }) => text).join(''));
  // Where letters change places, or fontkit loses what a glyph stands for, the piece is drawn as one.
  const isOne = shaping === 'clusters' || texts.join('') !== forms || forms.length !== piece.length;
  if (isOne) return placed(isRtl ? glyphs.toReversed() : glyphs, piece);
  let from = 0;
  return letters.flatMap((letter, index) => {
    const text = piece.slice(from, (from += texts[index]?.length ?? 0));
    return placed(isRtl ? letter.toReversed() : letter, text);
  });
}

/** A mark belongs to the letter before it, as does the rest of a letter that is drawn in several glyphs. */
function lettersOf(glyphs: readonly Shaped[]): Shaped[][] {
  const letters: Shaped[][] = [];
  for (const glyph of glyphs) {
    const last = letters.at(-1);
    if (last && /^\p{M}*$/u.test(glyph.text)) last.push(glyph);
    else letters.push([glyph]);
  }
  return letters;
}

/**
 * A text in the order in which it is shaped, which fontkit leaves to us: the tone of Thai between the two signs of the vowel
 * am, the doubling of Arabic before the vowel on it. The sign against joining has done its work.
 */
function formsOf(text: string): string {
  return text
    .replace(/([\u0e48-\u0e4b]?)\u0e33/g, '\u0e4d$1\u0e32')
    .replace(/([\u064b-\u0650]+)\u0651/g, '\u0651$1')
    .replace('\u200c', '');
}

/**
 * The letters of a text as one glyph each, so that every reader finds them as they are written: the first with all that is
 * drawn, the others empty.
 */
function placed(glyphs: readonly Shaped[], text: string): Placed[] {
  let pen = 0;
  const parts = glyphs.map(({ id, xAdvance, xOffset, yOffset }): PlacedGlyph => {
    const part = { id, x: pen + xOffset, y: yOffset };
    pen += xAdvance;
    return part;
  });
  // Kerning moves the pen, and is no part of a font's own glyph.
  const advanceWidth = glyphs.length === 1 ? (glyphs[0]?.advanceWidth ?? 0) : pen;
  const form = parts.map(({ id, x, y }) => [id, x, y].join()).join(' ');
  // The true minus is copied as a hyphen, which spreadsheets read as one.
  return Array.from(text.replaceAll('\u2212', '-'), (letter, index) => {
    const codePoint = letter.codePointAt(0) ?? 0;
    if (index > 0) return { glyph: { key: letter, parts: [], advanceWidth: 0, codePoint }, advance: 0 };
    return { glyph: { key: `${form} ${letter}`, parts, advanceWidth, codePoint }, advance: pen };
  });
}
