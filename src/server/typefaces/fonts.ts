import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { create as Create, Font } from 'fontkit';
import { RIGHT_TO_LEFT } from './direction.ts';
import { type LayOut, layingOut, type Shaping, wordsOf } from './glyphs.ts';
import { anySlice, covers as coversHan, type Han, layingOutHan } from './han.ts';
import { embeddable } from './outlines.ts';

/** Loads fontkit together with the fonts, neither of which a server needs at startup. */
const load = createRequire(import.meta.url);

export type Weight = 'regular' | 'semibold';

/** One font of a fallback chain, parsed once, when a text first needs it. */
export interface Face {
  name: string;
  /** The font that pdfkit embeds. */
  readonly source: Font;
  /** The factor that scales its x-height to the main font's. */
  sizeFactor: number;
  /** Whether it has all characters of a text, and is for its script. */
  covers: (text: string) => boolean;
  layOut: LayOut;
  /** Returns the width of a text in units of the font size. */
  width: (text: string, isRtl?: boolean) => number;
  /** For a Chinese, Japanese or Korean font, the countries whose letter forms it has. */
  countries?: readonly string[];
}

/** The font chain of each weight: the main font, then fonts for single scripts, and last a fallback for everything else. */
export type Fonts = Readonly<Record<Weight, readonly Face[]>>;

/** The properties in which a font differs from the main one. */
interface Kind {
  sizeFactor?: number;
  shaping?: Shaping;
  /** Letters of which a text must contain one to use the font, because several fonts share some signs. */
  letters?: RegExp;
}

/** The fallback font's kind, scaled so that small letters of DejaVu Sans are as high as those of Source Sans. */
const FALLBACK: Kind = { sizeFactor: 0.89 };

const noto = {
  Arabic: { shaping: 'joined', letters: /\p{scx=Arab}/u },
  Hebrew: { shaping: 'clusters', letters: /\p{scx=Hebr}/u },
  Devanagari: { shaping: 'clusters', letters: /\p{scx=Deva}/u },
  Thai: { shaping: 'clusters', letters: /\p{scx=Thai}/u },
} satisfies Record<string, Kind>;

/** Punctuation used between Chinese and Japanese letters, with their width. */
const SIGNS = String.raw`\u3001-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65`;

const han: Record<Han, { letters: RegExp; countries: readonly string[] }> = {
  sc: { letters: only(String.raw`\p{sc=Hani}\p{sc=Bopo}`), countries: ['CN', 'SG', 'TW', 'HK', 'MO'] },
  jp: { letters: only(String.raw`\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\u30fc\uff70`), countries: ['JP'] },
  kr: { letters: only(String.raw`\p{sc=Hani}\p{sc=Hang}`), countries: ['KR', 'KP'] },
};

function only(letters: string): RegExp {
  return new RegExp(`^[${letters}${SIGNS}]+$`, 'u');
}

/** Returns the fonts of all scripts, none of them parsed yet. */
export function loadFonts(): Fonts {
  return {
    regular: facesOf('400Regular', 400, import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')),
    semibold: facesOf('600SemiBold', 600, import.meta.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf')),
  };
}

function facesOf(style: string, weight: number, fallback: string): Face[] {
  const load = (typeface: string, name: string) =>
    import.meta.resolve(`${typeface}/${style}/${name}_${style}.ttf`);
  return [
    fontFace(load('@expo-google-fonts/source-sans-3', 'SourceSans3')),
    fontFace(load('@expo-google-fonts/noto-sans-arabic', 'NotoSansArabic'), noto.Arabic),
    fontFace(load('@expo-google-fonts/noto-sans-hebrew', 'NotoSansHebrew'), noto.Hebrew),
    fontFace(load('@expo-google-fonts/noto-sans-devanagari', 'NotoSansDevanagari'), noto.Devanagari),
    fontFace(load('@expo-google-fonts/noto-sans-thai', 'NotoSansThai'), noto.Thai),
    ...(Object.keys(han) as Han[]).map((name) => hanFace(name, weight)),
    fontFace(fallback, FALLBACK),
  ];
}

/** Returns fonts in order of preference for a country: those with its own forms of Chinese letters come first. */
export function fontsFor(country: string, fonts: Fonts): Fonts {
  const isOf = ({ countries = [] }: Face) => Number(countries.includes(country));
  const sorted = ([main, ...others]: readonly Face[]) =>
    [main, ...others.toSorted((a, b) => isOf(b) - isOf(a))].filter((face) => face !== undefined);
  return { regular: sorted(fonts.regular), semibold: sorted(fonts.semibold) };
}

let shared: Fonts | undefined;

/** Returns fonts shared by checks of which letters can be printed, parsed when first needed. */
export function sharedFonts(): Fonts {
  return (shared ??= loadFonts());
}

interface Parsed {
  source: Font;
  has: ReadonlySet<number>;
  layOut: LayOut;
}

function fontFace(url: string, { sizeFactor = 1, shaping = 'letters', letters }: Kind = {}): Face {
  let kept: Parsed | undefined;
  const parsed = () => (kept ??= parse(url, shaping));
  // Only the fonts for single scripts are known to set right-to-left text correctly.
  const isFor = (text: string) => letters?.test(text) ?? !RIGHT_TO_LEFT.test(text);
  return face(url, {
    sizeFactor,
    source: () => parsed().source,
    covers: (text) => isFor(text) && everyLetter(text, (letter) => parsed().has.has(letter)),
    layOut: (word, isRtl) => parsed().layOut(word, isRtl),
  });
}

function parse(url: string, shaping: Shaping): Parsed {
  const { create } = load('fontkit') as { create: typeof Create };
  // The file has a single font, so this isn't a collection.
  const font = create(readFileSync(fileURLToPath(url))) as Font;
  return { source: embeddable(font), has: new Set(font.characterSet), layOut: layingOut(font, shaping) };
}

function hanFace(name: Han, weight: number): Face {
  const { letters, countries } = han[name];
  let source: Font | undefined;
  return face(`${name} ${weight}`, {
    sizeFactor: 1,
    countries,
    source: () => (source ??= embeddable(anySlice(name))),
    covers: (text) => letters.test(text) && everyLetter(text, (letter) => coversHan(name, letter)),
    layOut: layingOutHan(name, weight),
  });
}

function face(
  name: string,
  { source, ...given }: Omit<Face, 'name' | 'source' | 'width'> & { source: () => Font },
): Face {
  let scale: number | undefined;
  const width = (text: string, isRtl = false) => {
    let sum = 0;
    for (const word of wordsOf(text)) sum += given.layOut(word, isRtl).width;
    return sum * (scale ??= given.sizeFactor / source().unitsPerEm);
  };
  return {
    name,
    ...given,
    width,
    get source() {
      return source();
    },
  };
}

function everyLetter(text: string, has: (letter: number) => boolean): boolean {
  for (const letter of text) if (!has(letter.codePointAt(0) ?? 0)) return false;
  return true;
}
