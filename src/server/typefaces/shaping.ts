import { type Direction, visualOrder } from './direction.ts';
import { sharedFonts } from './fonts.ts';
import type { Face, Fonts, Weight } from './fonts.ts';

/** Text in one font and direction; measures are in units of the font size. */
export interface Run {
  face: Face;
  text: string;
  isRtl: boolean;
  /** The distance from the beginning of its line. */
  left: number;
  width: number;
}

/** The character printed in place of one that no font has, so that the loss is visible. */
const REPLACEMENT = '\ufffd';

/** Placeholders for lost content, such as a picture in copied text. The fonts have empty glyphs for some. */
const LOST = /[\ufff9-\ufffd]/;

/** Characters without a public meaning, which can't be read aloud (ISO 19005-3, 6.2.11.7.3). */
const PRIVATE = /[\p{Co}\p{Cn}\p{Cs}]/u;

/** Characters whose meaning could change in another form. */
const FORM_COUNTS = /[\p{No}\p{Lm}\u2460-\u24ff\u{1f100}-\u{1f1ff}]/u;

/** Matches a letter with its marks, which share a font. Many more marks would take fontkit seconds (UAX 15, section 13). */
const LETTERS = /\n|[^\n\p{M}][\p{M}\u200c]{0,30}|\p{M}{1,30}/gu;

/** Matches text of characters that the main fonts have, which is most of a document's text. */
const ASCII = /^[\n -~]*$/;

/**
 * Returns text in printable form: composed characters, one kind of line end, nothing invisible but spaces, and a visible
 * replacement for every character that no font has.
 */
export function printable(text: string, fonts: Fonts): string {
  if (ASCII.test(text)) return text;
  return lettersOf(text, fonts)
    .map((letter) => (isSettable(letter, fonts) ? letter : REPLACEMENT))
    .join('');
}

/** Returns the distinct letters of a text that `printable` replaces, including any replacement character itself. */
export function unprintable(text: string): string[] {
  if (ASCII.test(text)) return [];
  const fonts = sharedFonts();
  return [...new Set(lettersOf(text, fonts).filter((letter) => !isSettable(letter, fonts)))];
}

/** Returns the characters of a text in plain form, each with its marks. */
function lettersOf(text: string, fonts: Fonts): string[] {
  const plain = text
    .normalize('NFC')
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .replace(/[\t\u1680\u2000-\u200a\u205f\u3000]/g, ' ')
    .replace(
      /[\p{Cc}\u00ad\u034f\u061c\u180e\u200b\u200d-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/gu,
      (character) => (character === '\n' ? '\n' : ''),
    )
    // The zero-width non-joiner is kept only between letters that would join, where it is part of the spelling.
    .replace(/(?<![\p{scx=Arab}\p{scx=Deva}])\u200c/gu, '')
    .replace(/[\u1c90-\u1cbf]/g, (capital) => capital.toLowerCase())
    .replace(/[\u2010\u2011]/g, '-')
    .replace(/\u202f/g, '\u00a0');
  return (plain.match(LETTERS) ?? []).flatMap((letter) => sameInOthers(letter, fonts));
}

/**
 * Replaces a letter that no font has by equivalent letters, such as 'm²' for '㎡' and 'A' for a full-width one. Numbers,
 * and raised and enclosed letters, stay as they are: '3⅐' isn't '31/7'.
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
  if (LOST.test(letter) || PRIVATE.test(letter)) return false;
  // A no-break space is set like any other space.
  const shown = letter.replace('\u00a0', ' ');
  // Every weight must have the letter, since the weight isn't known yet; marks come from their letter's font.
  return Object.values(fonts).every((faces) => faces.some((face) => face.covers(shown)));
}

/**
 * Splits one line of printable text into runs. Each has one direction, and the first font that has each whole word, or
 * else each letter.
 * @param direction the line's direction, where any of it runs from right to left.
 */
export function runsOf(text: string, fonts: Fonts, weight: Weight, direction?: Direction): Run[] {
  const faces = fonts[weight];
  const spans = direction ? spansOf(text, direction) : [{ text, isRtl: false }];
  const runs = spans.flatMap(({ text: span, isRtl }) =>
    piecesOf(span, faces).map(({ face, text: piece }): Run => {
      return { face, text: piece, isRtl, left: 0, width: face.width(piece, isRtl) };
    }),
  );
  let left = 0;
  for (const run of direction ? fromTheLeft(runs, visualOrder(text, direction)) : runs) {
    run.left = left;
    left += run.width;
  }
  return runs;
}

/** Splits a line into spans of one direction each. */
function spansOf(text: string, { levels }: Direction): { text: string; isRtl: boolean }[] {
  const spans: { text: string; isRtl: boolean }[] = [];
  for (let from = 0, to = 1; from < text.length; from = to, to += 1) {
    while (to < text.length && levels[to] === levels[from]) to += 1;
    spans.push({ text: text.slice(from, to), isRtl: (levels[from] ?? 0) % 2 === 1 });
  }
  return spans;
}

/** Returns the runs in visual order. The characters of a run are adjacent in either order. */
function fromTheLeft(runs: readonly Run[], seen: readonly number[]): Run[] {
  const places = new Map(seen.map((index, place) => [index, place]));
  let start = 0;
  const placed = runs.map((run) => {
    const place = places.get(start) ?? 0;
    start += run.text.length;
    return { run, place };
  });
  return placed.sort((a, b) => a.place - b.place).map(({ run }) => run);
}

/** Chinese, Japanese and Korean letters, which have their own font even within a word of other letters. */
const EAST = String.raw`\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\u3001-\u30ff\uff01-\uffef`;
const WORDS = new RegExp(` +|[${EAST}]+|[^ ${EAST}]+`, 'gu');

function piecesOf(text: string, faces: readonly Face[]): { face: Face; text: string }[] {
  const [main] = faces;
  if (!main || text === '') return [];
  if (ASCII.test(text)) return [{ face: main, text }];
  const pieces: { face: Face; text: string }[] = [];
  const add = (face: Face, piece: string) => {
    const last = pieces.at(-1);
    if (last?.face === face) last.text += piece;
    else pieces.push({ face, text: piece });
  };
  // A no-break space is treated, and read back, as any other space.
  for (const [word] of text.replaceAll('\u00a0', ' ').matchAll(WORDS)) {
    const last = pieces.at(-1)?.face;
    // Chinese has no spaces.
    const ofSpace = last && !last.countries ? last : main;
    const whole = word.startsWith(' ') ? ofSpace : faces.find((face) => face.covers(word));
    if (whole) add(whole, word);
    else for (const [letter] of word.matchAll(LETTERS)) add(faceOf(letter, faces), letter);
  }
  return pieces;
}

function faceOf(letter: string, faces: readonly Face[]): Face {
  const found = faces.find((face) => face.covers(letter)) ?? faces.at(-1);
  if (!found) throw new Error('There are no fonts.');
  return found;
}
