import fc from 'fast-check';
import t from 'tap';

import { contentDisposition } from '../../../src/server/invoice-pdf/file-name.ts';
import { contractDocument } from '../../../src/contract/document.ts';
import { anyCharacter } from '../../_characters.ts';

const cases: [number: string, header: string][] = [
  ['INV-2026-0001', 'attachment; filename="INV-2026-0001.pdf"'],
  ['2026 12.7', 'attachment; filename="2026 12.7.pdf"'],
  ['INV/2026/7', `attachment; filename="INV-2026-7.pdf"; filename*=UTF-8''INV%2F2026%2F7.pdf`],
  ['Ré"7"\\', `attachment; filename="R--7--.pdf"; filename*=UTF-8''R%C3%A9%227%22%5C.pdf`],
  ["'(7)*", `attachment; filename="'(7)-.pdf"; filename*=UTF-8''%27%287%29%2A.pdf`],
  ['100%', `attachment; filename="100-.pdf"; filename*=UTF-8''100%25.pdf`],
  [
    'a\r\nSet-Cookie: b',
    `attachment; filename="a--Set-Cookie- b.pdf"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b.pdf`,
  ],
  [
    '../../etc/passwd',
    `attachment; filename="-.-..-etc-passwd.pdf"; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd.pdf`,
  ],
];

for (const [number, header] of cases) {
  t.test(`the PDF of ${JSON.stringify(number)} has a name that is safe`, async (t) => {
    t.equal(contentDisposition(number), header);
  });
}

const { pattern, maxLength } = (
  contractDocument().components as unknown as {
    headers: Record<string, { schema: { pattern: string; maxLength: number } }>;
  }
).headers['Content-Disposition']?.schema ?? { pattern: '^$', maxLength: 0 };

t.test('whatever a number is, the header is one of ASCII that the contract allows', async (t) => {
  const declared = new RegExp(pattern);
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.string({ unit: 'grapheme', minLength: 100, maxLength: 200 }),
    // Half a surrogate pair is no character.
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
  );
  fc.assert(
    fc.property(texts, (number) => {
      const header = contentDisposition(number);
      const [, name = '', , exact] = /filename="([^"]+)"(; filename\*=UTF-8''(\S+))?$/.exec(header) ?? [];
      const isSound = declared.test(header) && header.length <= maxLength && /^[\x20-\x7e]*$/.test(header);
      const isSafe = !/[\\/:*?"<>|%]/.test(name) && !/^[ .]/.test(name) && name.endsWith('.pdf');
      const whole = exact === undefined ? name : decodeURIComponent(exact);
      const isExact = `${number.toWellFormed()}.pdf`.startsWith(whole.slice(0, -'.pdf'.length));
      return isSound && isSafe && isExact;
    }),
    { numRuns: 2_000 },
  );
  t.pass();
});
