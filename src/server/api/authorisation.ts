import type { Caller } from '../access/keys.ts';
import { invoicingModules, moduleOf, type Scope } from '../../contract/scopes.ts';
import { AppError } from '../errors.ts';

/**
 * Checks that a caller's company and key may read what a scope covers (src/README.md, "Order of the checks").
 * @throws AppError with the first reason why not.
 */
export function authorise(caller: Caller, scope: Scope): void {
  const module = moduleOf(scope);
  if (!caller.subscriptionActive) {
    throw new AppError('company_unavailable', 'The subscription of this company is not active.');
  }
  if (!caller.apiEnabled)
    throw new AppError('api_not_enabled', 'API access is switched off for this company.');
  if (!caller.modules.includes(module)) {
    throw new AppError('module_not_licensed', 'The plan of this company does not include this data.');
  }
  if (!caller.scopes.includes(scope))
    throw new AppError('missing_scope', `This API key lacks the scope ${scope}.`);
  if (invoicingModules.includes(module) && !caller.invoicingEnabled) {
    throw new AppError('invoicing_not_enabled', 'Invoicing is not switched on for this company.');
  }
}
