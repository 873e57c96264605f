import { type Content, type Html, html } from './html.ts';

/**
 * A table whose rows become cards on a phone. The roles are said outright, because browsers forget that a table is
 * one once it is shown as something else.
 */
export function table({
  caption,
  columns,
  rows,
  id,
}: {
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly Content[])[];
  id?: string;
}): Html {
  return html`<table role="table" ${id !== undefined && html`id="${id}"`}>
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

/** Names and what belongs to them. */
export function facts(entries: readonly (readonly [name: string, content: Content])[]): Html {
  return html`<dl class="facts">
    ${entries.map(
      ([name, content]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${content}</dd>
        </div>`,
    )}
  </dl>`;
}

/** Leads to the older entries of a list, which goes on after a key and not at a number. */
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
