import t from 'tap';

import { checkDocument } from '../../src/backoffice/legal-checklist.ts';
import { recordProblem } from '../../src/contract/validators.ts';
import type { PrintedDocument } from '../../src/invoice-pdf/printed-document.ts';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { exampleDocuments } from './_documents.ts';
import { textOf } from './_reading.ts';

const renderer = createRenderer();

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
  else members[name] = `${String(members[name])}漢`;
}

const isSaidToLack = ({ record, supplier, reverseChargeRates }: PrintedDocument) =>
  checkDocument({ document: record, supplier: { ...supplier, logoSha256: null }, reverseChargeRates }).some(
    ({ problem }) => problem?.includes('漢'),
  );

t.test('every text in which a letter is printed as a replacement mark is on the check-list', async (t) => {
  const examples = await exampleDocuments();
  const chosen = [
    examples.find(({ name }) => name === 'issued invoice, Irish, taxed in dollars'),
    examples.find(({ name }) => name === 'issued credit_note, Irish, exempt'),
    examples.find(({ document: { record } }) => record.status === 'issued' && record.buyer.site !== null),
  ].filter((example) => example !== undefined);
  t.equal(chosen.length, 3);
  const printed = new Set<string>();
  for (const { document } of chosen) {
    for (const path of pathsIn({ record: document.record, supplier: document.supplier })) {
      const spoilt = structuredClone(document);
      spoil(spoilt, path);
      const where = path.join('.').replace(/\.\d+/g, '');
      // What the contract refuses is never stored; a number and the country of a supplier can't be anything.
      if (where === 'supplier.countryCode' || where.endsWith('.number')) continue;
      if (recordProblem('Invoice', spoilt.record) !== undefined) continue;
      const isMarked = (await textOf(await renderer.render(spoilt))).includes('\ufffd');
      if (isMarked) printed.add(where);
      if (isMarked && !isSaidToLack(spoilt)) t.fail(where);
    }
  }
  t.ok(printed.size >= 15, [...printed].join());
});
