import { invoicingModules, type Module, modules } from '../../contract/scopes.ts';
import type { Company } from '../../store/companies.ts';
import type { Engine } from '../../store/engine.ts';
import type { Page } from '../route.ts';
import { html } from '../views/html.ts';
import { badge, warning } from '../views/notice.ts';
import { facts, table } from '../views/table.ts';
import { page } from '../visit.ts';

/** What is switched on for the company, and why something isn't. */
export function showOverview(_engine: Engine): Page {
  return ({ company, administrator }) => {
    const problem = wholeProblem(company);
    return page(
      'Overview',
      html`${problem !== undefined && warning(problem)}
        <h2>What the API gives out</h2>
        ${table({
          caption: 'What the API gives out',
          columns: ['Data', 'State', 'Why', 'Your access'],
          rows: modules.map((module) => {
            const reason = whyNot(company, module);
            return [
              nameOf(module),
              reason === undefined ? badge('good', 'On') : badge('bad', 'Off'),
              reason ?? 'Your plan includes it.',
              administrator.scopes.includes(`${module}:read`)
                ? 'Yes'
                : 'No: another administrator has to give it',
            ];
          }),
        })}
        <h2>Your company</h2>
        ${facts([
          ['Company id', html`<code>${company.id}</code>`],
          ['API access', company.apiEnabled ? badge('good', 'On') : badge('bad', 'Off')],
          ['Subscription', company.subscriptionActive ? badge('good', 'Active') : badge('bad', 'Not active')],
          ['Invoicing', company.invoicingEnabled ? badge('good', 'On') : badge('warn', 'Off')],
          ['Time zone', company.timeZone],
          ['Currency', company.currency],
        ])}`,
      { section: 'overview' },
    );
  };
}

/** What stops everything at once. */
function wholeProblem({ subscriptionActive, apiEnabled }: Company): string | undefined {
  if (!subscriptionActive)
    return 'The subscription is not active, so the API answers 403 company_unavailable and no webhook is sent. Renew it to go on.';
  if (!apiEnabled)
    return 'API access is off, so the API answers 403 api_not_enabled and no webhook is sent. Ask your account manager to switch it on.';
  return undefined;
}

function whyNot(company: Company, module: Module): string | undefined {
  if (!company.subscriptionActive) return 'The subscription is not active.';
  if (!company.apiEnabled) return 'API access is off.';
  if (!company.modules.includes(module)) return 'Your plan does not include it.';
  if (invoicingModules.includes(module) && !company.invoicingEnabled) return 'Invoicing is not switched on.';
  return undefined;
}

function nameOf(module: Module): string {
  return module.charAt(0).toUpperCase() + module.slice(1);
}
