import type { Client } from '../create-client.ts';
import type { Listing, Page } from '../listing.ts';
import type { CallOptions } from '../operations.ts';

export interface Query {
  updatedSince?: string;
  cursor?: string;
  status?: 'draft';
}

/** A record of any list, with the members that a sync reads. */
export interface AnyRecord {
  id: string;
  createdAt?: string;
  updatedAt?: string;
  status?: string;
  validUntil?: string | null;
}

/** Read access to a list that takes `updatedSince`. */
export interface ListAccess {
  /** Returns the list's pages; each is requested only when it is needed. */
  pages: (query: Query, options: CallOptions) => AsyncIterable<Page<AnyRecord>>;
}

/** Read access to a list of documents, which can be drafts and have details. */
export interface DocumentsAccess extends ListAccess {
  /** Returns one record with its details. */
  whole: (id: string, options: CallOptions) => Promise<AnyRecord>;
}

/**
 * Returns a client's access to each list.
 * @param extent `all` to include drafts and every version of a quote; `current` for the lists' default contents.
 * @param check called with each page before it is used.
 */
export function listAccesses(
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
