import { extractXml, Profile } from '@stackforge-eu/factur-x';
import t from 'tap';

import { eInvoiceXml, hasEInvoice } from '../../src/invoice-pdf/e-invoice.ts';
import { createRenderer } from '../../src/invoice-pdf/render.ts';
import { exampleDocuments } from './_documents.ts';
import { parseXml, valueOf, valuesOf } from './_xml.ts';

const { render } = createRenderer();
// What is embedded doesn't depend on the number of pages, which take their time.
const examples = (await exampleDocuments()).filter(({ document }) => document.record.lines.length < 100);

/** The metadata of a PDF, which stands in it as it is. */
function metadataOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  const start = text.indexOf('<x:xmpmeta');
  return text.slice(start, text.indexOf('</x:xmpmeta>', start) + '</x:xmpmeta>'.length);
}

t.test('the PDF of a document with an e-invoice holds it, as other programs find it', async (t) => {
  for (const { name, document } of examples.filter((example) => hasEInvoice(example.document))) {
    const bytes = await render(document);
    t.strictSame(
      await extractXml(bytes),
      { xml: eInvoiceXml(document), filename: 'factur-x.xml', profile: Profile.EN16931 },
      name,
    );
    const written = bytes.toString('latin1');
    t.match(written, /\/AFRelationship \/Alternative\b/, `${name}: the file and the pages say the same`);
    t.match(written, /\/Subtype \/text#2Fxml\b/, `${name}: the file is XML`);
    t.match(written, /\/AF \[/, `${name}: the file belongs to the document`);
    const xmp = parseXml(metadataOf(bytes));
    t.equal(valueOf(xmp, '//fx:ConformanceLevel'), 'EN 16931', name);
    t.equal(valueOf(xmp, '//fx:DocumentFileName'), 'factur-x.xml', name);
    t.equal(valuesOf(xmp, '//pdfaExtension:schemas').length, 1, name);
  }
});

t.test('the PDF of any other document holds no file and claims none', async (t) => {
  for (const { name, document } of examples.filter((example) => !hasEInvoice(example.document))) {
    const bytes = await render(document);
    await t.rejects(extractXml(bytes), name);
    t.notMatch(bytes.toString('latin1'), /\/AFRelationship|\/EmbeddedFile/, name);
    const xmp = parseXml(metadataOf(bytes));
    t.strictSame(valuesOf(xmp, '//fx:*'), [], name);
    t.equal(valueOf(xmp, '//pdfuaid:part'), '1', name);
  }
});
