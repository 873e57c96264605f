import t from 'tap';
import { recordProblem } from '../../../src/contract/validators.ts';
import { checkDocument } from '../../../src/server/backoffice/legal-checklist.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { printable, unprintable } from '../../../src/server/typefaces/letters.ts';
import { unitText } from '../../../src/server/printed-document/units.ts';
import { dateText, periodText } from '../../../src/server/printed-document/wording.ts';
import { documentsByName, exampleDocuments, textsOf } from '../invoice-pdf/_documents.ts';

t.test('dates are written out', async (t) => {
  t.equal(dateText('2026-11-09'), '9 November 2026');
  const period = (startDate: string, endDate: string) => periodText({ startDate, endDate });
  t.equal(period('2026-11-01', '2026-11-14'), '1 to 14 November 2026');
  t.equal(period('2026-10-28', '2026-11-14'), '28 October to 14 November 2026');
  t.equal(period('2025-12-30', '2026-01-02'), '30 December 2025 to 2 January 2026');
  t.equal(period('2026-11-14', '2026-11-14'), '14 November 2026');
  t.equal(periodText({ startDate: '2026-11-01' }), 'from 1 November 2026');
  t.equal(periodText({ endDate: '2026-11-14' }), 'until 14 November 2026');
});

t.test('units are words, in the number of their quantity', async (t) => {
  t.equal(unitText('HUR', '2.5'), 'hours');
  t.equal(unitText('HUR', '1'), 'hour');
  t.equal(unitText('C62', '-1.000'), 'unit');
  t.equal(unitText('MTK', '3'), 'm²');
  t.equal(unitText('X9Z', '3'), 'X9Z');
});

t.test('text is composed, and what has no form is left out', async (t) => {
  t.equal(printable('e\u0301te\u0301'), '\u00e9t\u00e9');
  t.equal(printable('a\u200bb\u00adc\u0007d\ufe0f'), 'abcd');
  t.equal(printable('one\r\ntwo\u2028three'), 'one\ntwo\nthree');
});

t.test('a character that no font has is seen to be missing', async (t) => {
  t.equal(printable('தம ދެ \uf8ff'), '\ufffd\ufffd \ufffd \ufffd');
});

t.test('letters of other forms are printed in letters that the fonts have', async (t) => {
  t.equal(printable('12 ㎡ of 5 ㎏, Ａ１'), '12 ㎡ of 5 ㎏, Ａ１');
  t.equal(printable('𝐑𝑢 𝟾'), 'Ru 8');
  t.strictSame(unprintable('㎡ Ａ 𝐑'), []);
  t.equal(printable('3⅐ \u{10784}'), '3⅐ \ufffd', 'but not where the form may mean more');
});

t.test('an emoji or a picture in a copied text is seen to be missing', async (t) => {
  t.equal(printable('Heat\u{1f525}\ufe0f pump\ufffc'), 'Heat\ufffd pump\ufffd');
  t.strictSame(unprintable('Heat\u{1f525} pump\ufffc'), ['\u{1f525}', '\ufffc']);
});

/** Where a value has texts: their paths of names. */
function pathsIn(value: unknown): string[][] {
  if (typeof value === 'string') return [[]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => pathsIn(member).map((path) => [name, ...path]));
}

/** Puts a letter that no typeface has at the end of a text. */
function spoil(value: unknown, [name = '', ...rest]: readonly string[]): void {
  const members = value as Record<string, unknown>;
  if (rest.length > 0) spoil(members[name], rest);
  else members[name] = `${String(members[name])}த`;
}

const isSaidToLack = ({ record, supplier, reverseChargeRates }: PrintedDocument) =>
  checkDocument({ document: record, supplier, reverseChargeRates }).some(({ problem }) =>
    problem?.includes('த'),
  );

t.test('every text in which a letter is printed as a replacement mark is on the check-list', async (t) => {
  const examples = (await exampleDocuments()).map(({ document }) => document);
  const documentNamed = await documentsByName();
  const atSite = examples.find(({ record }) => record.status === 'issued' && record.buyer.site !== null);
  const marked = new Set<string>();
  for (const document of [
    documentNamed('issued invoice, Irish, taxed in dollars'),
    documentNamed('issued credit_note, Irish, exempt'),
    atSite ?? documentNamed('one at a site'),
  ]) {
    for (const path of pathsIn({ record: document.record, supplier: document.supplier })) {
      const spoilt = structuredClone(document);
      spoil(spoilt, path);
      const where = path.join('.').replace(/\.\d+/g, '');
      // A record that the contract refuses is never stored; a number and a supplier's country can't be anything.
      if (where === 'supplier.countryCode' || where.endsWith('.number')) continue;
      if (recordProblem('Invoice', spoilt.record) !== undefined) continue;
      const isMarked = textsOf(spoilt).some((text) => printable(text).includes('\ufffd'));
      if (isMarked) marked.add(where);
      if (isMarked && !isSaidToLack(spoilt)) t.fail(where);
    }
  }
  t.ok(marked.size >= 15, [...marked].join());
});
