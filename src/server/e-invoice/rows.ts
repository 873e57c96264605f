/** Writes XML from tables: a syntax lists the terms of EN 16931 as rows, in the order of its schema. */
import type { Identifier } from './model.ts';
import { escapeXml } from './xml-text.ts';

/** Attributes of an XML element by name; undefined ones are omitted. */
export type Attributes = Readonly<Record<string, string | undefined>>;

type Value = string | Identifier | undefined;

/**
 * A row for one term of EN 16931: its number, the path of its element, and its values, each with its own element. A value's
 * scheme becomes an attribute. `-` marks an element that only the schema requires, written only beside terms.
 */
export type TermMapping = readonly [
  term: `${'BT' | 'BG'}-${string}` | '-',
  path: string,
  value: Value | readonly Value[],
  attributes?: Attributes,
];

/** A group of elements, one for each list of rows; one without any term is omitted, unless the schema requires it. */
export interface TermGroup {
  path: string;
  contents: readonly Rows[];
  isRequired?: boolean;
}

export type Rows = readonly (TermMapping | TermGroup)[];

/** Returns a group that is a single element around the given rows. */
export function groupOf(path: string, rows: Rows = []): TermGroup {
  return { path, contents: [rows] };
}

/** Returns a group that has one element, with its own rows, for each item. */
export function groupPerItem<T>(
  path: string,
  items: readonly T[],
  rowsOf: (item: T, index: number) => Rows,
): TermGroup {
  return { path, contents: items.map(rowsOf) };
}

/** A function that returns the attributes of every element with a given path. */
type Common = (path: string) => Attributes;

/** Returns an XML document of rows. Attributes from `common` are merged with a row's own, which take precedence. */
export function xmlText(root: string, namespaces: Attributes, rows: Rows, common?: Common): string {
  const document = element(root, contentOf(rows, common), namespaces);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document}\n`;
}

/** Returns the XML text of rows; empty if no term has a value. */
function contentOf(rows: Rows, common?: Common): string {
  const texts = rows.map((part) => ('path' in part ? groupText(part, common) : rowText(part, common)));
  const hasTerm = rows.some((part, index) => texts[index] !== '' && ('path' in part || part[0] !== '-'));
  return hasTerm ? texts.join('') : '';
}

function groupText({ path, contents, isRequired }: TermGroup, common?: Common): string {
  const texts = contents.map((rows) => contentOf(rows, common));
  return texts.map((text) => (text || isRequired ? element(path, text) : '')).join('');
}

function rowText([, path, value, attributes]: TermMapping, common?: Common): string {
  const texts = [value].flat().map((one) => {
    if (one === undefined) return '';
    const { id, scheme }: Identifier = typeof one === 'string' ? { id: one } : one;
    return element(path, escapeXml(id), { ...common?.(path), schemeID: scheme, ...attributes });
  });
  return texts.join('');
}

/** Returns elements nested as in a path; the innermost has the content and the attributes. */
function element(path: string, content: string, attributes: Attributes = {}): string {
  const names = path.split('/');
  const written = Object.entries(attributes).map(([name, text]) =>
    text === undefined ? '' : ` ${name}="${escapeXml(text)}"`,
  );
  return `<${names.join('><')}${written.join('')}>${content}</${names.toReversed().join('></')}>`;
}
