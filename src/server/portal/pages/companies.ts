import { getCompany } from '../../access/companies.ts';
import { chooseCompany, endBrowserSessions, listBrowserSessions } from '../../access/sessions.ts';
import { UsageError } from '../../../errors.ts';
import type { Services } from '../options.ts';
import { refusalOf } from '../page-error.ts';
import { button, form } from '../views/form.ts';
import { html } from '../views/html.ts';
import { emptyState } from '../views/notice.ts';
import { type GuestPage, type GuestVisit, page, type PageReply, redirect, signedOut } from '../visit.ts';

export const COMPANIES_PATH = '/portal/companies';

/** Chooses among the companies whose accounts the sign-in opened. */
export const showCompanies: GuestPage = (visit, services) => companiesPage(visit, services);

/** Goes on with the account of another company, or signs out of all. */
export const chooseOneCompany: GuestPage = async (visit, services) => {
  const { form: filled, address, client, now, onAccount } = visit;
  const { engine, sessionLengths: lengths } = services;
  const company = filled.get('company');
  try {
    if (company === null) {
      if (visit.tokens.length === 0) throw new UsageError('Choose a company.');
      await endBrowserSessions(engine, visit.tokens);
      return signedOut;
    }
    const choice = { tokens: visit.tokens, company, address, client, lengths, now };
    const { tokens, administrator } = await chooseCompany(engine, choice);
    onAccount(administrator);
    return { ...redirect('/portal'), sessions: tokens };
  } catch (error) {
    return companiesPage(visit, services, refusalOf(error));
  }
};

async function companiesPage(
  visit: GuestVisit,
  { engine, sessionLengths }: Services,
  problem?: string,
): Promise<PageReply> {
  const sessions = await listBrowserSessions(engine.db, visit.tokens, sessionLengths, visit.now);
  const companies = await Promise.all(
    sessions.map(({ administrator }) => getCompany(engine, administrator.company)),
  );
  const content =
    companies.length === 0
      ? emptyState('You are not signed in', html`<a href="/portal/sign-in">Go to the sign-in page</a>`)
      : html`<p>Your e-mail address and password open these accounts. Each belongs to one company.</p>
          ${companies
            .toSorted((one, other) => one.name.localeCompare(other.name, 'en'))
            .map(({ id, name }) =>
              form(
                visit,
                { action: COMPANIES_PATH },
                html`<input type="hidden" name="company" value="${id}" /> ${button(name)}
                  <span class="hint">${id}</span>`,
              ),
            )}
          ${form(visit, { action: COMPANIES_PATH }, button('Sign out', 'quiet'))}`;
  return page(
    'Choose a company',
    html`${problem !== undefined && html`<p class="error" role="alert">${problem}</p>`} ${content}`,
    { isRefused: problem !== undefined },
  );
}
