/** Modules that a company's plan can include. Each is read with its own scope (openapi.yaml, "Authentication"). */
export const modules = ['jobs', 'people', 'forms', 'invoices', 'customers', 'quotes'] as const;

export type Module = (typeof modules)[number];
export type Scope = `${Module}:read`;

export const scopes: readonly Scope[] = modules.map((module) => `${module}:read` as const);

/** Modules for which invoicing must also be switched on for the company (openapi.yaml, "Invoices" and "Quotes"). */
export const invoicingModules: readonly Module[] = ['invoices', 'quotes'];

export function isScope(value: string): value is Scope {
  return (scopes as readonly string[]).includes(value);
}

export function isModule(value: string): value is Module {
  return (modules as readonly string[]).includes(value);
}

export function moduleOf(scope: Scope): Module {
  return scope.slice(0, scope.indexOf(':')) as Module;
}
