import type { Client } from '../create-client.ts';
import type { Page } from '../listing.ts';
import type { CallOptions } from '../operations.ts';

/** The query of a list. */
export interface Query {
  updatedSince?: string;
  cursor?: string;
  status?: 'draft';
}

/** A record of any list, as far as keeping a copy looks into it. */
export interface AnyRecord {
  id: string;
  createdAt?: string;
  updatedAt?: string;
  status?: string;
  validUntil?: string | null;
}

/** The ways of a client to a list that has `updatedSince`. */
export interface ListAccess {
  /** Reads page by page; each is asked for when it is needed. */
  pages: (query: Query, options: CallOptions) => AsyncIterable<Page<AnyRecord>>;
}

/** The ways to a list whose records can be drafts and have details. */
export interface DocumentsAccess extends ListAccess {
  /** Reads one record with its details. */
  whole: (id: string, options: CallOptions) => Promise<AnyRecord>;
}

/** The ways of a client to each list, with all that belongs to it: drafts, and every version of a quote. */
export function accessOf(client: Client) {
  return {
    customers: { pages: (query, options) => client.listCustomers(query, options).pages() } as ListAccess,
    forms: { pages: (query, options) => client.listForms(query, options).pages() } as ListAccess,
    jobs: { pages: (query, options) => client.listJobs(query, options).pages() } as ListAccess,
    submissionsOf: (formId: string): ListAccess => ({
      pages: (query, options) => client.listFormSubmissions(formId, query, options).pages(),
    }),
    quotes: {
      pages: (query, options) => client.listQuotes({ ...query, versions: 'all' }, options).pages(),
      whole: (id, options) => client.getQuote(id, options),
    } as DocumentsAccess,
    invoices: {
      pages: (query, options) => client.listInvoices({ status: 'all', ...query }, options).pages(),
      whole: (id, options) => client.getInvoice(id, options),
    } as DocumentsAccess,
  };
}
