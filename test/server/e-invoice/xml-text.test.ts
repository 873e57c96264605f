import fc from 'fast-check';
import t from 'tap';

import { escapeXml, oneLine, optionalText } from '../../../src/server/e-invoice/xml-text.ts';
import { anyCharacter } from '../../_characters.ts';
import { parseXml, valueOf } from '../invoice-pdf/_xml.ts';

t.test('any text makes well-formed XML, which gives it back', async (t) => {
  // Half a surrogate pair, and what XML 1.0 section 2.2 leaves out.
  const forbidden = /[\0-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
  const anyText = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }),
    fc.string({
      unit: fc.constantFrom('<', '>', '&', '"', "'", ']]>', '<!--', '\r', '\n', '&#0;', '\ud800'),
    }),
  );
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(anyText, (text) => {
        const escaped = escapeXml(text);
        const xml = parseXml(`<a b="${escaped}">${escaped}</a>`);
        const expected = text.replace(/\r\n?/g, '\n').replace(forbidden, '\ufffd');
        if (valueOf(xml, '/a') !== expected) throw new Error(`${JSON.stringify(text)} in an element`);
        // A parser makes a space of a line break or a tab in an attribute.
        if (valueOf(xml, '/a/@b') !== expected.replace(/[\n\t]/g, ' ')) throw new Error('in an attribute');
      }),
      { numRuns: 300 },
    ),
  );
});

t.test('texts stand on one line, and blank ones are none', async (t) => {
  for (const blank of [null, undefined, ' \n\t']) t.equal(optionalText(blank), undefined);
  t.equal(optionalText(' b\n c '), 'b c');
  t.equal(oneLine('  a\r\n\tb  '), 'a b');
  t.equal(escapeXml('Smith & Sons <"22">'), 'Smith &amp; Sons &lt;&quot;22&quot;&gt;');
});
