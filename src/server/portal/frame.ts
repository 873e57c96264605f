import type { AssetPaths } from './assets.ts';
import type { PageError } from '../views/page-error.ts';
import type { ActionMessage, PageReply, Visit } from '../views/visit.ts';
import { form } from '../views/form.ts';
import { supportLink, withIds } from '../views/formats.ts';
import { type Html, html } from '../views/html.ts';
import { navigation, sectionHeading } from '../views/navigation.ts';
import { noticeBox } from '../views/notice.ts';

export interface Common {
  serviceName: string;
  supportUrl: string | undefined;
  assets: AssetPaths;
}

export function administratorPage(
  common: Common,
  visit: Visit,
  { title, section, content }: PageReply,
  { notice, unseen }: { notice: ActionMessage | undefined; unseen: number | undefined },
): string {
  const { company, administrator } = visit;
  const place = sectionHeading(section);
  return htmlDocument(
    common,
    `${title} · ${company.name}`,
    html`<header class="top">
        <div class="bar">
          <p class="brand">${brand(common)} <span class="company">${company.name}</span></p>
          <button type="button" class="menu quiet" popovertarget="menu">Menu</button>
          <div id="menu" popover>
            <div class="who">
              ${visit.tokens.length > 1 && html`<a href="/portal/companies">Change company</a>`}
              <a href="/portal/account" ${section === 'account' && html`aria-current="page"`}
                >${administrator.name}</a
              >
              ${form(visit, { action: '/portal/sign-out' }, html`<button class="quiet">Sign out</button>`)}
            </div>
            ${navigation(section, unseen)}
          </div>
        </div>
      </header>
      <main id="content" tabindex="-1">
        ${notice && noticeBox(notice)} ${place !== undefined && html`<p class="place">${place}</p>`}
        <h1>${withIds(title)}</h1>
        ${content}
      </main>
      <footer>
        <p>Times are in the time zone of ${company.name}, ${company.timeZone}.</p>
        ${help(common)}
      </footer>`,
  );
}

function brand({ serviceName, assets: { logo } }: Common): Html {
  return html`<a href="/portal"
    >${logo !== undefined && html`<img src="${logo}" alt="" />`}${serviceName}</a
  >`;
}

export function guestPage(common: Common, { title, content }: Pick<PageReply, 'title' | 'content'>): string {
  return htmlDocument(
    common,
    title,
    html`<header class="brand alone">${brand(common)}</header>
      <main id="content" class="alone" tabindex="-1">
        <h1>${withIds(title)}</h1>
        ${content} ${help(common)}
      </main>`,
  );
}

/** Renders the support link, which is on every page because people can be locked out at many of them. */
function help({ supportUrl }: Common): Html {
  return html`${supportUrl !== undefined && html`<p>${supportLink('Get help', supportUrl)}</p>`}`;
}

export function errorPage(
  common: Common,
  { title, message }: PageError,
  { requestId, isSignedIn }: { requestId: string; isSignedIn: boolean },
): string {
  const wayOut = isSignedIn
    ? html`<a href="/portal">Go to the overview</a>`
    : html`<a href="/portal/sign-in">Go to the sign-in page</a>`;
  const content = html`<p>${message}</p>
    <p>${wayOut}</p>
    <p class="hint">Request id: <code>${requestId}</code></p>`;
  return guestPage(common, { title, content });
}

/** Builds a whole page. If a form was refused, the title says so, and its first wrong field gets focus (WCAG 2.2, 3.3.1). */
function htmlDocument({ serviceName, assets }: Common, title: string, body: Html): string {
  const text = body.toString();
  const isRefused = text.includes('role="alert"');
  const first = /aria-invalid="true"/.exec(text)?.[0] ?? 'role="alert" tabindex="-1"';
  return html`<!doctype html>
    <html lang="en-GB">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${isRefused && 'Error: '}${title} · ${serviceName}</title>
        <link rel="icon" href="${assets.icon}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets.stylesheet}" />
        <script src="${assets.script}" type="module"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        ${body}
      </body>
    </html>`
    .toString()
    .replace(first, '$& autofocus');
}
