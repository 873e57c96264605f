import type { components } from '../../generated/openapi.ts';
import type { OperationId } from './operations.ts';

type Schemas = components['schemas'];

/** Work that the company does for a customer. */
export type Job = Schemas['Job'];
/** An active member of the company. */
export type Person = Schemas['Person'];
/** A form with its fields. */
export type Form = Schemas['Form'];
/** A form as somebody has filled it in once. */
export type Submission = Schemas['Submission'];
/** An invoice, a credit note or a pro forma, without its lines. */
export type InvoiceSummary = Schemas['InvoiceSummary'];
/** An invoice, a credit note or a pro forma, with its lines and, once it is issued, its payments. */
export type Invoice = Schemas['Invoice'];
/** A person or a business that the company works for. */
export type Customer = Schemas['Customer'];
/** One version of a quote, without its lines. */
export type QuoteSummary = Schemas['QuoteSummary'];
/** One version of a quote, with its lines. */
export type Quote = Schemas['Quote'];

/**
 * An event as a webhook brings it, told apart by `event`. More kinds can come within version 1, so a `switch` over
 * `event` needs a `default` that lets them pass.
 */
export type Event = Schemas['Event'];

/** A list of the contract is a resource: `listJobs` gives the resource `jobs`. */
export type Resource = {
  [Id in OperationId]: Id extends 'listFormSubmissions'
    ? 'submissions'
    : Id extends `list${infer Name}`
      ? Uncapitalize<Name>
      : never;
}[OperationId];

/**
 * The schemas of each resource: of what lists serve, and of the single record. A copy reads the resources in this order: those
 * that take few requests come first.
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

/** The whole record of each resource: an invoice and a quote with their details. */
export type RecordOf = { [R in Resource]: Schemas[(typeof schemaNames)[R]['whole']] };

/** The record of each resource as lists have it. */
export type ListedRecordOf = { [R in Resource]: Schemas[(typeof schemaNames)[R]['body']] };

export const resources = Object.keys(schemaNames) as readonly Resource[];

/** Whether a single record of the resource has members that lists leave out. */
export function hasDetail(resource: Resource): boolean {
  const { body, whole } = schemaNames[resource];
  return whole !== body;
}

export type ResourceRecord = { [R in Resource]: { resource: R; record: RecordOf[R] } }[Resource];
