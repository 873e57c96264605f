import { type Content, type Html, html } from './html.ts';
import { emptyState } from './notice.ts';

/** A column of a table: its name, and for some columns a kind. */
type Column = string | { name: string; kind: 'amount' | 'named' };

/** Creates a right-aligned column of amounts or counts. */
export const amount = (name: string): Column => ({ name, kind: 'amount' });

/** Creates a column whose name is shown beside its value in a card, for values such as one of several times. */
export const named = (name: string): Column => ({ name, kind: 'named' });

/** Maximum number of columns that fit every window. The rows of wider tables can become cards. */
const NARROW_COLUMNS_MAX = 3;
/** A word that may break, because it would push other columns out. Ids in `code`, up to 40 characters long, are exempt. */
const LONG_WORD = /\S{25}/u;
const SHORT_CODE = /<code[^>]*>\S{1,40}<\/code\s*>/g;

/**
 * Renders a table. In a window too narrow for its columns, each row becomes a card with the first cell as its heading. The
 * ARIA roles are explicit, because browsers drop the implied ones when CSS changes a table's layout.
 * @param options.empty title and content to show instead of a table without rows.
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

/** Renders a list of names with their values; a name without a value is left out. */
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

/** Returns the rows to show, and the last of them if there are older rows. Callers read one row more than `countMax`. */
export function pageOf<Row>(read: readonly Row[], countMax: number): { shown: Row[]; last: Row | undefined } {
  const shown = read.slice(0, countMax);
  return { shown, last: read.length > countMax ? shown.at(-1) : undefined };
}

/**
 * Renders links to the newest and the older entries of a list.
 * @param addressOf returns the URL of the page that begins at a place; without a place, of the newest page.
 * @param place where this page begins; undefined for the newest page.
 * @param next where the next older page begins; undefined when there is none.
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
