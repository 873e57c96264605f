/** Characters that cause trouble in file systems or headers: controls, separators, quotes, wildcards, non-ASCII. */
const ODD = /[^0-9A-Za-z !#$&'()+,;=@[\]^_`{}~.-]/gu;
/** Characters that encodeURIComponent keeps but `filename*` must encode (RFC 8187 section 3.2.1, attr-char). */
const NOT_ATTRIBUTE = /['()*]/g;
/** The longest name, plain and encoded, that keeps the header within the contract's length. */
const NAME_CHARACTERS_MAX = 100;
const ENCODED_CHARACTERS_MAX = 300;

/**
 * Returns the Content-Disposition of a document's file (RFC 6266): `attachment; filename="<number>.pdf"`. Characters
 * unsuitable for a file name are replaced; the exact name goes into `filename*` (RFC 8187), which clients prefer.
 */
export function contentDisposition(name: string, ending: 'pdf' | 'xml' | 'csv' | 'xlsx' = 'pdf'): string {
  const exact = shortened(name);
  // A name that begins with a full stop is hidden, and one that begins with a space is easily missed.
  const plain = exact.replace(ODD, '-').replace(/^(?:[ .]|$)/, '-');
  const attachment = `attachment; filename="${plain}.${ending}"`;
  return plain === exact ? attachment : `${attachment}; filename*=UTF-8''${encoded(exact)}.${ending}`;
}

/** Shortens a name to the limits, which documents' numbers never reach. */
function shortened(name: string): string {
  let characters = [...name.toWellFormed()].slice(0, NAME_CHARACTERS_MAX);
  while (encoded(characters.join('')).length > ENCODED_CHARACTERS_MAX) characters = characters.slice(0, -1);
  return characters.join('');
}

function encoded(text: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(NOT_ATTRIBUTE, percent);
}
