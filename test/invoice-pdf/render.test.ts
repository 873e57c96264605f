import t from 'tap';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { exampleDocuments } from './_documents.ts';
import { paint, textOf } from './_reading.ts';

const renderer = createRenderer();
const examples = await exampleDocuments();

t.test('the same document gives the same bytes, whatever was rendered before', async (t) => {
  const other = createRenderer();
  const again = new Map<string, Buffer>();
  for (const { name, document } of examples.toReversed()) again.set(name, await other.render(document));
  for (const { name, document } of examples) {
    t.ok((await renderer.render(document)).equals(again.get(name) ?? Buffer.of()), name);
  }
});

t.test('a company that has told nothing of itself gets its draft all the same', async (t) => {
  const draft = examples.find(({ document }) => document.record.status === 'draft');
  if (!draft) throw new Error('there is no draft');
  const document = { ...draft.document, supplier: {}, logo: undefined };
  t.match(await textOf(await renderer.render(document)), 'DRAFT – not a VAT invoice');
});

/** One of each kind and state in each country, and those that look different. */
const shown = [
  ...[
    'Irish, taxed in dollars',
    'British, domestic reverse charge at two rates beside taxed and exempt',
  ].flatMap((sale) =>
    ['issued invoice', 'issued credit_note', 'issued pro_forma', 'draft invoice'].map(
      (fate) => `${fate}, ${sale}`,
    ),
  ),
  'issued invoice, Irish, construction under reverse charge',
  'issued invoice, Irish, of a company that is not registered',
  'words and addresses that are too long for their columns',
  'a customer with a Georgian and Armenian name',
  '500 lines',
];

t.test('pages of every kind are painted to be looked at', async (t) => {
  for (const name of shown) {
    const example = examples.find((candidate) => candidate.name === name);
    t.ok(example, name);
    if (example) await t.resolves(paint(await renderer.render(example.document), name, 2), name);
  }
});
