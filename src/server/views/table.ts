import { type Content, type Html, html } from './html.ts';
import { emptyState } from './notice.ts';

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
 * @param options.empty title and content of the words in place of a table without rows.
 */
export function table({
  caption,
  columns,
  rows,
  empty,
}: {
  caption: string;
  columns: readonly Column[];
  rows: readonly (readonly Content[])[];
  empty?: Parameters<typeof emptyState>;
}): Html {
  if (empty && rows.length === 0) return emptyState(...empty);
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

/** The rows that a page of a list shows, and the last of them if there are older ones: one row more was read than it shows. */
export function pageOf<Row>(read: readonly Row[], countMax: number): { shown: Row[]; last: Row | undefined } {
  const shown = read.slice(0, countMax);
  return { shown, last: read.length > countMax ? shown.at(-1) : undefined };
}

/**
 * Links to the newest and the older entries of a list.
 * @param addressOf the address of the page that begins at a place, or of the newest.
 * @param place where this page begins; undefined for the newest.
 * @param next where the older ones begin; undefined when there are none.
 */
export function pagination<Place>(
  addressOf: (place?: Place) => string,
  { place, next }: { place: unknown; next: Place | undefined },
): Html {
  if (place === undefined && next === undefined) return html``;
  return html`<nav class="pages" aria-label="Pages">
    ${place !== undefined && html`<a href="${addressOf()}">Newest</a>`}
    ${next !== undefined && html`<a href="${addressOf(next)}" rel="next">Older</a>`}
  </nav>`;
}
