import type { components } from '../../generated/openapi.ts';

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

/** The whole record of each resource: an invoice and a quote with their details. */
export interface RecordOf {
  people: Person;
  customers: Customer;
  forms: Form;
  jobs: Job;
  submissions: Submission;
  invoices: Invoice;
  quotes: Quote;
}

export type Resource = keyof RecordOf;

/** A record with the name of its resource. */
export type ResourceRecord = { [R in Resource]: { resource: R; record: RecordOf[R] } }[Resource];
