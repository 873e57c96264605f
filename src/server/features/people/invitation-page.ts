import { getCompany } from '../../store/records/companies.ts';
import { checkedName } from '../../access/checked-input.ts';
import { acceptLink, getLink } from './invitations.ts';
import { PASSWORDS_OFF } from '../sign-in/passwords.ts';
import { signInByLink } from './portal-links.ts';
import type { Services } from '../../views/services.ts';
import type { PortalLink } from '../../store/accounts/link-rows.ts';
import { UsageError } from '../../../errors.ts';
import { action } from '../../views/action.ts';
import { type Problems, problemsIn } from '../../views/page-error.ts';
import { accountField, button, form, newPasswordFields, newPasswordIn, textField } from '../../views/form.ts';
import { html } from '../../views/html.ts';
import { COMPANIES_PATH } from '../sign-in/choose-company-page.ts';
import { type GuestPage, type GuestVisit, page, type PageReply, redirect } from '../../views/visit.ts';

/**
 * Shows the page that a mailed or portal link opens. The link's code follows a `#`, which browsers don't send. So it appears
 * in no log, cache or Referer, and a mail program that opens the link doesn't use it up. A script submits the code; without
 * scripts, people paste it.
 */
export const showInvitation: GuestPage = (visit, _services, problems = {}) => {
  const [problem] = Object.values(problems);
  const codeForm = form(
    visit,
    { action: '/portal/invitation' },
    html`${textField({
      name: 'code',
      label: 'Code from your link',
      hint: 'The part of your link after the #. You can also paste the whole link.',
      problem,
      lengthMax: 500,
    })}
    ${button('Continue')}`,
  );
  const content = html`${codeForm}
  ${problem !== undefined && html`<p><a href="/portal/sign-in">Go to the sign-in page</a></p>`}`;
  return page('Use your link', content);
};

/** Shows the form that a link's code is for, without using the code up. A code of a portal link signs in at once. */
export const openInvitation = action(showInvitation, async (visit, services) => {
  const { engine, passwordsOff, sessionLengths: lengths } = services;
  const code = codeOf(visit);
  const link = await getLink(engine, code, visit.now);
  if (link.vouched && visit.tokens.length > 0 && visit.form.get('sure') !== 'yes')
    return surePage(visit, code, link.vouched.name);
  if (link.vouched) {
    const use = { ...visit, company: link.company, token: code, formerTokens: visit.tokens, lengths };
    const { token, administrator } = await signInByLink(engine, use);
    visit.onAccount(administrator);
    return { ...redirect('/portal'), sessions: [token] };
  }
  if (passwordsOff) throw new UsageError(PASSWORDS_OFF);
  return linkPage(services, visit, link);
});

/** Asks for confirmation, so that another person's link can't sign a browser out of the account in use. */
function surePage(visit: GuestVisit, code: string, name: string): PageReply {
  const content = form(
    visit,
    { action: '/portal/invitation' },
    html`<input type="hidden" name="code" value="${code}" />
      <input type="hidden" name="sure" value="yes" />
      <p>This browser is already signed in. The link signs it in as <strong>${name}</strong> instead.</p>
      ${button(`Continue as ${name}`)}`,
  );
  return page('Sign in with the link', content);
}

/** Shows a link's form again with its problems. If the link was used up or has expired, asks for another code. */
const showRefused: GuestPage = async (visit, services, problems = {}) => {
  const { engine } = services;
  const { form: filled, now } = visit;
  const link = await getLink(engine, codeOf(visit), now).catch(() => undefined);
  if (!link) return showInvitation(visit, services, problems);
  const more = problemsIn(
    () => newPasswordIn(filled),
    () => link.kind === 'invitation' && checkedName(filled.get('name') ?? ''),
  );
  return linkPage(services, visit, link, { ...more, ...problems });
};

/** Uses up a link's code, and signs its owner in. */
export const acceptInvitation = action(showRefused, async (visit, services) => {
  const { engine, limits, serviceName, sessionLengths: lengths } = services;
  const { form: filled, tokens: formerTokens } = visit;
  const name = filled.get('name') ?? '';
  const password = newPasswordIn(filled);
  const use = { ...visit, token: codeOf(visit), name, password, serviceName, formerTokens, lengths };
  const { token, administrator, browser } = await acceptLink(engine, limits, use);
  const to = administrator.hasSecondFactor ? COMPANIES_PATH : '/portal';
  return { ...redirect(to), sessions: [token], browser };
});

/** Reads the entered code, which people paste alone or as part of the whole link. */
function codeOf({ form: filled }: GuestVisit): string {
  const given = (filled.get('code') ?? '').trim();
  return given.slice(given.lastIndexOf('#') + 1);
}

async function linkPage(
  { engine, serviceName }: Pick<Services, 'engine' | 'serviceName'>,
  visit: GuestVisit,
  link: PortalLink,
  problems: Problems = {},
): Promise<PageReply> {
  const company = await getCompany(engine, link.company);
  const isInvitation = link.kind === 'invitation';
  const title = isInvitation ? `Join ${company.name} on ${serviceName}` : 'Set a new password';
  const content = form(
    visit,
    { action: '/portal/invitation/accept', problem: problems.form },
    html`<input type="hidden" name="code" value="${codeOf(visit)}" />
      <p>${isInvitation ? 'Your account will be' : 'Your account is'} <strong>${link.email}</strong>.</p>
      ${accountField(link.email)}
      ${isInvitation && textField({ name: 'name', label: 'Your name', problem: problems.name, value: visit.form.get('name'), autocomplete: 'name', lengthMax: 100 })}
      ${newPasswordFields(problems)} ${button(isInvitation ? 'Create my account' : 'Set the password')}`,
  );
  return page(title, content);
}
