import type { Notice, PageReply, Visit } from '../visit.ts';
import { form } from './form.ts';
import { type Html, html } from './html.ts';
import { navigation, placeOf } from './navigation.ts';
import { noticeBox } from './notice.ts';

/** What is around the pages of an administrator who is signed in. */
export function frame({
  visit,
  reply,
  notice,
  serviceName,
}: {
  visit: Visit;
  reply: PageReply;
  notice: Notice | undefined;
  serviceName: string;
}): Html {
  const { company, administrator } = visit;
  const place = placeOf(reply.section);
  return html`<header class="top">
      <div class="bar">
        <p class="brand"><a href="/portal">${serviceName}</a> <span class="company">${company.name}</span></p>
        <div class="who">
          <a href="/portal/account" ${reply.section === 'account' && html`aria-current="page"`}
            >${administrator.name}</a
          >
          ${form(visit, { action: '/portal/sign-out' }, html`<button class="quiet">Sign out</button>`)}
        </div>
      </div>
      ${navigation(reply.section)}
    </header>
    <main id="content" tabindex="-1">
      ${notice && noticeBox(notice)} ${place !== undefined && html`<p class="place">${place}</p>`}
      <h1>${reply.title}</h1>
      ${reply.content}
    </main>
    <footer><p>Times are in the time zone of ${company.name}, ${company.timeZone}.</p></footer>`;
}

/** What is around a page of somebody who isn't signed in. */
export function guestFrame(title: string, content: Html): Html {
  return html`<main id="content" class="alone" tabindex="-1">
    <h1>${title}</h1>
    ${content}
  </main>`;
}
