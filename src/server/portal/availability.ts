import { invoicingModules, type Module, type Scope } from '../../contract/scopes.ts';
import type { Administrator } from '../store/portal/administrators.ts';
import type { Company } from '../store/records/companies.ts';
import type { Html } from './views/html.ts';
import { warning } from './views/notice.ts';

type Switches = Pick<Company, 'apiEnabled' | 'subscriptionActive' | 'invoicingEnabled' | 'modules'>;

/** A warning when the API and all webhooks are stopped. */
export function stoppedWarning({ subscriptionActive, apiEnabled }: Switches): Html | false {
  if (!subscriptionActive)
    return warning(
      'The subscription is not active, so the API answers 403 company_unavailable and no webhook is sent. Renew it to go on.',
    );
  if (!apiEnabled)
    return warning(
      'API access is off, so the API answers 403 api_not_enabled and no webhook is sent. Ask your account manager to switch it on.',
    );
  return false;
}

/** Whether an administrator may see what a scope covers. Every page asks it before it looks up records of a company. */
export function maySee({ scopes }: Pick<Administrator, 'scopes'>, scope: Scope): boolean {
  return scopes.includes(scope);
}

/** Why an administrator is shown nothing of a module; undefined when they are. The API asks the same of a key. */
export function whyNotShown(
  { administrator, company }: { administrator: Administrator; company: Company },
  module: Module,
): string | undefined {
  if (!maySee(administrator, `${module}:read`))
    return `You don’t have the access ${module}:read yourself. An administrator who has it can invite you with it.`;
  return whyNot(company, module);
}

/** Why the API refuses a company's data, in the order of its checks; undefined when it doesn't. */
export function whyNot(company: Switches, module: Module): string | undefined {
  if (!company.subscriptionActive) return 'The subscription is not active.';
  if (!company.apiEnabled) return 'API access is off.';
  if (!company.modules.includes(module)) return 'Your plan does not include it.';
  if (invoicingModules.includes(module) && !company.invoicingEnabled) return 'Invoicing is not switched on.';
  return undefined;
}
