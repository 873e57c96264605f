import { chooseCompany } from './choose-company.ts';
import { getCompany } from '../../store/records/companies.ts';
import { endBrowserSessions, listBrowserSessions } from './sessions.ts';
import { UsageError } from '../../../errors.ts';
import type { Services } from '../../views/services.ts';
import { action } from '../../views/action.ts';
import { button, form, textField } from '../../views/form.ts';
import { supportLink } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { emptyState } from '../../views/notice.ts';
import {
  type GuestPage,
  type GuestVisit,
  ownPath,
  page,
  type PageReply,
  redirect,
  signedOutRedirect,
} from '../../views/visit.ts';

export const COMPANIES_PATH = '/portal/companies';

/** Offers the companies whose accounts the sign-in opened, and asks for a second-factor code. */
export const showCompanies: GuestPage = async (visit, services, problems = {}) => {
  if (problems.code !== undefined)
    return codePage(visit, services, visit.form.get('company') ?? '', problems.code);
  const { engine, sessionLengths } = services;
  const sessions = await listBrowserSessions(engine.db, visit.tokens, sessionLengths, visit.now);
  const [first, ...others] = sessions;
  if (first?.session.isWaiting && first.administrator.hasSecondFactor && others.length === 0)
    return codePage(visit, services, first.administrator.company, problems.form);
  const companies = await Promise.all(
    sessions.map(({ administrator }) => getCompany(engine, administrator.company)),
  );
  const content =
    companies.length === 0
      ? emptyState('You are not signed in', html`<a href="/portal/sign-in">Go to the sign-in page</a>`)
      : html`<p>You have an account with each of these companies.</p>
          ${companies
            .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
            .map(({ id, name }) =>
              companyForm(visit, id, html`${button(name)} <span class="hint">${id}</span>`),
            )}
          ${form(visit, { action: COMPANIES_PATH }, button('Sign out', 'quiet'))}`;
  return page(
    'Choose a company',
    html`${problems.form !== undefined && html`<p class="error" role="alert" tabindex="-1">${problems.form}</p>`}
    ${content}`,
  );
};

/** Switches to the account of another company, or signs out of all of them. */
export const chooseOneCompany = action(
  showCompanies,
  async (visit, services) => {
    const { form: filled, tokens } = visit;
    const { engine, sessionLengths: lengths } = services;
    const company = filled.get('company');
    const code = filled.get('code') ?? undefined;
    if (company === null) {
      if (tokens.length === 0) throw new UsageError('Choose a company.');
      await endBrowserSessions(engine, tokens);
      return signedOutRedirect;
    }
    const entered = await chooseCompany(engine, services, { ...visit, company, code, lengths });
    if (entered === 'code needed') return codePage(visit, services, company);
    visit.onAccount(entered.administrator);
    const known = entered.browser === undefined ? {} : { browser: entered.browser };
    return { ...redirect(ownPath(filled.get('next'))), sessions: entered.tokens, ...known };
  },
  { guessed: 'code' },
);

/** Renders a form that continues with a company, to the page requested before the sign-in. */
function companyForm(visit: GuestVisit, company: string, content: Html): Html {
  const next = visit.form.get('next') ?? visit.query.get('next');
  return form(
    visit,
    { action: COMPANIES_PATH },
    html`<input type="hidden" name="company" value="${company}" />
      ${next !== null && html`<input type="hidden" name="next" value="${ownPath(next)}" />`} ${content}`,
  );
}

async function codePage(
  visit: GuestVisit,
  { engine }: Services,
  id: string,
  problem?: string,
): Promise<PageReply> {
  const { name } = await getCompany(engine, id);
  const field = textField({
    name: 'code',
    label: 'Code',
    hint: 'The six digits that your authenticator app shows now, or one of your recovery codes.',
    problem,
    autocomplete: 'one-time-code',
    lengthMax: 40,
  });
  return page(
    'Enter your code',
    html`<p>Your account of ${name} has a second factor.</p>
      ${companyForm(visit, id, html`${field} ${button('Sign in')}`)}
      ${form(visit, { action: COMPANIES_PATH }, button('Sign out', 'quiet'))}
      <p class="hint">
        If you have neither, ask a colleague who can invite people, or
        ${supportLink('the operator of this service', visit.supportUrl)}, to reset your second factor.
      </p>`,
  );
}
