/** XML as its readers see it: parsed by one library and asked with XPath 3.1 by another, neither of which wrote it. */
// A CommonJS package whose names Node doesn't see.
import fontoxpath from 'fontoxpath';
import { type Document, type Node, parseXmlDocument } from 'slimdom';

const uris: Record<string, string> = {
  rsm: 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100',
  ram: 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100',
  qdt: 'urn:un:unece:uncefact:data:standard:QualifiedDataType:100',
  udt: 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100',
  inv: 'urn:oasis:names:specification:ubl:schema:xsd:Invoice-2',
  cn: 'urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2',
  cac: 'urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2',
  cbc: 'urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  fx: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
  pdfuaid: 'http://www.aiim.org/pdfua/ns/id/',
  pdfaExtension: 'http://www.aiim.org/pdfa/ns/extension/',
  pdfaSchema: 'http://www.aiim.org/pdfa/ns/schema#',
  pdfaProperty: 'http://www.aiim.org/pdfa/ns/property#',
};

const { evaluateXPathToBoolean, evaluateXPathToNodes, evaluateXPathToStrings } = fontoxpath;

const options = { namespaceResolver: (prefix: string) => uris[prefix] ?? null };

/** Parses XML. @throws Error where it isn't well-formed. */
export function parseXml(xml: string): Document {
  return parseXmlDocument(xml);
}

/** The nodes that an expression finds. */
export function nodesOf(document: Node, path: string): Node[] {
  return evaluateXPathToNodes<Node>(path, document, null, null, options);
}

/** The values that an expression comes to. */
export function valuesOf(document: Node, path: string): string[] {
  return evaluateXPathToStrings(path, document, null, null, options);
}

/** The one value that an expression comes to, if it does. @throws Error where there are several. */
export function valueOf(document: Node, path: string): string | undefined {
  const [value, ...others] = valuesOf(document, path);
  if (others.length > 0) throw new Error(`${path} has ${others.length + 1} values.`);
  return value;
}

export function holds(node: Node, expression: string): boolean {
  return evaluateXPathToBoolean(expression, node, null, null, options);
}
