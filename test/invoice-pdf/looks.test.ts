import t from 'tap';
import { exampleCompany } from '../../src/demo/example-company.ts';
import { generatedProfile } from '../../src/demo/generate-company.ts';
import { shareText } from '../../src/invoice-pdf/amounts.ts';
import { loadFonts } from '../../src/typefaces/fonts.ts';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { balancedBlock } from '../../src/invoice-pdf/text-blocks.ts';
import { exampleDocuments } from './_documents.ts';
import { placedTexts, textOf } from './_reading.ts';

const renderer = createRenderer();
const examples = await exampleDocuments();
const documentNamed = (name: string) => {
  const found = examples.find((example) => example.name === name);
  if (!found) throw new Error(`there is no ${name}`);
  return found.document;
};

/** Where the word mark ends, above the customer's address. */
const MARK_BOTTOM = 120;
const MARK_SIZE = 17;

t.test('no word of either demo company stands alone in the last line of its word mark', async (t) => {
  const document = documentNamed('issued invoice, Irish, one rate');
  for (const supplier of [exampleCompany.profile, generatedProfile]) {
    const texts = await placedTexts(await renderer.render({ ...document, supplier, logo: undefined }));
    const lines = texts.filter(({ size, baseline }) => size === MARK_SIZE && baseline < MARK_BOTTOM);
    t.equal(lines.map(({ text }) => text).join(' '), supplier.legalName);
    t.ok(
      lines.every(({ text }) => text.includes(' ')),
      lines.map(({ text }) => text).join(' / '),
    );
  }
});

const fonts = loadFonts();
const style = { size: 10, leading: 12, weight: 'regular', color: '#000000' } as const;
const balanced = (text: string, width: number) =>
  balancedBlock(text, style, width, fonts).lines.map(({ runs }) =>
    runs
      .map((run) => run.text)
      .join('')
      .trim(),
  );

t.test('balanced lines are as few as others, and break no word for it', async (t) => {
  t.strictSame(balanced('one two', 200), ['one two']);
  t.strictSame(balanced('Donaudampfschifffahrtsgesellschaft AG', 160), [
    'Donaudampfschifffahrtsgesellschaft',
    'AG',
  ]);
  t.equal(balanced('W'.repeat(30), 100).join(''), 'W'.repeat(30));
  t.strictSame(balanced('', 100), []);
});

t.test('a discount that is a part of one reads as a percentage', async (t) => {
  const text = await textOf(await renderer.render(documentNamed('discounts as lines below zero')));
  t.match(text, 'Discount of 5 % \u22125% 150.15');
  t.match(text, 'Discount of 10 % \u22121 unit 99.99');
  t.strictSame(
    ['-0.05', '-0.5', '-0.125', '-0.333333', '-0.10', '-0.0', '-0.000001', '-1', '-1.5', '0.05'].map(
      shareText,
    ),
    [
      '\u22125%',
      '\u221250%',
      '\u221212.5%',
      '\u221233.3333%',
      '\u221210%',
      undefined,
      '\u22120.0001%',
      undefined,
      undefined,
      undefined,
    ],
  );
});

t.test('a draft asks nobody to pay', async (t) => {
  const text = await textOf(await renderer.render(documentNamed('draft invoice, Irish, one rate')));
  t.match(text, 'There is nothing to pay on this draft.');
  t.notMatch(text, 'Please pay');
  t.notMatch(text, 'Amount due');
});

t.test('the documents of both demo companies say how to pay', async (t) => {
  const document = documentNamed('issued invoice, Irish, one rate');
  for (const supplier of [exampleCompany.profile, generatedProfile]) {
    const text = await textOf(await renderer.render({ ...document, supplier }));
    t.match(text, supplier.iban.replace(/(.{4})(?=.)/g, '$1 '));
  }
  const without = await textOf(
    await renderer.render(documentNamed('a company without bank account, logo or number')),
  );
  t.match(without, 'Payment Please pay');
  t.notMatch(without, 'How to pay');
});
