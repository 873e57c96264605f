const characters: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A piece of a page. Only `html` makes one, so whatever else a page is given is text and is escaped. */
class Piece {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

export type Html = Piece;

/** What can stand in a page: pieces as they are, text and numbers escaped, and nothing for what isn't there. */
export type Content = Html | string | number | false | null | undefined | readonly Content[];

/**
 * Writes a piece of a page. Every value is escaped for elements and for attributes between double quotes, which is
 * where values may stand; other pieces are put in as they are.
 */
export function html(texts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  let page = texts[0] ?? '';
  contents.forEach((content, index) => {
    page += textOf(content) + (texts[index + 1] ?? '');
  });
  return new Piece(page);
}

function textOf(content: Content): string {
  if (content instanceof Piece) return content.toString();
  if (content === false || content === null || content === undefined) return '';
  if (typeof content === 'object') return content.map(textOf).join('');
  return String(content).replace(/[&<>"']/g, (character) => characters[character] ?? '');
}
