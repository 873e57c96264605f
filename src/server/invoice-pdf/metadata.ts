import { escapeXml } from '../e-invoice/xml-text.ts';

const FACTUR_X = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';
export const E_INVOICE_FILE = 'factur-x.xml';

/** The e-invoice's name and profile; the type is the same for credit notes. */
const facturXProperties = [
  ['DocumentType', 'INVOICE', 'The type of the hybrid document in capital letters, e.g. INVOICE or ORDER'],
  ['DocumentFileName', E_INVOICE_FILE, 'The name of the embedded XML document'],
  ['Version', '1.0', 'The actual version of the standard applying to the embedded XML document'],
  ['ConformanceLevel', 'EN 16931', 'The conformance level of the embedded XML document'],
] as const;

/**
 * Adds to a PDF/A-3a file of Typst what Typst can't write (typst/typst#5667): XMP metadata that claim PDF/UA-1 (ISO
 * 14289-1, 5) and, for a document with an e-invoice, Factur-X; descriptions of their schemas, which PDF/A requires (ISO
 * 19005-3, 6.6.2.3.3); and the preference to show the title (ISO 14289-1, 7.1). The metadata and the catalog are the
 * file's last two objects, so these are replaced, with the cross-reference table behind them (ISO 32000-1, 7.5.4).
 * @throws Error for a file whose last objects are others.
 */
export function withMetadata(pdf: Buffer, hasEInvoice: boolean): Buffer {
  const text = pdf.toString('latin1');
  const found = LAST_OBJECTS.exec(text);
  if (!found) throw new Error('The PDF does not end as those of Typst do.');
  const [, metadata = '', packet = '', catalog = '', table = ''] = found;
  const xmp = withClaims(Buffer.from(packet, 'latin1').toString('utf8'), hasEInvoice);
  const head = `<< /Length ${Buffer.byteLength(xmp)} /Type /Metadata /Subtype /XML >>`;
  const written = Buffer.from(`${metadata} 0 obj\n${head}\nstream\n${xmp}\nendstream\nendobj\n\n`);
  const root = catalog.replace('/ViewerPreferences <<', '/ViewerPreferences << /DisplayDocTitle true');
  const catalogAt = found.index + written.length;
  const offsets = table
    .replace(/\d{10}(?= 00000 n\s+trailer)/, String(catalogAt).padStart(10, '0'))
    .replace(/(?<=startxref\s+)\d+/, String(catalogAt + root.length));
  return Buffer.concat([pdf.subarray(0, found.index), written, Buffer.from(root + offsets, 'latin1')]);
}

/** The number of the metadata object, its packet, the catalog object, and the cross-reference table with the trailer. */
const LAST_OBJECTS =
  /(\d+) 0 obj\s+<<[^>]*\/Type \/Metadata[^>]*>>\s+stream\s(.*?)\sendstream\s+endobj\s+(\d+ 0 obj\s+<<(?:(?!endobj).)*\/Type \/Catalog(?:(?!endobj).)*endobj\s+)(xref\s.*)$/s;

/** Adds the claims and the descriptions of their schemas to a packet of Typst. */
function withClaims(packet: string, hasEInvoice: boolean): string {
  const ua = schemaXml(
    'PDF/UA Universal Accessibility Schema',
    'http://www.aiim.org/pdfua/ns/id/',
    'pdfuaid',
    [propertyXml('part', 'Integer', 'The part of ISO 14289 that is met')],
  );
  const properties = facturXProperties.map(([name, , description]) => propertyXml(name, 'Text', description));
  const facturX = schemaXml('Factur-X PDFA Extension Schema', FACTUR_X, 'fx', properties);
  const stated = facturXProperties.map(([name, value]) => `<fx:${name}>${value}</fx:${name}>`).join('');
  const claims = [
    '<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/"><pdfuaid:part>1</pdfuaid:part></rdf:Description>',
    ...(hasEInvoice
      ? [`<rdf:Description rdf:about="" xmlns:fx="${FACTUR_X}">${stated}</rdf:Description>`]
      : []),
  ];
  return packet
    .replace('<pdfaExtension:schemas><rdf:Bag>', (bag) => `${bag}${ua}${hasEInvoice ? facturX : ''}`)
    .replace('</rdf:RDF>', (end) => `${claims.join('')}${end}`);
}

function schemaXml(schema: string, namespaceUri: string, prefix: string, properties: string[]): string {
  return `<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>${escapeXml(schema)}</pdfaSchema:schema><pdfaSchema:namespaceURI>${namespaceUri}</pdfaSchema:namespaceURI><pdfaSchema:prefix>${prefix}</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>${properties.join('')}</rdf:Seq></pdfaSchema:property></rdf:li>`;
}

function propertyXml(name: string, valueType: string, description: string): string {
  return `<rdf:li rdf:parseType="Resource"><pdfaProperty:category>external</pdfaProperty:category><pdfaProperty:description>${escapeXml(description)}</pdfaProperty:description><pdfaProperty:name>${name}</pdfaProperty:name><pdfaProperty:valueType>${valueType}</pdfaProperty:valueType></rdf:li>`;
}
