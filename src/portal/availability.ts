import { invoicingModules, type Module } from '../contract/scopes.ts';
import type { Company } from '../store/companies.ts';

type Switches = Pick<Company, 'apiEnabled' | 'subscriptionActive' | 'invoicingEnabled' | 'modules'>;

/** What stops everything at once; undefined while nothing does. */
export function wholeProblem({ subscriptionActive, apiEnabled }: Switches): string | undefined {
  if (!subscriptionActive)
    return 'The subscription is not active, so the API answers 403 company_unavailable and no webhook is sent. Renew it to go on.';
  if (!apiEnabled)
    return 'API access is off, so the API answers 403 api_not_enabled and no webhook is sent. Ask your account manager to switch it on.';
  return undefined;
}

/** Why a company's data isn't given out, in the order in which the API refuses it; undefined when it is. */
export function whyNot(company: Switches, module: Module): string | undefined {
  if (!company.subscriptionActive) return 'The subscription is not active.';
  if (!company.apiEnabled) return 'API access is off.';
  if (!company.modules.includes(module)) return 'Your plan does not include it.';
  if (invoicingModules.includes(module) && !company.invoicingEnabled) return 'Invoicing is not switched on.';
  return undefined;
}
