import type { Font } from 'fontkit';
import { mirrored } from './direction.ts';

/** A glyph with its offset from the pen. Measures are in font units, here and below. */
export interface PlacedGlyph {
  id: number;
  x: number;
  y: number;
  /** The glyph's font, if not the embedded one. */
  font?: Font;
}

/** A letter as a document shows it. */
export interface Glyph {
  /** A key unique within the face: one form that stands for two letters counts as two glyphs. */
  key: string;
  /** The glyphs that draw the letter; empty for one drawn with the letter before it, such as an accent. */
  parts: readonly PlacedGlyph[];
  advanceWidth: number;
  codePoint: number;
}

/** The glyphs of a text from left to right, and the pen's advance after each, with kerning. */
export interface Layout {
  glyphs: Glyph[];
  advances: number[];
  width: number;
}

export type LayOut = (word: string, isRtl: boolean) => Layout;

/** The most words whose layouts are cached per font; a company's documents mostly repeat the same words. */
const KEPT_LAYOUTS_MAX = 20_000;

/** The longest cached word; longer ones are rarely repeated, and take more memory. */
const KEPT_WORD_MAX = 40;

/** Features without ligatures, which would break searching and copying of text. Kerning and marks stay on. */
const NO_LIGATURES = Object.fromEntries(
  ['liga', 'clig', 'dlig', 'calt', 'ccmp', 'locl', 'rlig'].map((feature) => [feature, false]),
);

/**
 * The way a script is shaped: letter by letter; as words whose letters join (Arabic); or in clusters, where a letter's
 * form and place depend on its neighbours, and each cluster is drawn as one glyph.
 */
export type Shaping = 'letters' | 'joined' | 'clusters';

/** Matches pieces of words; fontkit takes seconds for thousands of marks on one letter (UAX 15, section 13). */
const PIECES = /[^ \u200c]{1,40}[ \u200c]?|[ \u200c]/gu;

/** Splits text into words, each with the space or zero-width non-joiner after it. */
export function wordsOf(text: string): string[] {
  return text.match(PIECES) ?? [];
}

const segmenter = new Intl.Segmenter('en');

/** Splits text into letters with their marks, and Devanagari into syllables (UAX 29). */
export function clustersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Returns a function that lays out words in a font and caches the layouts. */
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

/** Returns the layout of glyphs given from left to right. */
export function layoutOf(placed: readonly Placed[]): Layout {
  const advances = placed.map(({ advance }) => advance);
  return {
    glyphs: placed.map(({ glyph }) => glyph),
    advances,
    width: advances.reduce((sum, advance) => sum + advance, 0),
  };
}

/**
 * Returns a font that creates a new object for each use of a glyph. fontkit's own objects keep the characters of their
 * first use, perhaps in another document, but a glyph's meaning must depend on the present text alone.
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
  // fontkit throws where a letter has no anchor for a class of marks; another lookup may have one (ISO 14496-22, 6.3.2).
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

/** A glyph from fontkit, with the letters that it stands for, and its position. */
interface Shaped {
  id: number;
  text: string;
  advanceWidth: number;
  xAdvance: number;
  xOffset: number;
  yOffset: number;
}

/** Shapes a piece of text, returning its glyphs in logical order. */
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
  // Where letters are reordered, or fontkit loses a glyph's letters, the piece is drawn as one glyph.
  const isOne = shaping === 'clusters' || texts.join('') !== forms || forms.length !== piece.length;
  if (isOne) return placed(isRtl ? glyphs.toReversed() : glyphs, piece);
  let from = 0;
  return letters.flatMap((letter, index) => {
    const text = piece.slice(from, (from += texts[index]?.length ?? 0));
    return placed(isRtl ? letter.toReversed() : letter, text);
  });
}

/** Groups glyphs into letters: marks, and further glyphs of one letter, belong to the letter before them. */
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
 * Returns a text in shaping order, which fontkit requires: a Thai tone mark goes between the two signs of the vowel am,
 * and the Arabic shadda before its vowel. The zero-width non-joiner is no longer needed.
 */
function formsOf(text: string): string {
  return text
    .replace(/([\u0e48-\u0e4b]?)\u0e33/g, '\u0e4d$1\u0e32')
    .replace(/([\u064b-\u0650]+)\u0651/g, '\u0651$1')
    .replace('\u200c', '');
}

/**
 * Returns one glyph for each letter of a text, so that readers extract the text as written: the first glyph draws
 * everything, the others are empty.
 */
function placed(glyphs: readonly Shaped[], text: string): Placed[] {
  let pen = 0;
  const parts = glyphs.map(({ id, xAdvance, xOffset, yOffset }): PlacedGlyph => {
    const part = { id, x: pen + xOffset, y: yOffset };
    pen += xAdvance;
    return part;
  });
  // Kerning moves the pen, and isn't part of a glyph's own width.
  const advanceWidth = glyphs.length === 1 ? (glyphs[0]?.advanceWidth ?? 0) : pen;
  const form = parts.map(({ id, x, y }) => [id, x, y].join()).join(' ');
  // The minus sign is copied as a hyphen, which spreadsheets read as a minus.
  return Array.from(text.replaceAll('\u2212', '-'), (letter, index) => {
    const codePoint = letter.codePointAt(0) ?? 0;
    if (index > 0) return { glyph: { key: letter, parts: [], advanceWidth: 0, codePoint }, advance: 0 };
    return { glyph: { key: `${form} ${letter}`, parts, advanceWidth, codePoint }, advance: pen };
  });
}
