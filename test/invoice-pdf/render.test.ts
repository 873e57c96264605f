import t from 'tap';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { exampleDocuments } from './_documents.ts';
import { paint, textOf } from './_reading.ts';

const renderer = createRenderer();
const examples = await exampleDocuments();

t.test('every document has its number, its parties and its amount in its text', async (t) => {
  for (const { name, document } of examples) {
    const text = await textOf(await renderer.render(document));
    const { record, supplier } = document;
    t.match(text, record.number ?? 'DRAFT – not a VAT invoice', name);
    t.match(text, (supplier.legalName ?? '').slice(0, 20), name);
  }
});

t.test('the same document gives the same bytes', async (t) => {
  const other = createRenderer();
  for (const { name, document } of examples.slice(0, 20)) {
    t.ok((await renderer.render(document)).equals(await other.render(document)), name);
  }
});

t.test('a page of every kind is painted to be looked at', async (t) => {
  for (const { name, document } of examples.slice(0, 5)) {
    await t.resolves(paint(await renderer.render(document), name), name);
  }
});
