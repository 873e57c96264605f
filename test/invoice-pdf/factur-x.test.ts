import t from 'tap';

import { E_INVOICE_FILE, facturXMetadata, facturXSchema } from '../../src/invoice-pdf/factur-x.ts';
import { uaMetadata } from '../../src/invoice-pdf/xmp.ts';
import { parseXml, valueOf, valuesOf } from './_xml.ts';

const xmp = parseXml(
  `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${uaMetadata([facturXSchema])}${facturXMetadata()}</rdf:RDF>`,
);

t.test('the metadata names the e-invoice and its profile', async (t) => {
  t.equal(valueOf(xmp, '//fx:DocumentType'), 'INVOICE');
  t.equal(valueOf(xmp, '//fx:DocumentFileName'), 'factur-x.xml');
  t.equal(valueOf(xmp, '//fx:Version'), '1.0');
  t.equal(valueOf(xmp, '//fx:ConformanceLevel'), 'EN 16931');
  t.equal(E_INVOICE_FILE.name, 'factur-x.xml');
});

t.test('every property that isn’t PDF/A’s own is described, in one list', async (t) => {
  t.equal(valuesOf(xmp, '//pdfaExtension:schemas').length, 1);
  const uris = {
    fx: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
    pdfuaid: 'http://www.aiim.org/pdfua/ns/id/',
  };
  for (const [prefix, uri] of Object.entries(uris)) {
    const schema = `//rdf:li[pdfaSchema:prefix = '${prefix}']`;
    t.equal(valueOf(xmp, `${schema}/pdfaSchema:namespaceURI`), uri);
    const described = valuesOf(xmp, `${schema}//pdfaProperty:name`);
    const used = valuesOf(xmp, `//${prefix}:* ! local-name(.)`);
    t.strictSame([...described].sort(), [...used].sort(), prefix);
    t.equal(valuesOf(xmp, `${schema}//pdfaProperty:description`).length, described.length);
    t.equal(valuesOf(xmp, `${schema}//pdfaProperty:valueType`).length, described.length);
    t.equal(valuesOf(xmp, `${schema}//pdfaProperty:category`).length, described.length);
  }
});
