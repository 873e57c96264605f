import type { Scope } from '../../contract/scopes.ts';

/** Descriptions of the data that each scope lets a key read (openapi.yaml, "Authentication"). */
const readings: Record<Scope, string> = {
  'jobs:read': 'Jobs',
  'people:read': 'People, without those who have left',
  'forms:read': 'Forms, and everything that was filled in on them',
  'invoices:read': 'Invoices, credit notes and pro formas, with their PDFs',
  'customers:read': 'Customers',
  'quotes:read': 'Quotes',
};

/** Describes a scope in words, followed by its name. */
export const scopeText = (scope: Scope) => `${readings[scope]} (${scope})`;
