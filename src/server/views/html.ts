import { withoutDirections } from '../../errors.ts';

const characters: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A piece of HTML, which only `html` creates. Everything else is text, and gets escaped. */
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

/** Content of a page: HTML stays as it is, text and numbers are escaped, and absent values add nothing. */
export type Content = Html | string | number | false | null | undefined | readonly Content[];

/**
 * Builds a piece of HTML from a template. Values can stand in elements and in double-quoted attributes, and are escaped
 * for both.
 *
 * A text can't change the writing direction of the page around it. In an element, characters that force a direction are
 * left out, and a text with right-to-left letters is isolated. In an attribute, a text is kept whole, because a field's
 * value must come back unchanged.
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

/** The place of a value in a template. `text` is an element that can't contain elements, such as a title. */
type Place = 'attribute' | 'text' | 'element';

/** Finds the place of a value. @param before the template's text before the value. */
function placeAfter(before: string): Place {
  if (/="[^"]*$/.test(before)) return 'attribute';
  return /<(?:title|option|textarea)\b[^<]*$/.test(before) ? 'text' : 'element';
}

/** Matches right-to-left letters, digits and marks. */
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
