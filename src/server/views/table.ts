import { type Content, type Html, html } from './html.ts';

/** A column by its name. */
type Column = string | { name: string; kind: 'amount' | 'named' };

/** A column of amounts or counts, which stand on the right. */
export const amount = (name: string): Column => ({ name, kind: 'amount' });

/** A column whose values have its name beside them in a card, because they say nothing alone: such as one of several times. */
export const named = (name: string): Column => ({ name, kind: 'named' });

/** Tables of so many columns fit every window. The rows of wider ones become cards. */
const NARROW_COLUMNS_MAX = 3;
/** A longer word may break, because it would push the other columns out of the window. An id in a `code` is of 40 characters. */
const LONG_WORD = /\S{25}/u;
const SHORT_CODE = /<code[^>]*>\S{1,40}<\/code\s*>/g;

/**
 * A table. In a window that is too narrow for its columns each row becomes a card, with the first cell as its heading. The
 * roles are written out, because browsers drop them from a table that is laid out in another way.
 */
export function table({
  caption,
  columns,
  rows,
}: {
  caption: string;
  columns: readonly Column[];
  rows: readonly (readonly Content[])[];
}): Html {
  const all = columns.map((column) => (typeof column === 'string' ? { name: column, kind: '' } : column));
  return html`<table role="table" class="${columns.length > NARROW_COLUMNS_MAX && 'wide'}">
    <caption class="hidden">
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${all.map(({ name, kind }) => html`<th role="columnheader" scope="col" class="${kind}">${name}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (cells) =>
          html`<tr role="row">
            ${cells.map((cell, index) => cellOf(cell, all[index]))}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function cellOf(cell: Content, { name = '', kind = '' }: { name?: string; kind?: string } = {}): Html {
  const content = html`${cell}`;
  const isLong = LONG_WORD.test(
    content
      .toString()
      .replaceAll(SHORT_CODE, ' ')
      .replaceAll(/<[^>]*>/g, ' '),
  );
  return html`<td
    role="cell"
    class="${kind}${isLong && ' long'}"
    ${kind !== '' && html`data-label="${name}"`}
  >
    <div>${content}</div>
  </td>`;
}

/** A list of names with their values; a name without a value is left out. */
export function facts(entries: readonly (readonly [name: string, content: Content])[]): Html {
  return html`<dl class="facts">
    ${entries.map(
      ([name, content]) =>
        content !== undefined &&
        content !== null &&
        html`<div>
          <dt>${name}</dt>
          <dd>${content}</dd>
        </div>`,
    )}
  </dl>`;
}

/** Links to the newest and the older entries of a list. */
export function pagination({ older, newest }: Record<'older' | 'newest', string | undefined>): Html {
  if (older === undefined && newest === undefined) return html``;
  return html`<nav class="pages" aria-label="Pages">
    ${newest !== undefined && html`<a href="${newest}">Newest</a>`}
    ${older !== undefined && html`<a href="${older}" rel="next">Older</a>`}
  </nav>`;
}
