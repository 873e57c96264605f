// Long: it reads every example as PDF/A and by its tags.
import { extractXml, Profile } from '@stackforge-eu/factur-x';
import t from 'tap';

import { eInvoiceText, hasEInvoice } from '../../../src/server/e-invoice/e-invoice.ts';
import { E_INVOICE_FILE, metadata } from '../../../src/server/invoice-pdf/metadata.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { loadFonts } from '../../../src/server/typefaces/fonts.ts';
import { printable } from '../../../src/server/typefaces/shaping.ts';
import { conformanceProblems } from './_conformance.ts';
import { printedExamples } from './_documents.ts';
import { arrayOf, at, entryOf, isName, readPdf, streamOf } from './_pdf-objects.ts';
import type { Pdf } from './_pdf-objects.ts';
import { readByTags } from './_reading-by-tags.ts';
import { parseXml, valueOf, valuesOf } from './_xml.ts';

const printed = (await printedExamples()).map((example) => {
  const pdf = readPdf(example.bytes);
  return { ...example, pdf, root: at(pdf, pdf.trailer, 'Root') };
});

t.test('every document keeps the rules of PDF/A-3a and PDF/UA-1', async (t) => {
  for (const { name, bytes } of printed) t.strictSame([...new Set(conformanceProblems(bytes))], [], name);
});

function metadataOf(pdf: Pdf): ReturnType<typeof parseXml> {
  const stream = streamOf(pdf, entryOf(at(pdf, pdf.trailer, 'Root'), 'Metadata'));
  // An XML parser takes the processing instructions of the packet as they are, and no byte order mark within one.
  return parseXml((stream ?? Buffer.of()).toString('utf8'));
}

/** The strings of a PDF are in Latin letters, or in UTF-16 after its mark. */
function stringOf(value: unknown): string {
  const bytes = Buffer.from(String(value), 'latin1');
  return bytes[0] === 0xfe && bytes[1] === 0xff
    ? bytes.subarray(2).swap16().toString('utf16le')
    : String(value);
}

t.test('the metadata is XML, whatever the names in it, and says what the document is', async (t) => {
  for (const { name, document, pdf } of printed) {
    const metadata = metadataOf(pdf);
    const info = (member: string) => at(pdf, pdf.trailer, 'Info', member);
    const { record, supplier } = document;
    const issuedAt = `D:${(record.issuedAt ?? record.updatedAt).replace(/\.\d+|[-:T]/g, '')}`;
    t.strictSame(
      {
        part: valueOf(metadata, '//*:Description/*[name() = "pdfaid:part"]'),
        level: valueOf(metadata, '//*:Description/*[name() = "pdfaid:conformance"]'),
        ua: valueOf(metadata, '//pdfuaid:part'),
        title: valueOf(metadata, '//*[name() = "dc:title"]//rdf:li'),
        author: valueOf(metadata, '//*[name() = "dc:creator"]//rdf:li'),
        schemas: valuesOf(metadata, '//pdfaSchema:prefix'),
        lists: valuesOf(metadata, '//pdfaExtension:schemas').length,
        ofEInvoice: valuesOf(metadata, '//fx:*[local-name() != "Version"]'),
        dates: [info('CreationDate'), info('ModDate')],
      },
      {
        part: '3',
        level: 'A',
        ua: '1',
        title: stringOf(info('Title')),
        author: supplier.tradingName ?? supplier.legalName,
        schemas: hasEInvoice(document) ? ['pdfuaid', 'fx'] : ['pdfuaid'],
        lists: 1,
        ofEInvoice: hasEInvoice(document) ? ['INVOICE', 'factur-x.xml', 'EN 16931'] : [],
        dates: [issuedAt, issuedAt],
      },
      name,
    );
    t.match(stringOf(info('Title')), record.number ?? '(draft)', name);
  }
});

t.test('a document holds its e-invoice, as other programs find it, or no file', async (t) => {
  for (const { name, document, bytes, pdf, root } of printed) {
    const [file, ...others] = arrayOf(at(pdf, root, 'AF'));
    if (!hasEInvoice(document)) {
      await t.rejects(extractXml(bytes), name);
      t.notMatch(bytes.toString('latin1'), /\/AF\b|\/AFRelationship|\/EmbeddedFile/, name);
      continue;
    }
    const xml = eInvoiceText(document, 'cii');
    t.strictSame(
      await extractXml(bytes),
      { xml, filename: E_INVOICE_FILE.name, profile: Profile.EN16931 },
      name,
    );
    const embedded = entryOf(at(pdf, file, 'EF'), 'F');
    t.strictSame(others, []);
    t.strictSame(at(pdf, root, 'Names', 'EmbeddedFiles', 'Names'), ['factur-x.xml', file]);
    t.strictSame([at(pdf, file, 'F'), at(pdf, file, 'UF')], ['factur-x.xml', 'factur-x.xml']);
    t.ok(
      isName(at(pdf, file, 'AFRelationship'), 'Alternative'),
      `${name}: the file and the pages say the same`,
    );
    t.ok(isName(at(pdf, embedded, 'Subtype'), 'text/xml'), name);
    t.match(at(pdf, embedded, 'Params', 'ModDate'), /^D:\d{14}Z$/);
    t.equal(at(pdf, file, 'Desc'), 'Factur-X invoice');
    t.equal(streamOf(pdf, embedded)?.toString(), xml, name);
  }
});

const written = parseXml(
  `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${metadata(true)}</rdf:RDF>`,
);

