import { type EventKind, isMoveEventKind, type MoveEventKind, scopeOfEvent } from './events.ts';
import type { ErrorCode } from './operations.ts';
import { invoicingModules, type Module, type Scope } from './scopes.ts';

/** A company's switches, and the modules that its plan includes: they decide who may see its data. */
export interface Switches {
  readonly apiEnabled: boolean;
  readonly subscriptionActive: boolean;
  readonly invoicingEnabled: boolean;
  readonly modules: readonly Module[];
}

/** Why a company's data is withheld from everybody, by the code with which the API refuses it. */
export type WithheldFor = Extract<
  ErrorCode,
  'company_unavailable' | 'api_not_enabled' | 'module_not_licensed' | 'invoicing_not_enabled'
>;

/**
 * Why a company's data is withheld: the first reason in the order in which the API checks them; undefined when it is given
 * out. API, portal and webhooks ask here.
 * @param module the kind of data; undefined for what carries none, such as a ping.
 * @param held the scopes of the key that asks; a webhook and the company itself are asked for none.
 */
export function whyWithheld(company: Switches, module: Module | undefined): WithheldFor | undefined;
export function whyWithheld(
  company: Switches,
  module: Module,
  held: readonly Scope[],
): WithheldFor | 'missing_scope' | undefined;
export function whyWithheld(company: Switches, module: Module | undefined, held?: readonly Scope[]) {
  if (!company.subscriptionActive) return 'company_unavailable';
  if (!company.apiEnabled) return 'api_not_enabled';
  if (module === undefined) return undefined;
  if (!company.modules.includes(module)) return 'module_not_licensed';
  if (held && !maySee(held, module)) return 'missing_scope';
  return invoicingModules.includes(module) && !company.invoicingEnabled ? 'invoicing_not_enabled' : undefined;
}

/** Whether somebody who holds scopes may see what a module has. */
export function maySee(held: readonly Scope[], module: Module): boolean {
  return held.includes(`${module}:read`);
}

/** Whether somebody who holds scopes may see what an event carries; a ping carries nothing. */
export function maySeeEvent(held: readonly Scope[], kind: EventKind): boolean {
  return !isMoveEventKind(kind) || held.includes(scopeOfEvent(kind));
}

/** The scopes that somebody lacks to see what some events carry. */
export function scopesLacked(held: readonly Scope[], events: readonly MoveEventKind[]): Scope[] {
  return [...new Set(events.map(scopeOfEvent))].filter((scope) => !held.includes(scope));
}
