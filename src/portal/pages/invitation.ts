import { getCompany } from '../../access/companies.ts';
import { acceptLink, getLink } from '../../access/invitations.ts';
import type { SessionLengths } from '../../access/sessions.ts';
import { UsageError } from '../../errors.ts';
import type { Engine } from '../../store/engine.ts';
import type { PortalLink } from '../../store/portal-links.ts';
import { type Problems, problemsOf, refusalOf } from '../page-error.ts';
import type { GuestPage } from '../route.ts';
import { button, form, newPasswordFields, textField } from '../views/form.ts';
import { guestFrame } from '../views/frame.ts';
import { html } from '../views/html.ts';
import { type GuestVisit, page, type PageReply, redirect } from '../visit.ts';

/**
 * Where a link leads. Its code stands behind a `#`, which browsers send to nobody: it is in no log, no cache and no
 * Referer, and a mail program that looks at the link doesn't use it up. A script puts it into the field; without one it
 * is pasted there.
 */
export const showInvitation: GuestPage = (visit) => codePage(visit);

/** Looks at what the code is for, without using it up. */
export function openInvitation(engine: Engine): GuestPage {
  return async (visit) => {
    const code = codeOf(visit);
    try {
      const link = await getLink(engine, code, visit.now);
      return await linkPage(engine, visit, { link, code });
    } catch (error) {
      return codePage(visit, refusalOf(error));
    }
  };
}

/** Uses the code up, and signs in whoever it is for. */
export function acceptInvitation({
  engine,
  sessionLengths: lengths,
}: {
  engine: Engine;
  sessionLengths: SessionLengths;
}): GuestPage {
  return async (visit) => {
    const { form: filled, address, client, now } = visit;
    const code = codeOf(visit);
    const name = filled.get('name') ?? '';
    const password = filled.get('password') ?? '';
    try {
      if (password !== filled.get('password-again'))
        throw new UsageError('The two passwords differ.', { field: 'password-again' });
      const use = { token: code, name, password, address, client, browser: visit.browser, now, lengths };
      const { token, browser } = await acceptLink(engine, use);
      return { ...redirect('/portal'), session: { token }, browser };
    } catch (error) {
      const problems = problemsOf(error);
      const link = await getLink(engine, code, now).catch(() => undefined);
      return link
        ? await linkPage(engine, visit, { link, code, name, problems })
        : codePage(visit, refusalOf(error));
    }
  };
}

/** The code alone, or the whole link, as people paste it. */
function codeOf({ form: filled }: GuestVisit): string {
  const given = (filled.get('code') ?? '').trim();
  return given.slice(given.lastIndexOf('#') + 1);
}

function codePage(visit: GuestVisit, problem?: string): PageReply {
  const title = 'Use your link';
  const content = form(
    visit,
    { action: '/portal/invitation' },
    html`${textField({
      name: 'code',
      label: 'Code of your link',
      hint: 'What follows the # in the link that you were given. You can also paste the whole link.',
      problem,
      lengthMax: 500,
    })}
    ${button('Continue')}`,
  );
  return page(title, guestFrame(title, content), problem === undefined ? {} : { status: 422 });
}

async function linkPage(
  engine: Engine,
  visit: GuestVisit,
  {
    link,
    code,
    name = '',
    problems = {},
  }: { link: PortalLink; code: string; name?: string; problems?: Problems },
): Promise<PageReply> {
  const company = await getCompany(engine, link.company);
  const isInvitation = link.kind === 'invitation';
  const title = isInvitation ? `Administer ${company.name}` : 'Set a new password';
  const content = form(
    visit,
    { action: '/portal/invitation/accept', problem: problems.form },
    html`<input type="hidden" name="code" value="${code}" />
      <p>${isInvitation ? 'Your account will be' : 'Your account is'} <strong>${link.email}</strong>.</p>
      <input
        class="hidden"
        type="email"
        value="${link.email}"
        autocomplete="username"
        aria-hidden="true"
        tabindex="-1"
        readonly
      />
      ${isInvitation && textField({ name: 'name', label: 'Your name', problem: problems.name, value: name, autocomplete: 'name', lengthMax: 100 })}
      ${newPasswordFields(problems)} ${button(isInvitation ? 'Create my account' : 'Set the password')}`,
  );
  return page(title, guestFrame(title, content), Object.keys(problems).length === 0 ? {} : { status: 422 });
}
