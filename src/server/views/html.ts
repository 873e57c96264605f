import { withoutDirections } from '../../errors.ts';

const characters: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A piece of a page. Only `html` makes one. Everything else is text and is escaped. */
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

/** The content of a page: pieces stay as they are, text and numbers are escaped, and absent values add nothing. */
export type Content = Html | string | number | false | null | undefined | readonly Content[];

/**
 * Writes a piece of a page. Values may stand in elements and in attributes between double quotes, and are escaped for
 * both.
 *
 * A text can't change the writing direction of the page around it. In an element, characters that force a direction are
 * left out, and a text with right-to-left letters is isolated. In an attribute a text stays whole, because a field's
 * value has to come back as it is.
 */
export function html(texts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  let page = texts[0] ?? '';
  let before = page;
  contents.forEach((content, index) => {
    page += textOf(content, placeAfter(before));
    before += texts[index + 1] ?? '';
    page += texts[index + 1] ?? '';
  });
  return new Piece(page);
}

/** The place of a value. `text` is an element that can't hold others, such as a title. */
type Place = 'attribute' | 'text' | 'element';

/** @param before the template's text before the value. */
function placeAfter(before: string): Place {
  if (/="[^"]*$/.test(before)) return 'attribute';
  return /<(?:title|option|textarea)\b[^<]*$/.test(before) ? 'text' : 'element';
}

/** Right-to-left letters, digits and marks. */
const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\u200e\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

function textOf(content: Content, place: Place): string {
  if (content instanceof Piece) return content.toString();
  if (content === false || content === null || content === undefined) return '';
  if (typeof content === 'object') return content.map((one) => textOf(one, place)).join('');
  const text = String(content).replace(/[&<>"']/g, (character) => characters[character] ?? '');
  if (place === 'attribute') return text;
  const plain = withoutDirections(text);
  return place === 'element' && RIGHT_TO_LEFT.test(plain) ? `<bdi>${plain}</bdi>` : plain;
}
