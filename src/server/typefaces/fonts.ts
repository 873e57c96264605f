import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { create as Create, Font } from 'fontkit';

/** Fontkit is loaded with the fonts: a server's start needs neither. */
const load = createRequire(import.meta.url);

export type Weight = 'regular' | 'semibold';

/** One font of a chain, parsed once for all documents. Widths are in units of the font size. */
export interface Face {
  name: string;
  /** The font that pdfkit embeds. */
  source: Font;
  /** By how much it is set smaller, so that its small letters are as high as the main font's. */
  sizeFactor: number;
  covers: (codePoint: number) => boolean;
  width: (text: string) => number;
}

/** For each weight the main font, and after it the one for what it lacks. */
export type Fonts = Readonly<Record<Weight, readonly [main: Face, fallback: Face]>>;

interface Layout {
  glyphs: { id: number; advanceWidth: number; codePoints: number[] }[];
  positions: { xAdvance: number; yAdvance: number; xOffset: number; yOffset: number }[];
  advanceWidth: number;
}

/** Words whose layout is kept for each font; a company's documents mostly say the same ones. */
const KEPT_LAYOUTS_MAX = 20_000;

/** Longer ones are seldom met again, and take memory by their length. */
const KEPT_WORD_MAX = 40;

/** Ligatures would be found as one odd character by who searches or copies the text. Kerning and marks stay. */
const FEATURES = Object.fromEntries(
  ['liga', 'clig', 'dlig', 'calt', 'ccmp', 'locl', 'rlig'].map((feature) => [feature, false]),
);

/** Makes the small letters of DejaVu Sans as high as those of Source Sans. */
const FALLBACK_SIZE = 0.89;

/** Parses the fonts. It takes some 50 ms. */
export function loadFonts(): Fonts {
  const [regular, semibold] = [
    import.meta.resolve('@expo-google-fonts/source-sans-3/400Regular/SourceSans3_400Regular.ttf'),
    import.meta.resolve('@expo-google-fonts/source-sans-3/600SemiBold/SourceSans3_600SemiBold.ttf'),
  ];
  const [fallback, bold] = [
    import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'),
    import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'),
  ];
  return {
    regular: [loadFace(regular, 1), loadFace(fallback, FALLBACK_SIZE)],
    semibold: [loadFace(semibold, 1), loadFace(bold, FALLBACK_SIZE)],
  };
}

let shared: Fonts | undefined;

/** The fonts for those who ask what they have forms for; parsed at the first question. */
export function sharedFonts(): Fonts {
  return (shared ??= loadFonts());
}

function loadFace(url: string, sizeFactor: number): Face {
  const { create } = load('fontkit') as { create: typeof Create };
  // A file of one font has no collection.
  const font = create(readFileSync(fileURLToPath(url))) as Font;
  const layout = keepingLayouts(font);
  const source = Object.create(font, {
    layout: {
      value: (text: string) => {
        const { positions, ...rest } = layout(text);
        // pdfkit scales the positions that it gets.
        return { ...rest, positions: positions.map((position) => ({ ...position })) };
      },
    },
  }) as Font;
  const covered = new Set(font.characterSet);
  const scale = sizeFactor / font.unitsPerEm;
  return {
    name: font.postscriptName,
    source,
    sizeFactor,
    covers: (codePoint) => covered.has(codePoint),
    width: (text) => wordsOf(text).reduce((sum, word) => sum + layout(word).advanceWidth, 0) * scale,
  };
}

/** Splits as pdfkit does, so that both measure the same pieces: each word with the space after it. */
function wordsOf(text: string): string[] {
  return text.match(/[^ ]* |[^ ]+$/g) ?? [];
}

function keepingLayouts(font: Font): (word: string) => Layout {
  let kept = new Map<string, Layout>();
  return (word) => {
    const found = kept.get(word);
    if (found) return found;
    if (kept.size >= KEPT_LAYOUTS_MAX) kept = new Map();
    const layout = layoutOf(font, word);
    if (word.length <= KEPT_WORD_MAX) kept.set(word, layout);
    return layout;
  };
}

/**
 * fontkit keeps one object for each glyph, with the characters for which it was first used, perhaps in another
 * document. The meaning of a glyph must depend on this text alone; without ligatures that is one character each.
 */
function layoutOf(font: Font, word: string): Layout {
  const run = font.layout(word, FEATURES);
  // The true minus is copied as a hyphen, which spreadsheets read as one.
  const codePoints = [...word.replaceAll('\u2212', '-')].map((character) => character.codePointAt(0) ?? 0);
  return {
    glyphs: run.glyphs.map(({ id, advanceWidth }, index) => ({
      id,
      advanceWidth,
      codePoints: [codePoints[index] ?? 0xfffd],
    })),
    positions: run.positions.map(({ xAdvance, yAdvance, xOffset, yOffset }) => ({
      xAdvance,
      yAdvance,
      xOffset,
      yOffset,
    })),
    advanceWidth: run.advanceWidth,
  };
}
