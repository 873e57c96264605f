/** What tells the readers of a PDF that it holds an e-invoice (Factur-X 1.0, section 6). */
import type { ExtensionSchema } from './xmp.ts';

/** The embedded file, as `file()` of pdfkit wants it described. The pages and the file are alternatives of each other. */
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

/** Describes the properties of `facturXMetadata`, which PDF/A forbids otherwise. It goes into the list of `uaMetadata`. */
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
