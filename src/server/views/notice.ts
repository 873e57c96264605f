import type { ActionMessage } from './visit.ts';
import { type Content, type Html, html } from './html.ts';

/** Renders the message of the last action, and any secrets, which are shown only once. */
export function noticeBox({ text, secrets }: ActionMessage): Html {
  return html`<section class="notice done" role="status">
    <p>${text}</p>
    ${secrets.map((secret, index) => secretBox(`secret-${index}`, secret))}
  </section>`;
}

/**
 * Renders a secret with a button that copies it. Without scripts, a click selects it.
 * @param secret.file the name of a text file in which it can be kept. The page itself has the file, so that no request brings
 *   a secret.
 */
export function secretBox(
  id: string,
  { label, value, hint, file }: { label: string; value: Content; hint?: Content; file?: string },
): Html {
  return html`<div class="secret">
    <p class="label" id="${id}-label">${label}</p>
    <p class="value">
      <code id="${id}" aria-labelledby="${id}-label" role="group" tabindex="0">${value}</code>
      ${copyButton(id, label)}
    </p>
    ${hint !== undefined && html`<p class="hint">${hint}</p>`}
    ${
      file !== undefined &&
      typeof value === 'string' &&
      html`<p>
        <a
          download="${file}"
          href="data:text/plain;charset=utf-8,${encodeURIComponent(`${label}\r\n\r\n${value}\r\n`)}"
          >Download as a text file</a
        >
      </p>`
    }
  </div>`;
}

/** Renders a button that copies an element's text. A script makes it visible. */
export function copyButton(id: string, what: string): Html {
  return html`<button type="button" class="quiet" data-copy="${id}" hidden>
    Copy<span class="hidden"> ${what}</span>
  </button>`;
}

/** Renders a prominent box for something that needs attention. */
export function warning(content: Html | string): Html {
  return html`<div class="notice problem"><p>${content}</p></div>`;
}

/** Renders a title and advice in place of an empty list. */
export function emptyState(title: string, content: Html | string): Html {
  return html`<div class="empty">
    <p class="title">${title}</p>
    <p>${content}</p>
  </div>`;
}

/** Renders the steps of a task in order, with a badge beside each that is done. */
export function steps(entries: readonly (readonly [isDone: boolean, step: Html])[]): Html {
  return html`<ol>
    ${entries.map(([isDone, step]) => html`<li>${step} ${isDone && badge('good', 'Done')}</li>`)}
  </ol>`;
}

/** Renders a state as a short text on a coloured background. The colour adds nothing that the text doesn't say. */
export function badge(kind: 'good' | 'bad' | 'plain' | 'warn', text: string): Html {
  return html`<span class="badge ${kind}">${text}</span>`;
}
