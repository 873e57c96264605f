import { escapeXml } from './xml-text.ts';

/** What PDF/A wants to know of a schema that isn't its own (ISO 19005-3, 6.6.2.3.3). */
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

/** Claims PDF/UA-1 (ISO 14289-1, 5), and describes its schema together with `others`, since there is one list of them. */
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
