import { sharedFonts } from './fonts.ts';
import type { Face, Fonts, Weight } from './fonts.ts';

/** Text in one font; `width` is in units of the font size. */
export interface Run {
  face: Face;
  text: string;
  width: number;
}

/** Stands for a character that no font has, so that its loss is seen. */
const REPLACEMENT = '\ufffd';

/** Marks of things that are lost already, such as a picture in a copied text. The fonts have empty glyphs for some. */
const LOST = /[\ufff9-\ufffd]/;

/** Written from right to left, which isn't supported; as well as what only a program sees. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Means something to one program or nothing to any, so it can't be read aloud (ISO 19005-3, 6.2.11.7.3). */
const PRIVATE = /[\p{Co}\p{Cn}\p{Cs}]/u;

/** Another form may mean something else. */
const FORM_COUNTS = /[\p{No}\p{Lm}\u2460-\u24ff\u{1f100}-\u{1f1ff}]/u;

/** A letter and the marks on it come from one font. More marks than any language has take fontkit seconds (UAX 15, section 13). */
const LETTERS = /\n|[^\n\p{M}]\p{M}{0,30}|\p{M}{1,30}/gu;

/** Characters that every font has; most of a document's text. */
const ASCII = /^[\n -~]*$/;

/** Characters that share a glyph with another one in the fonts, and would be read back as the other. */
const SAME_GLYPH: Readonly<Record<string, string>> = {
  '\u00b5': '\u03bc',
  '\u2010': '-',
  '\u2011': '-',
  '\u2206': '\u0394',
  '\u02ed': '\u207c',
  '\u03d5': '\u03c6',
};

/**
 * Text as it can be set: composed characters, one kind of line end, nothing invisible but spaces, and a visible
 * replacement for every character that no font has.
 */
export function printable(text: string, fonts: Fonts): string {
  if (ASCII.test(text)) return text;
  return lettersOf(text, fonts)
    .map((letter) => (isSettable(letter, fonts) ? letter : REPLACEMENT))
    .join('');
}

/** The letters of a text, each once, that `printable` replaces. A replacement mark itself stands for a lost letter. */
export function unprintable(text: string): string[] {
  if (ASCII.test(text)) return [];
  const fonts = sharedFonts();
  return [...new Set(lettersOf(text, fonts).filter((letter) => !isSettable(letter, fonts)))];
}

/** Each character of a text in its plain form, with the marks on it. */
function lettersOf(text: string, fonts: Fonts): string[] {
  const plain = text
    .normalize('NFC')
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .replace(/[\t\u1680\u2000-\u200a\u205f\u3000]/g, ' ')
    .replace(
      /[\p{Cc}\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/gu,
      (character) => (character === '\n' ? '\n' : ''),
    )
    .replace(/[\u1c90-\u1cbf]/g, (capital) => capital.toLowerCase())
    .replace(/[\u00b5\u2010\u2011\u2206\u02ed\u03d5]/g, (character) => SAME_GLYPH[character] ?? character)
    .replace(/\u202f/g, '\u00a0');
  return (plain.match(LETTERS) ?? []).flatMap((letter) => sameInOthers(letter, fonts));
}

/**
 * A letter that no font has in others that mean the same, such as 'm²' for '㎡' and 'A' for a full-width one. Numbers, and
 * raised and enclosed letters, stay as they are: '3⅐' isn't '31/7'.
 */
function sameInOthers(letter: string, fonts: Fonts): string[] {
  if (isSettable(letter, fonts) || FORM_COUNTS.test(letter)) return [letter];
  // Unicode writes the power of a unit as a plain figure.
  const plain = letter.normalize('NFKC').replace(/(?<=\p{L})[23]$/u, (power) => (power === '2' ? '²' : '³'));
  const letters = plain.match(LETTERS) ?? [];
  return letters.every((other) => isSettable(other, fonts)) ? letters : [letter];
}

function isSettable(letter: string, fonts: Fonts): boolean {
  if (letter === '\n') return true;
  if (LOST.test(letter) || RIGHT_TO_LEFT.test(letter) || PRIVATE.test(letter)) return false;
  // Set as any other space.
  const shown = letter.replace('\u00a0', ' ');
  // Every weight has to have it, since a text doesn't know in which it will be set; marks come from their letter's font.
  return Object.values(fonts).every((faces) => faces.some((face) => coversAll(face, shown)));
}

/** Splits printable text of one line into runs of the first font that has each whole word, or else each letter. */
export function runsOf(text: string, fonts: Fonts, weight: Weight): Run[] {
  const faces = fonts[weight];
  if (text === '') return [];
  if (ASCII.test(text)) return [{ face: faces[0], text, width: faces[0].width(text) }];
  const pieces: { face: Face; text: string }[] = [];
  const add = (face: Face, piece: string) => {
    const last = pieces.at(-1);
    if (last?.face === face) last.text += piece;
    else pieces.push({ face, text: piece });
  };
  // A space that may not break is read back as any other.
  for (const word of text.replaceAll('\u00a0', ' ').match(/ +|[^ ]+/g) ?? []) {
    const isSpace = word.startsWith(' ');
    const whole = isSpace ? (pieces.at(-1)?.face ?? faces[0]) : faces.find((face) => coversAll(face, word));
    if (whole) add(whole, word);
    else for (const letter of word.match(LETTERS) ?? []) add(faceOf(letter, faces), letter);
  }
  return pieces.map(({ face, text: piece }) => ({ face, text: piece, width: face.width(piece) }));
}

function faceOf(letter: string, faces: readonly [Face, Face]): Face {
  return faces.find((face) => coversAll(face, letter)) ?? faces[1];
}

function coversAll(face: Face, text: string): boolean {
  for (const character of text) {
    if (!face.covers(character.codePointAt(0) ?? 0)) return false;
  }
  return true;
}
