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

/** Text on one line: line breaks and runs of spaces become one space, as `normalize-space()` would have it. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Text on one line; undefined when nothing is left of it. */
export function optionalText(text: string | null | undefined): string | undefined {
  return oneLine(text ?? '') || undefined;
}
