import t from 'tap';

import { loadFonts } from '../../../src/server/typefaces/fonts.ts';
import { readSlices } from '../../../src/server/typefaces/han.ts';
import { printable, runsOf, unprintable } from '../../../src/server/typefaces/shaping.ts';

const fonts = loadFonts();

/** A text as the name of an assertion. */
const escape = (text: string) => encodeURI(text.toWellFormed());

t.test('every letter that can be printed has a form in every weight', async (t) => {
  const missing: string[] = [];
  await readSlices('\u2329\u232a');
  for (let codePoint = 0x20; codePoint < 0x2e80; codePoint += 1) {
    const letter = String.fromCodePoint(codePoint);
    if (unprintable(letter).length > 0) continue;
    // Lines break before they are set.
    const text = printable(letter, fonts).replace('\n', '');
    for (const weight of ['regular', 'semibold'] as const) {
      const glyphs = runsOf(text, fonts, weight).flatMap(
        ({ face, text: set }) => face.layOut(set, false).glyphs,
      );
      // The first glyph of a font is its mark for a missing one.
      if (glyphs.some(({ parts }) => parts.some(({ id }) => id === 0)))
        missing.push(`${weight} ${codePoint}`);
    }
  }
  t.strictSame(missing, []);
});

t.test(
  'the slices of Chinese, Japanese and Korean have every letter that they are said to have',
  async (t) => {
    const all = Array.from({ length: 0x2_0000 }, (_, index) => String.fromCodePoint(0x2e80 + index));
    // No text has the others once it is composed.
    const letters = all.filter((letter) => letter.normalize('NFC') === letter);
    await readSlices(letters.join(''));
    const faces = fonts.regular.filter(({ countries }) => countries);
    for (const { name, covers, layOut } of faces) {
      const claimed = letters.filter((letter) => covers(letter));
      t.ok(claimed.length > 5000, name);
      const lacking = claimed.filter((letter) => layOut(letter, false).glyphs[0]?.parts[0]?.id === 0);
      t.strictSame(lacking, [], name);
    }
  },
);

t.test('printable replaces the letters that are unprintable, and no others', async (t) => {
  for (const text of [
    'Ó Sé',
    'Θ й Ż Հ ნ',
    'e\u0301',
    'a\u200b\u00ad\ufe0f',
    'one\r\ntwo\u2028three\u00a0four',
    '™ € ½ m² ㎡ ㎏',
  ]) {
    t.strictSame(unprintable(text), [], escape(text));
    t.notOk(printable(text, fonts).includes('\ufffd'), escape(text));
  }
  for (const text of ['த', 'ކ', '👩', 'ন', 'ခ', '\uf8ff', '\ufffe', '\ud800', '\ufffd', '㉑']) {
    t.strictSame(unprintable(`${text} and ${text}`), [text], escape(text));
    t.equal(printable(text, fonts), '\ufffd', escape(text));
  }
});

t.test('a letter and a mark that no font has together are replaced together', async (t) => {
  const main = fonts.regular[0];
  const fallback = fonts.regular.at(-1);
  const letters = Array.from({ length: 0x3000 }, (_, index) => String.fromCodePoint(index + 0xa0));
  const settable = letters.filter(
    (letter) => unprintable(letter).length === 0 && printable(letter, fonts) === letter,
  );
  const base = settable.find((letter) => /\p{L}/u.test(letter) && !fallback?.covers(letter)) ?? '';
  const mark = settable.find((letter) => /\p{M}/u.test(letter) && !main?.covers(letter)) ?? '';
  t.not(base, '');
  t.not(mark, '');
  t.strictSame(unprintable(`x${base}${mark}`), [base + mark]);
  t.equal(printable(`x${base}${mark}`, fonts), 'x\ufffd');
});
