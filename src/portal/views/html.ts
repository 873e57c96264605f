import { withoutDirections } from '../../errors.ts';

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
 *
 * A text can't turn the direction of what is around it: in an element, what turns it by force is left out, also from
 * the middle of a sentence, and a text with letters that run from right to left is isolated. An attribute is a paragraph
 * of its own, and a field's value has to come back as it is, so there a text stays whole.
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

/** Where a value stands: elements whose content is text alone can't hold others. */
type Place = 'attribute' | 'text' | 'element';

/** @param before what the template itself has before the value. */
function placeAfter(before: string): Place {
  if (/="[^"]*$/.test(before)) return 'attribute';
  return /<(?:title|option|textarea)\b[^<]*$/.test(before) ? 'text' : 'element';
}

/** Letters and digits that run from right to left, and the marks that say so. */
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