t.test('every property that isn’t PDF/A’s own is described, in one list', async (t) => {
  t.equal(valuesOf(written, '//pdfaExtension:schemas').length, 1);
  t.equal(valueOf(written, '//fx:Version'), '1.0');
  const uris = {
    fx: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
    pdfuaid: 'http://www.aiim.org/pdfua/ns/id/',
  };
  for (const [prefix, uri] of Object.entries(uris)) {
    const schema = `//rdf:li[pdfaSchema:prefix = '${prefix}']`;
    t.equal(valueOf(written, `${schema}/pdfaSchema:namespaceURI`), uri);
    const described = valuesOf(written, `${schema}//pdfaProperty:name`);
    const used = valuesOf(written, `//${prefix}:* ! local-name(.)`);
    t.strictSame([...described].sort(), [...used].sort(), prefix);
    t.equal(valuesOf(written, `${schema}//pdfaProperty:description`).length, described.length);
    t.equal(valuesOf(written, `${schema}//pdfaProperty:valueType`).length, described.length);
    t.equal(valuesOf(written, `${schema}//pdfaProperty:category`).length, described.length);
  }
});

const fonts = loadFonts();

/** A longer description is set in several rows. */
const ONE_ROW_LENGTH_MAX = 1000;
const titles = { invoice: 'Invoice', credit_note: 'Credit note', pro_forma: 'Pro forma invoice' };

/** Text as it is read: with one space wherever there is any, and also where a line ends. */
const asRead = (text: string) => printable(text, fonts).replace(/\s+/g, ' ').trim();

function wholeTexts({ record, supplier, terms }: PrintedDocument): string[] {
  const { buyer } = record;
  const reasons = record.lines.map(({ vatExemptionReason }) => vatExemptionReason);
  const texts = [
    `${titles[record.kind]} ${record.number ?? 'DRAFT'}`,
    // A line's terms stand behind its description.
    ...record.lines
      .filter(({ id }) => !terms?.lines?.[id])
      .map(({ description }) => description)
      .filter(({ length }) => length < ONE_ROW_LENGTH_MAX),
    record.note,
    buyer.legalName ?? buyer.name,
    ...buyer.addressLines,
    ...(buyer.site?.addressLines ?? []),
    // A reason that doesn't name its category has it in front.
    ...reasons.filter((reason) => reason?.startsWith('Reverse charge') === true),
    record.buyerReference,
    record.purchaseOrderReference,
    supplier.legalName,
  ];
  return texts.map((text) => asRead(text ?? '')).filter((text) => text !== '');
}

t.test('a reader that follows the tags hears every text word by word', async (t) => {
  for (const { name, document, bytes } of printed) {
    const heard = new Set((await readByTags(bytes)).map(({ text }) => text));
    // Under a line's description stand its discounts and charges.
    const isBegun = (text: string) =>
      document.amounts !== undefined && [...heard].some((other) => other.startsWith(`${text} `));
    const missing = wholeTexts(document).filter((text) => !heard.has(text) && !isBegun(text));
    t.strictSame(missing, [], name);
  }
});

t.test('no words run together where a line ends', async (t) => {
  const marked = printed.find(
    ({ name }) =>
      name === 'issued invoice, British, domestic reverse charge at two rates beside taxed and exempt',
  );
  if (!marked) throw new Error('there is no such document');
  const texts = (await readByTags(marked.bytes)).map(({ text }) => text);
  t.ok(texts.includes('Invoice INV-2026-0001'));
  t.ok(texts.some((text) => text.endsWith('on the VAT-exclusive price of items marked reverse charge.')));
});

t.test('the checks bite', async (t) => {
  const whole = printed.find(({ document }) => document.logo !== undefined && hasEInvoice(document));
  const text = (whole?.bytes ?? Buffer.of()).toString('latin1');
  const planted: [from: string | RegExp, to: string, problem: string][] = [
    ['/S /H1', '/S /H2', 'the first heading is not H1'],
    ['/S /TD', '/S /TH', 'TH has no scope'],
    ['/Scope /Row', '/Xcope /Row', 'TH has no scope'],
    ['/Alt (', '/Xlt (', 'Figure has no Alt'],
    ['/BBox [', '/XBox [', 'Figure has no BBox'],
    ['/Marked true', '/Marked null', 'it is not marked as tagged'],
    ['/DisplayDocTitle true', '/DisplayDocTitle null', 'its title is not displayed'],
    ['/Lang (en-IE)', '/Lang (xx-IE)', 'it has no language'],
    ['/Tabs /S', '/Tabs /R', 'a page has no order of tabs'],
    ['/S /GTS_PDFA1', '/S /GTS_PDFX1', 'it has no output intent of PDF/A'],
    ['/CIDToGIDMap /Identity', '/CIDToGIDMap /Identitx', 'a font has no CIDToGIDMap (6.2.11.3.2)'],
    ['/Identity-H', '/Identity-V', 'a font has another encoding'],
    [/\/K \[0\]/, '/K [9]', 'the tree of parents has another tag for 0'],
    [/\/W \[0 \[(\d{3})/, '/W [1 [$1', 'a glyph has another width than its font says (6.2.11.5)'],
    ['/ColorSpace /DeviceRGB', '/ColorSpace /DeviceXYZ', 'a picture has colours in DeviceXYZ'],
  ];
  for (const [from, to, problem] of planted) {
    const damaged = text.replace(from, to);
    t.not(damaged, text, `${problem}: planted`);
    t.ok(conformanceProblems(Buffer.from(damaged, 'latin1')).includes(problem), problem);
  }
});
