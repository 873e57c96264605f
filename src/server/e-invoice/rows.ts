/** XML from tables: a syntax has the terms of EN 16931 as rows, in the order of its schema. */
import type { Identifier } from './model.ts';
import { escapeXml } from './xml-text.ts';

/** Attributes by their names; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | undefined>>;

type Value = string | Identifier | undefined;

/**
 * A term by its number, the path of its element, and its value: none makes no element, and several make several. The scheme
 * of an identifier is an attribute. `-` marks what a schema asks for besides: it stands beside terms, and never alone.
 */
export type TermRow = readonly [
  term: `${'BT' | 'BG'}-${string}` | '-',
  path: string,
  value: Value | readonly Value[],
  attributes?: Attributes,
];

/** An element for each list of rows; one without any term is left out, unless the schema asks for it. */
export interface TermGroup {
  path: string;
  contents: readonly Rows[];
  isRequired?: boolean;
}

export type Rows = readonly (TermRow | TermGroup)[];

/** An element around rows. */
export function within(path: string, rows: Rows = []): TermGroup {
  return { path, contents: [rows] };
}

/** An element for each item, around its rows. */
export function each<T>(
  path: string,
  items: readonly T[],
  rowsOf: (item: T, index: number) => Rows,
): TermGroup {
  return { path, contents: items.map(rowsOf) };
}

/** The attributes that elements have wherever they stand, by their path. */
type Common = (path: string) => Attributes;

/** A document around rows, with its declaration. `common` gives attributes, and a row its own besides or instead. */
export function xmlText(root: string, namespaces: Attributes, rows: Rows, common?: Common): string {
  const document = element(root, contentOf(rows, common), namespaces);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document}\n`;
}

/** The text of rows; none without a term. */
function contentOf(rows: Rows, common?: Common): string {
  const texts = rows.map((part) => ('path' in part ? groupText(part, common) : rowText(part, common)));
  const hasTerm = rows.some((part, index) => texts[index] !== '' && ('path' in part || part[0] !== '-'));
  return hasTerm ? texts.join('') : '';
}

function groupText({ path, contents, isRequired }: TermGroup, common?: Common): string {
  const texts = contents.map((rows) => contentOf(rows, common));
  return texts.map((text) => (text || isRequired ? element(path, text) : '')).join('');
}

function rowText([, path, value, attributes]: TermRow, common?: Common): string {
  const texts = [value].flat().map((one) => {
    if (one === undefined) return '';
    const { id, scheme }: Identifier = typeof one === 'string' ? { id: one } : one;
    return element(path, escapeXml(id), { ...common?.(path), schemeID: scheme, ...attributes });
  });
  return texts.join('');
}

/** Elements one within the other, as a path names them; the innermost has the content and the attributes. */
function element(path: string, content: string, attributes: Attributes = {}): string {
  const names = path.split('/');
  const written = Object.entries(attributes).map(([name, text]) =>
    text === undefined ? '' : ` ${name}="${escapeXml(text)}"`,
  );
  return `<${names.join('><')}${written.join('')}>${content}</${names.toReversed().join('></')}>`;
}
