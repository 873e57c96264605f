import { escapeXml } from './xml-text.ts';

/** PDF/A asks for this description of each schema that isn't its own (ISO 19005-3, 6.6.2.3.3). */
export interface ExtensionSchema {
  schema: string;
  namespaceUri: string;
  prefix: string;
  properties: readonly { name: string; valueType: string; description: string }[];
}

const uaSchema: ExtensionSchema = {
  schema: 'PDF/UA Universal Accessibility Schema',
  namespaceUri: 'http://www.aiim.org/pdfua/ns/id/',
  prefix: 'pdfuaid',
  properties: [{ name: 'part', valueType: 'Integer', description: 'The part of ISO 14289 that is met' }],
};

/**
 * Claims PDF/UA-1 (ISO 14289-1, 5), and describes its schema together with `others`, because there can be only one
 * list.
 */
export function uaMetadata(others: readonly ExtensionSchema[]): string {
  return `
<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">
  <pdfuaid:part>1</pdfuaid:part>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
  <pdfaExtension:schemas>
    <rdf:Bag>${[uaSchema, ...others].map(schemaXml).join('')}
    </rdf:Bag>
  </pdfaExtension:schemas>
</rdf:Description>
`;
}

function schemaXml({ schema, namespaceUri, prefix, properties }: ExtensionSchema): string {
  return `
      <rdf:li rdf:parseType="Resource">
        <pdfaSchema:schema>${escapeXml(schema)}</pdfaSchema:schema>
        <pdfaSchema:namespaceURI>${escapeXml(namespaceUri)}</pdfaSchema:namespaceURI>
        <pdfaSchema:prefix>${escapeXml(prefix)}</pdfaSchema:prefix>
        <pdfaSchema:property>
          <rdf:Seq>${properties.map(propertyXml).join('')}
          </rdf:Seq>
        </pdfaSchema:property>
      </rdf:li>`;
}

function propertyXml({ name, valueType, description }: ExtensionSchema['properties'][number]): string {
  return `
            <rdf:li rdf:parseType="Resource">
              <pdfaProperty:name>${escapeXml(name)}</pdfaProperty:name>
              <pdfaProperty:valueType>${escapeXml(valueType)}</pdfaProperty:valueType>
              <pdfaProperty:category>external</pdfaProperty:category>
              <pdfaProperty:description>${escapeXml(description)}</pdfaProperty:description>
            </rdf:li>`;
}

/**
 * The embedded file, as `file()` of pdfkit wants it described. The pages and the file are alternatives of each other.
 */
export const E_INVOICE_FILE = {
  name: 'factur-x.xml',
  type: 'text/xml',
  description: 'Factur-X invoice',
  relationship: 'Alternative',
} as const;

const properties = [
  {
    name: 'DocumentType',
    // Of credit notes too.
    value: 'INVOICE',
    description: 'The type of the hybrid document in capital letters, e.g. INVOICE or ORDER',
  },
  {
    name: 'DocumentFileName',
    value: E_INVOICE_FILE.name,
    description: 'The name of the embedded XML document',
  },
  {
    name: 'Version',
    value: '1.0',
    description: 'The actual version of the standard applying to the embedded XML document',
  },
  {
    name: 'ConformanceLevel',
    value: 'EN 16931',
    description: 'The conformance level of the embedded XML document',
  },
];

/**
 * Describes the properties of `facturXMetadata`, which PDF/A forbids otherwise. It goes into the list of `uaMetadata`.
 */
export const facturXSchema: ExtensionSchema = {
  schema: 'Factur-X PDFA Extension Schema',
  namespaceUri: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
  prefix: 'fx',
  properties: properties.map(({ name, description }) => ({ name, valueType: 'Text', description })),
};

/** Metadata (XMP) for `appendXML()` of pdfkit: what the e-invoice is called, and which profile it has. */
export function facturXMetadata(): string {
  const { prefix, namespaceUri } = facturXSchema;
  const values = properties.map(({ name, value }) => `  <${prefix}:${name}>${value}</${prefix}:${name}>`);
  return `
<rdf:Description rdf:about="" xmlns:${prefix}="${namespaceUri}">
${values.join('\n')}
</rdf:Description>
`;
}
