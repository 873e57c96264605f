import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { create as Create, Font } from 'fontkit';
import { type LayOut, layoutOf } from './glyphs.ts';

/** Loads libraries, only when the first Chinese, Japanese or Korean text needs them. */
const load = createRequire(import.meta.url);

/**
 * A typeface with thousands of letters. Its package splits it into slices of some hundred letters, as WOFF2 files with all
 * weights; a document uses only the slices of its letters.
 */
interface Sliced {
  folder: string;
  /** The slice of each letter, by code point. */
  slices: ReadonlyMap<number, string>;
  /** The slices read so far. */
  fonts: Map<string, Font>;
}

const folders = {
  sc: import.meta.resolve('@fontsource-variable/noto-sans-sc/unicode.json'),
  jp: import.meta.resolve('@fontsource-variable/noto-sans-jp/unicode.json'),
  kr: import.meta.resolve('@fontsource-variable/noto-sans-kr/unicode.json'),
};

/** Chinese, Japanese and Korean typefaces; a letter they share looks different in each. */
export type Han = keyof typeof folders;

/** Letters that a package lists but its slices lack. A test checks all letters. */
const ABSENT: Partial<Record<Han, RegExp>> = { sc: /[\u4db6-\u4dbf\u9ff0-\u9fff]/, kr: /\u9699/ };

const opened = new Map<Han, Sliced>();

function sliced(han: Han): Sliced {
  const found = opened.get(han);
  if (found) return found;
  const path = fileURLToPath(folders[han]);
  const ranges = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  const slices = new Map<number, string>();
  for (const [name, list] of Object.entries(ranges)) {
    const [, number] = /^\[(\d+)\]$/.exec(name) ?? [];
    // The other slices are for Latin and similar scripts.
    if (number === undefined) continue;
    for (const range of list.split(',')) {
      const [first = '', last = first] = range.replace('U+', '').split('-');
      for (let letter = parseInt(first, 16); letter <= parseInt(last, 16); letter += 1)
        slices.set(letter, number);
    }
  }
  const typeface = {
    folder: path.replace(/unicode\.json$/, 'files'),
    slices,
    fonts: new Map<string, Font>(),
  };
  opened.set(han, typeface);
  return typeface;
}

export function covers(han: Han, letter: number): boolean {
  if (letter < FROM || ABSENT[han]?.test(String.fromCodePoint(letter)) === true) return false;
  return sliced(han).slices.has(letter);
}

/** The first code point of these scripts. */
const FROM = 0x2e80;

/** Matches text that needs slices. Two brackets are encoded a second time, below the other letters. */
const ANY = /[\u2329\u232a\u2e80-\u{10ffff}]/u;

let lastRead: Promise<void> = Promise.resolve();

/** Reads the slices that a text may need, in any of these typefaces: once per process, at five milliseconds each. */
export async function readSlices(text: string): Promise<void> {
  if (!ANY.test(text)) return;
  // Reads in turn, because wawoff2 returns its own memory, which the next call overwrites.
  lastRead = lastRead.catch(() => undefined).then(() => readNow(text));
  await lastRead;
}

async function readNow(text: string): Promise<void> {
  // Some letters are printed as compatible equivalents.
  const all = new Set(text.normalize('NFC') + text.normalize('NFKC'));
  const letters = Array.from(all, (letter) => letter.codePointAt(0) ?? 0).filter((letter) => letter >= FROM);
  const { create } = load('fontkit') as { create: typeof Create };
  const decompress = load('wawoff2/decompress') as (file: Buffer) => Promise<Uint8Array>;
  for (const han of Object.keys(folders) as Han[]) {
    const { folder, slices, fonts } = sliced(han);
    for (const letter of letters) {
      const slice = slices.get(letter);
      if (slice === undefined || fonts.has(slice)) continue;
      const file = readFileSync(`${folder}/noto-sans-${han}-${slice}-wght-normal.woff2`);
      fonts.set(slice, create(Buffer.from(await decompress(file))) as Font);
    }
  }
}

/**
 * Returns a function that lays out letters read by `readSlices`, each in a square, without joining or kerning.
 * @param weight the weight as in CSS.
 */
export function layingOutHan(han: Han, weight: number): LayOut {
  const fonts = new Map<string, Font>();
  const fontOf = (letter: number): Font => {
    const { slices, fonts: read } = sliced(han);
    const slice = slices.get(letter) ?? '';
    const font = fonts.get(slice) ?? read.get(slice)?.getVariation({ wght: weight });
    if (!font) throw new Error(`The slice ${slice} of the typeface ${han} hasn't been read.`);
    fonts.set(slice, font);
    return font;
  };
  return (word, isRtl) => {
    const placed = Array.from(word, (text) => {
      const codePoint = text.codePointAt(0) ?? 0;
      const font = fontOf(codePoint);
      const { id, advanceWidth } = font.glyphForCodePoint(codePoint);
      const parts = [{ font, id, x: 0, y: 0 }];
      return { glyph: { key: text, parts, advanceWidth, codePoint }, advance: advanceWidth };
    });
    return layoutOf(isRtl ? placed.reverse() : placed);
  };
}

/** Returns any slice read so far, for properties that all slices share, such as the height of letters. */
export function anySlice(han: Han): Font {
  const [font] = sliced(han).fonts.values();
  if (!font) throw new Error(`No slice of the typeface ${han} has been read.`);
  return font;
}
