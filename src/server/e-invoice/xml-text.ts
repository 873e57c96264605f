/** Escaping and normalisation of text for XML. */

/** Matches characters that XML 1.0 can't hold (section 2.2): most controls, lone surrogates, U+FFFE and U+FFFF. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Returns text escaped for the content of an element or a quoted attribute. Characters that XML can't hold become U+FFFD, so
 * that their loss is visible; line breaks become line feeds, as in every parser.
 */
export function escapeXml(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"]/g, (character) => escapes[character] ?? '');
}

/** Returns text on one line: line breaks and runs of spaces become one space, as with `normalize-space()`. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns text on one line; undefined if it is blank. */
export function optionalText(text: string | null | undefined): string | undefined {
  return oneLine(text ?? '') || undefined;
}
