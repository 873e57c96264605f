import type { components } from '../../generated/openapi.ts';
import { operationOf, successOf } from './_contract.ts';

export type Schemas = components['schemas'];
type Resource =
  Schemas['Job'] | Schemas['Person'] | Schemas['Form'] | Schemas['Submission'] | Schemas['Customer'];

/** The company that the examples describe, each record once, in the order of their ids. */
export const company = {
  jobs: recordsOf<Schemas['Job']>('listJobs'),
  people: recordsOf<Schemas['Person']>('listPeople'),
  forms: recordsOf<Schemas['Form']>('listForms'),
  submissions: recordsOf<Schemas['Submission']>('listFormSubmissions'),
  customers: recordsOf<Schemas['Customer']>('listCustomers'),
  quotes: recordsOf<Schemas['Quote']>('getQuote'),
  invoices: recordsOf<Schemas['Invoice']>('getInvoice'),
};

/** Noon in the story that the examples tell. */
export const now = '2026-11-20T12:00:00.000Z';

export function recordsOf<T extends Resource | Schemas['Invoice'] | Schemas['Quote']>(
  operationId: string,
): T[] {
  const examples = Object.values(successOf(operationOf(operationId)).examples ?? {});
  const records = examples.flatMap(({ value }) => (value as { data: T | T[] }).data);
  const byId = new Map(records.map((record) => [record.id, record]));
  return [...byId.values()].sort(byIdAscending);
}

export function byIdAscending(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/** The members of a document's summary, out of its detail. */
export function summaryOf(kind: 'InvoiceSummary' | 'QuoteSummary', detail: object): Record<string, unknown> {
  const list = successOf(operationOf(kind === 'InvoiceSummary' ? 'listInvoices' : 'listQuotes'));
  const names = Object.keys(list.schema.properties?.['data']?.items?.properties ?? {});
  return Object.fromEntries(Object.entries(detail).filter(([name]) => names.includes(name)));
}
