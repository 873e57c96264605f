// Long: it reads every example.
import { extractXml, Profile } from '@stackforge-eu/factur-x';
import t from 'tap';

import { eInvoiceText, hasEInvoice } from '../../../src/server/e-invoice/e-invoice.ts';
import { E_INVOICE_FILE, withMetadata } from '../../../src/server/invoice-pdf/metadata.ts';
import { conformanceProblems } from './_conformance.ts';
import { printedExamples } from './_documents.ts';
import { withPdf } from './_reading.ts';
import { parseXml, valueOf, valuesOf } from './_xml.ts';

const printed = await printedExamples();

t.test('every document keeps the rules of PDF/A-3a and PDF/UA-1 that are ours to keep', async (t) => {
  for (const { name, bytes } of printed) t.strictSame(await conformanceProblems(bytes), [], name);
});

/** The file's account of itself: its dictionary, and its metadata as XML. */
const metadataOf = async (bytes: Buffer) =>
  withPdf(bytes, async (pdf) => {
    const { info, metadata } = await pdf.getMetadata();
    // An XML parser takes the processing instructions of the packet as they are.
    return { info: info as Record<string, string>, xmp: parseXml(String(metadata.getRaw())) };
  });

const URIS = {
  pdfuaid: 'http://www.aiim.org/pdfua/ns/id/',
  fx: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
};

t.test('the metadata is XML, whatever the names in it, and says what the document is', async (t) => {
  for (const { name, document, bytes } of printed) {
    const { record, supplier } = document;
    const { info, xmp } = await metadataOf(bytes);
    const issuedAt = `D:${(record.issuedAt ?? record.updatedAt).replace(/\.\d+|[-:T]/g, '')}`;
    t.strictSame(
      {
        part: valueOf(xmp, '//*[name() = "pdfaid:part"]'),
        level: valueOf(xmp, '//*[name() = "pdfaid:conformance"]'),
        ua: valueOf(xmp, '//pdfuaid:part'),
        title: valueOf(xmp, '//*[name() = "dc:title"]//rdf:li'),
        author: valueOf(xmp, '//*[name() = "dc:creator"]//rdf:li'),
        ofEInvoice: valuesOf(xmp, '//fx:*'),
        dates: [info.CreationDate, info.ModDate],
      },
      {
        part: '3',
        level: 'A',
        ua: '1',
        title: info.Title,
        author: supplier.tradingName ?? supplier.legalName,
        ofEInvoice: hasEInvoice(document) ? ['INVOICE', 'factur-x.xml', '1.0', 'EN 16931'] : [],
        dates: [issuedAt, issuedAt],
      },
      name,
    );
    t.match(info.Title, record.number ?? '(draft)', name);
    // Every property that isn't PDF/A's own is described, in one list.
    t.equal(valuesOf(xmp, '//pdfaExtension:schemas').length, 1);
    for (const [prefix, uri] of Object.entries(URIS)) {
      const schema = `//rdf:li[pdfaSchema:prefix = '${prefix}' and pdfaSchema:namespaceURI = '${uri}']`;
      const described = valuesOf(xmp, `${schema}//pdfaProperty:name`);
      t.strictSame(described, valuesOf(xmp, `//${prefix}:* ! local-name(.)`), `${name}: ${prefix}`);
      for (const part of ['description', 'valueType', 'category'])
        t.equal(valuesOf(xmp, `${schema}//pdfaProperty:${part}`).length, described.length);
    }
  }
});

t.test('a document holds its e-invoice, as other programs find it, or no file', async (t) => {
  for (const { name, document, bytes } of printed) {
    const text = bytes.toString('latin1');
    if (!hasEInvoice(document)) {
      await t.rejects(extractXml(bytes), name);
      t.notMatch(text, /\/AF\b|\/AFRelationship|\/EmbeddedFile/, name);
      continue;
    }
    const found = { xml: eInvoiceText(document, 'cii'), filename: E_INVOICE_FILE, profile: Profile.EN16931 };
    t.strictSame(await extractXml(bytes), found, name);
    const files = text.match(/\/Type \/Filespec.*?endobj/gs) ?? [];
    t.equal(files.length, 1, name);
    for (const part of ['/F (factur-x.xml)', '/AFRelationship /Alternative', '/Desc (Factur-X invoice)'])
      t.match(files[0], part, name);
    t.match(text, '/Subtype /text#2Fxml');
    t.match(text, /\/AF \[\d+ 0 R\]\s*>>\s*endobj\s*xref/);
  }
});

t.test('a file that ends in another way than those of Typst is no document', async (t) => {
  t.throws(() => withMetadata(Buffer.from('%PDF-1.7\nstartxref\n0\n%%EOF'), false));
});

t.test('the checks bite', async (t) => {
  const whole = printed.find(({ document }) => document.logo !== undefined && hasEInvoice(document));
  const text = (whole?.bytes ?? Buffer.of()).toString('latin1');
  const planted: [from: string | RegExp, to: string, problem: string][] = [
    ['/S /H1', '/S /H2', 'its headings are not one H1 and then H2'],
    ['/S /THead', '/S /TBody', 'a table has no head'],
    ['/Scope /Column', '/Xcope /Column', 'TH has no scope'],
    ['/Alt (', '/Xlt (', 'Figure has no Alt'],
    ['/Marked true', '/Marked null', 'it is not marked as tagged'],
    ['/DisplayDocTitle true', '/DisplayDocTitle null', 'its title is not displayed'],
    ['/Lang (en-IE)', '/Lang (xx-IE)', 'it has no language'],
    [/MediaBox \[0 0 595/, 'MediaBox [0 0 500', 'a page is neither A4 nor Letter'],
    ['<pdfuaid:part>1', '<pdfuaid:part>10', 'its metadata has another length'],
    ['\n7 0 obj', '\n8 0 obj', "object 7 isn't where the table says"],
    [/startxref\n\d/, 'startxref\n', 'there is no cross-reference table where startxref says'],
  ];
  for (const [from, to, problem] of planted) {
    const damaged = text.replace(from, to);
    t.not(damaged, text, `${problem}: planted`);
    t.ok((await conformanceProblems(Buffer.from(damaged, 'latin1'))).includes(problem), problem);
  }
});
