import { type Content, type Html, html } from './html.ts';

/**
 * A table whose rows become cards on a phone. The roles are written out, because browsers drop them from a table that
 * is laid out in another way.
 */
export function table({
  caption,
  columns,
  rows,
}: {
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly Content[])[];
}): Html {
  return html`<table role="table">
    <caption class="hidden">
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (cells) =>
          html`<tr role="row">
            ${cells.map((cell, index) => html`<td role="cell" data-label="${columns[index]}"><div>${cell}</div></td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
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
export function pagination({
  older,
  newest,
}: {
  older: string | undefined;
  newest: string | undefined;
}): Html {
  if (older === undefined && newest === undefined) return html``;
  return html`<nav class="pages" aria-label="Pages">
    ${newest !== undefined && html`<a href="${newest}">Newest</a>`}
    ${older !== undefined && html`<a href="${older}" rel="next">Older</a>`}
  </nav>`;
}
