import type { components } from '../../generated/openapi.ts';
import type { OperationId } from './operations.ts';

type Schemas = components['schemas'];

/** Work that the company does for a customer. */
export type Job = Schemas['Job'];
/** An active member of the company. */
export type Person = Schemas['Person'];
/** A form with its fields. */
export type Form = Schemas['Form'];
/** A form that somebody has filled in. */
export type Submission = Schemas['Submission'];
/** An invoice, a credit note or a pro forma, without its lines. */
export type InvoiceSummary = Schemas['InvoiceSummary'];
/** An invoice, a credit note or a pro forma, with its lines and, if issued, its payments. */
export type Invoice = Schemas['Invoice'];
/** A person or a business for which the company works. */
export type Customer = Schemas['Customer'];
/** One version of a quote, without its lines. */
export type QuoteSummary = Schemas['QuoteSummary'];
/** One version of a quote, with all its lines. */
export type Quote = Schemas['Quote'];

/**
 * An event delivered to a webhook; `event` says which kind it is. Version 1 can gain more kinds, so a `switch` over
 * `event` needs a `default` that ignores them.
 */
export type Event = Schemas['Event'];

/** Name of a resource, derived from its list operation: `listJobs` gives `jobs`. */
export type Resource = {
  [Id in OperationId]: Id extends 'listFormSubmissions'
    ? 'submissions'
    : Id extends `list${infer Name}`
      ? Uncapitalize<Name>
      : never;
}[OperationId];

/**
 * Schema names of each resource: `body` for a record in a list, and `whole` for a single record with its details. Copies read
 * the resources in this order, beginning with those that need few requests.
 */
export const schemaNames = {
  people: { body: 'Person', whole: 'Person' },
  customers: { body: 'Customer', whole: 'Customer' },
  forms: { body: 'Form', whole: 'Form' },
  jobs: { body: 'Job', whole: 'Job' },
  submissions: { body: 'Submission', whole: 'Submission' },
  quotes: { body: 'QuoteSummary', whole: 'Quote' },
  invoices: { body: 'InvoiceSummary', whole: 'Invoice' },
} as const satisfies Record<Resource, Record<'body' | 'whole', keyof Schemas>>;

/** Type of a single record of each resource; an invoice or a quote includes its details. */
export type RecordOf = { [R in Resource]: Schemas[(typeof schemaNames)[R]['whole']] };

/** Type of a record of each resource as it appears in lists. */
export type ListedRecordOf = { [R in Resource]: Schemas[(typeof schemaNames)[R]['body']] };

export const resources = Object.keys(schemaNames) as readonly Resource[];

/** Whether a single record of the resource has fields that records in its list lack. */
export function hasDetail(resource: Resource): boolean {
  const { body, whole } = schemaNames[resource];
  return whole !== body;
}

export type ResourceRecord = { [R in Resource]: { resource: R; record: RecordOf[R] } }[Resource];
