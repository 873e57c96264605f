import { type EventKind, isSubscribableKind, type SubscribableKind, scopeOfEvent } from './events.ts';
import type { ErrorCode } from './operations.ts';
import { invoicingModules, type Module, type Scope } from './scopes.ts';

/** A company's switches, and the modules in its plan, which determine who can see its data. */
export interface Switches {
  readonly apiEnabled: boolean;
  readonly subscriptionActive: boolean;
  readonly invoicingEnabled: boolean;
  readonly modules: readonly Module[];
}

/** Error code of the API for data of a company that is withheld from everybody. */
export type WithholdingReason = Extract<
  ErrorCode,
  'company_unavailable' | 'api_not_enabled' | 'module_not_licensed' | 'invoicing_not_enabled'
>;

/**
 * Returns the reason for withholding a company's data, or undefined if it can be given out. Of several reasons, it is the
 * first in the API's order of checks. The API, the portal and webhooks all use this.
 * @param module the kind of data; undefined for an event without any, such as a ping.
 * @param held the scopes of the caller's API key; omitted for webhooks and the company itself, which need no scope.
 */
export function whyWithheld(company: Switches, module: Module | undefined): WithholdingReason | undefined;
export function whyWithheld(
  company: Switches,
  module: Module,
  held: readonly Scope[],
): WithholdingReason | 'missing_scope' | undefined;
export function whyWithheld(company: Switches, module: Module | undefined, held?: readonly Scope[]) {
  if (!company.subscriptionActive) return 'company_unavailable';
  if (!company.apiEnabled) return 'api_not_enabled';
  if (module === undefined) return undefined;
  if (!company.modules.includes(module)) return 'module_not_licensed';
  if (held && !maySee(held, module)) return 'missing_scope';
  return invoicingModules.includes(module) && !company.invoicingEnabled ? 'invoicing_not_enabled' : undefined;
}

/** Whether the given scopes allow reading a module's data. */
export function maySee(held: readonly Scope[], module: Module): boolean {
  return held.includes(`${module}:read`);
}

/** Whether the given scopes allow reading an event's data; always true for a ping, which carries none. */
export function maySeeEvent(held: readonly Scope[], kind: EventKind): boolean {
  return !isSubscribableKind(kind) || held.includes(scopeOfEvent(kind));
}

/** Returns the scopes needed to read the data of the given events that are missing from `held`. */
export function scopesLacked(held: readonly Scope[], events: readonly SubscribableKind[]): Scope[] {
  return [...new Set(events.map(scopeOfEvent))].filter((scope) => !held.includes(scope));
}
