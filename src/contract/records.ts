import type { components } from '../../generated/openapi.ts';
import type { OperationId } from './operations.ts';

type Schemas = components['schemas'];

/** The records of the API, under the contract's own names. */
export type Job = Schemas['Job'];
export type Person = Schemas['Person'];
export type Form = Schemas['Form'];
export type Submission = Schemas['Submission'];
export type InvoiceSummary = Schemas['InvoiceSummary'];
export type Invoice = Schemas['Invoice'];
export type Customer = Schemas['Customer'];
export type QuoteSummary = Schemas['QuoteSummary'];
export type Quote = Schemas['Quote'];

/** A list of the contract is a resource: `listJobs` gives the resource `jobs`. */
export type Resource = {
  [Id in OperationId]: Id extends 'listFormSubmissions'
    ? 'submissions'
    : Id extends `list${infer Name}`
      ? Uncapitalize<Name>
      : never;
}[OperationId];

/** The schemas of each resource: of what lists serve, and of the single record where it has more. */
export const schemaNames = {
  people: { body: 'Person' },
  customers: { body: 'Customer' },
  forms: { body: 'Form' },
  jobs: { body: 'Job' },
  submissions: { body: 'Submission' },
  invoices: { body: 'InvoiceSummary', whole: 'Invoice' },
  quotes: { body: 'QuoteSummary', whole: 'Quote' },
} as const satisfies Record<Resource, { body: keyof Schemas; whole?: keyof Schemas }>;

type WholeName<Names extends { body: string; whole?: string }> = Names extends { whole: infer Whole }
  ? Whole
  : Names['body'];

/** The whole record of each resource: an invoice and a quote with their details. */
export type RecordOf = { [R in Resource]: Schemas[WholeName<(typeof schemaNames)[R]> & keyof Schemas] };

export const resources = Object.keys(schemaNames) as readonly Resource[];

/** Whether a single record of the resource has members that lists leave out. */
export function hasDetail(resource: Resource): boolean {
  return 'whole' in schemaNames[resource];
}

export type ResourceRecord = { [R in Resource]: { resource: R; record: RecordOf[R] } }[Resource];
