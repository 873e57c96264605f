import type { Client } from '../create-client.ts';
import type { Listing, Page } from '../listing.ts';
import type { CallOptions } from '../operations.ts';

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

/**
 * The ways of a client to each list.
 * @param extent `all` with drafts and every version of a quote; `current` as the lists are unless they are asked for more.
 * @param check looks at each page before anything is made of it.
 */
export function accessOf(
  client: Client,
  extent: 'all' | 'current',
  check: (page: Page<AnyRecord>) => void = () => undefined,
) {
  async function* checked(listing: Listing<AnyRecord>): AsyncGenerator<Page<AnyRecord>> {
    for await (const page of listing.pages()) {
      check(page);
      yield page;
    }
  }
  return {
    people: { pages: (_query, options) => checked(client.listPeople({}, options)) } as ListAccess,
    customers: { pages: (query, options) => checked(client.listCustomers(query, options)) } as ListAccess,
    forms: { pages: (query, options) => checked(client.listForms(query, options)) } as ListAccess,
    jobs: { pages: (query, options) => checked(client.listJobs(query, options)) } as ListAccess,
    submissionsOf: (formId: string): ListAccess => ({
      pages: (query, options) => checked(client.listFormSubmissions(formId, query, options)),
    }),
    quotes: {
      pages: (query, options) =>
        checked(client.listQuotes({ ...query, ...(extent === 'all' && { versions: 'all' }) }, options)),
      whole: (id, options) => client.getQuote(id, options),
    } as DocumentsAccess,
    invoices: {
      pages: (query, options) =>
        checked(client.listInvoices({ ...(extent === 'all' && { status: 'all' }), ...query }, options)),
      whole: (id, options) => client.getInvoice(id, options),
    } as DocumentsAccess,
  };
}
