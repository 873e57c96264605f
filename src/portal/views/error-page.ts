import { page, type PageReply } from '../visit.ts';
import type { PageError } from '../page-error.ts';
import { guestFrame } from './frame.ts';
import { html } from './html.ts';

/** What a visitor sees of an error. */
export function errorPage(error: PageError, requestId: string, isSignedIn: boolean): PageReply {
  return page(
    error.title,
    guestFrame(
      error.title,
      html`<p>${error.message}</p>
        <p>
          ${
            isSignedIn
              ? html`<a href="/portal">Go to the overview</a>`
              : html`<a href="/portal/sign-in">Go to the sign-in page</a>`
          }
        </p>
        <p class="hint">Request id: <code>${requestId}</code></p>`,
    ),
  );
}
