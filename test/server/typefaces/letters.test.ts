import t from 'tap';

import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { printable, unprintable } from '../../../src/server/typefaces/letters.ts';
import { documentsByName } from '../invoice-pdf/_documents.ts';
import { textOf } from '../invoice-pdf/_reading.ts';

/** A text as the name of an assertion. */
const escape = (text: string) => encodeURI(text.toWellFormed());

/** Letters of alphabets that have each a glyph of their own. */
const letters = Array.from({ length: 0x2e80 }, (_, code) => String.fromCodePoint(code)).filter(
  (letter) =>
    /^\p{L}$/u.test(letter) &&
    /[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Armn}\p{sc=Geor}]/u.test(letter) &&
    letter.normalize('NFKD') === letter &&
    printable(letter) === letter,
);

t.test('every letter that can be printed is on the page, in both weights', async (t) => {
  t.ok(letters.length > 800, `${letters.length} letters`);
  const { record, ...document } = (await documentsByName())('issued invoice, Irish, one rate');
  const text = letters.join(' ');
  const buyer = { ...record.buyer, legalName: text };
  for (const shown of [{ note: text }, { buyer, note: null }]) {
    const bytes = await createRenderer().render({ ...document, record: { ...record, ...shown } });
    const page = await textOf(bytes);
    t.strictSame(
      letters.filter((letter) => !page.includes(letter)),
      [],
    );
  }
});

t.test('printable replaces the letters that are unprintable, and no others', async (t) => {
  for (const text of [
    'Ó Sé',
    'Θ й Ż Հ ნ',
    'e\u0301',
    'a\u200b\u00ad\ufe0f',
    'one\r\ntwo\u2028three\u00a0four',
    '™ € ½ m² ㎡ ㎏',
    '한 さ 王',
  ]) {
    t.strictSame(unprintable(text), [], escape(text));
    t.notOk(printable(text).includes('\ufffd'), escape(text));
  }
  for (const text of ['த', 'ކ', '👩', 'ন', 'ခ', '\uf8ff', '\ufffe', '\ud800', '\ufffd']) {
    t.strictSame(unprintable(`${text} and ${text}`), [text], escape(text));
    t.equal(printable(text), '\ufffd', escape(text));
  }
});

t.test('a letter and a mark that no font has together are replaced together', async (t) => {
  for (const [base, mark] of ['Ą\u20dd', 'µ\u0591']) {
    t.strictSame(unprintable(`${base} ${mark}`), []);
    t.strictSame(unprintable(`x${base}${mark}`), [`${base}${mark}`]);
    t.equal(printable(`x${base}${mark}`), 'x\ufffd');
  }
  t.equal(printable('a\u200cb'), 'ab', 'but a sign against joining is left out');
  t.equal(printable('می\u200cخ'), 'می\u200cخ', 'where nothing joins');
});
