/** XML as text. Names and attributes come from the code and are written as they are; values may hold anything. */

/** XML 1.0 (section 2.2) can't hold these: most control characters, half surrogate pairs, U+FFFE and U+FFFF. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Text as the content of an element or, within quotation marks, of an attribute. Characters that XML can't hold become
 * U+FFFD, so that a reader sees that something was there; line breaks become the one that every parser makes of them.
 */
export function escapeXml(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"]/g, (character) => escapes[character] ?? '');
}

/** An element around others; undefined ones are left out. */
export function element(name: string, ...children: readonly (string | undefined)[]): string {
  return `<${name}>${children.join('')}</${name}>`;
}

/** Attributes by their names; undefined ones are left out. */
type Attributes = Readonly<Record<string, string | undefined>>;

export function leaf(name: string, value: string, attributes: Attributes = {}): string {
  const written = Object.entries(attributes).map(([key, text]) =>
    text === undefined ? '' : ` ${key}="${escapeXml(text)}"`,
  );
  return `<${name}${written.join('')}>${escapeXml(value)}</${name}>`;
}

/** An element around a value; undefined when there is none. */
export function optionalLeaf(
  name: string,
  value: string | undefined,
  attributes?: Attributes,
): string | undefined {
  return value === undefined ? undefined : leaf(name, value, attributes);
}

/** An element around others; undefined when all of them are. */
export function optionalElement(
  name: string,
  ...children: readonly (string | undefined)[]
): string | undefined {
  return children.every((child) => child === undefined) ? undefined : element(name, ...children);
}

/** Text on one line: line breaks and runs of spaces become one space, as `normalize-space()` would have it. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Text on one line; undefined when nothing is left of it. */
export function optionalText(text: string | null | undefined): string | undefined {
  return oneLine(text ?? '') || undefined;
}
