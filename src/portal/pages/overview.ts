import { type Module, modules } from '../../contract/scopes.ts';
import type { Engine } from '../../store/engine.ts';
import { whyNot, wholeProblem } from '../availability.ts';
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

function nameOf(module: Module): string {
  return module.charAt(0).toUpperCase() + module.slice(1);
}
