import { escapeXml } from '../e-invoice/xml-text.ts';

/** The description of the embedded e-invoice for pdfkit's `file()`. The pages and the file are alternatives of each other. */
export const E_INVOICE_FILE = {
  name: 'factur-x.xml',
  type: 'text/xml',
  description: 'Factur-X invoice',
  relationship: 'Alternative',
} as const;

const FACTUR_X = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';

/** The e-invoice's name and profile; the type is the same for credit notes. */
const facturXProperties = [
  ['DocumentType', 'INVOICE', 'The type of the hybrid document in capital letters, e.g. INVOICE or ORDER'],
  ['DocumentFileName', E_INVOICE_FILE.name, 'The name of the embedded XML document'],
  ['Version', '1.0', 'The actual version of the standard applying to the embedded XML document'],
  ['ConformanceLevel', 'EN 16931', 'The conformance level of the embedded XML document'],
] as const;

/**
 * Returns XMP metadata for pdfkit's `appendXML()`. It claims PDF/UA-1 (ISO 14289-1, 5) and, with an e-invoice, Factur-X,
 * and describes the schemas that aren't PDF/A's own, as PDF/A requires (ISO 19005-3, 6.6.2.3.3).
 */
export function metadata(hasEInvoice: boolean): string {
  const ua = schemaXml(
    'PDF/UA Universal Accessibility Schema',
    'http://www.aiim.org/pdfua/ns/id/',
    'pdfuaid',
    [propertyXml('part', 'Integer', 'The part of ISO 14289 that is met')],
  );
  const described = facturXProperties.map(([name, , description]) => propertyXml(name, 'Text', description));
  const facturX = schemaXml('Factur-X PDFA Extension Schema', FACTUR_X, 'fx', described);
  const stated = facturXProperties.map(([name, value]) => `  <fx:${name}>${value}</fx:${name}>`);
  return `
<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">
  <pdfuaid:part>1</pdfuaid:part>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
  <pdfaExtension:schemas>
    <rdf:Bag>${ua}${hasEInvoice ? facturX : ''}
    </rdf:Bag>
  </pdfaExtension:schemas>
</rdf:Description>
${hasEInvoice ? `\n<rdf:Description rdf:about="" xmlns:fx="${FACTUR_X}">\n${stated.join('\n')}\n</rdf:Description>\n` : ''}`;
}

function schemaXml(schema: string, namespaceUri: string, prefix: string, properties: string[]): string {
  return `
      <rdf:li rdf:parseType="Resource">
        <pdfaSchema:schema>${escapeXml(schema)}</pdfaSchema:schema>
        <pdfaSchema:namespaceURI>${namespaceUri}</pdfaSchema:namespaceURI>
        <pdfaSchema:prefix>${prefix}</pdfaSchema:prefix>
        <pdfaSchema:property>
          <rdf:Seq>${properties.join('')}
          </rdf:Seq>
        </pdfaSchema:property>
      </rdf:li>`;
}

function propertyXml(name: string, valueType: string, description: string): string {
  return `
            <rdf:li rdf:parseType="Resource">
              <pdfaProperty:name>${name}</pdfaProperty:name>
              <pdfaProperty:valueType>${valueType}</pdfaProperty:valueType>
              <pdfaProperty:category>external</pdfaProperty:category>
              <pdfaProperty:description>${escapeXml(description)}</pdfaProperty:description>
            </rdf:li>`;
}
