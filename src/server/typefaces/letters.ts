import { charactersIn } from './coverage.ts';
import { fontFiles } from './fonts.ts';

/** Printed in place of a character that no font has, so that its loss is visible. */
const REPLACEMENT = '\ufffd';

/** Characters that stand for something already lost, such as a picture in copied text. Fonts have empty glyphs for some. */
const LOST = /[\ufff9-\ufffd]/;

/** Characters without a meaning of their own, which can't be read aloud (ISO 19005-3, 6.2.11.7.3). */
const PRIVATE = /[\p{Co}\p{Cn}\p{Cs}]/u;

/** Numbers, and raised or enclosed letters, whose meaning may depend on their form. */
const FORM_COUNTS = /[\p{No}\p{Lm}\u2460-\u24ff\u{1f100}-\u{1f1ff}]/u;

/** Letters, each with the marks on it, which come from one font. More than 30 marks are of no language (UAX 15, section 13). */
const LETTERS = /\n|[^\n\p{M}][\p{M}\u200c]{0,30}|\p{M}{1,30}/gu;

/** Characters that every font has; most of a document's text. */
const ASCII = /^[\n -~]*$/;

/**
 * Returns text as it can be set: with composed characters, one kind of line end, nothing invisible but spaces, and a
 * visible replacement for every character that no font has.
 */
export function printable(text: string): string {
  if (ASCII.test(text)) return text;
  return lettersOf(text)
    .map((letter) => (isSettable(letter) ? letter : REPLACEMENT))
    .join('');
}

/** Returns the letters of a text that `printable` replaces, each once. U+FFFD itself is among them: it stands for a lost letter. */
export function unprintable(text: string): string[] {
  if (ASCII.test(text)) return [];
  return [...new Set(lettersOf(text).filter((letter) => !isSettable(letter)))];
}

/** Splits a text into letters in their plain forms, each with the marks on it. */
function lettersOf(text: string): string[] {
  const plain = text
    .normalize('NFC')
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .replace(/[\t\u1680\u2000-\u200a\u205f\u3000]/g, ' ')
    .replace(
      /[\p{Cc}\u00ad\u034f\u061c\u180e\u200b\u200d-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]/gu,
      (character) => (character === '\n' ? '\n' : ''),
    )
    // Between letters that would join, it is a part of how a word is written.
    .replace(/(?<![\p{scx=Arab}\p{scx=Deva}])\u200c/gu, '')
    .replace(/[\u1c90-\u1cbf]/g, (capital) => capital.toLowerCase())
    .replace(/[\u2010\u2011]/g, '-')
    .replace(/\u202f/g, '\u00a0');
  return (plain.match(LETTERS) ?? []).flatMap((letter) => sameInOthers(letter));
}

/**
 * Returns other letters with the same meaning for one that no font has, such as 'm²' for '㎡' and 'A' for a full-width A.
 * Numbers, and raised or enclosed letters, stay as they are: '3⅐' isn't '31/7'.
 */
function sameInOthers(letter: string): string[] {
  if (isSettable(letter) || FORM_COUNTS.test(letter)) return [letter];
  // Unicode writes the power of a unit as a plain figure.
  const plain = letter.normalize('NFKC').replace(/(?<=\p{L})[23]$/u, (power) => (power === '2' ? '²' : '³'));
  const letters = plain.match(LETTERS) ?? [];
  return letters.every((other) => isSettable(other)) ? letters : [letter];
}

function isSettable(letter: string): boolean {
  if (letter === '\n') return true;
  if (LOST.test(letter) || PRIVATE.test(letter) || /^\p{M}/u.test(letter)) return false;
  // Set as any other space.
  const codes = [...letter.replace('\u00a0', ' ')].map((character) => character.codePointAt(0) ?? 0);
  // Marks come from their letter's font.
  return coverage().some((characters) => codes.every((code) => characters.has(code)));
}

let covered: readonly ReadonlySet<number>[] | undefined;

/** Returns the characters of each font, which are read for the first letter that isn't ASCII. */
function coverage(): readonly ReadonlySet<number>[] {
  return (covered ??= fontFiles().flatMap(charactersIn));
}
