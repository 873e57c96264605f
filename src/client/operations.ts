import type { operations as contract, paths } from '../../generated/openapi.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Listing } from './listing.ts';

type PathOf<Id extends OperationId> = {
  [Path in keyof paths]: Same<paths[Path]['get'], contract[Id]> extends true ? Path : never;
}[keyof paths];
type Same<A, B> = [A, B] extends [B, A] ? true : false;

type ContentOf<Id extends OperationId> = contract[Id]['responses'][200]['content'];

/** The kind of an operation's response, derived from the contract: a list, a record or a file. */
type AnswerOf<Id extends OperationId> =
  ContentOf<Id> extends { 'application/json': { nextCursor: unknown } }
    ? 'list'
    : ContentOf<Id> extends { 'application/json': unknown }
      ? 'record'
      : ContentOf<Id> extends { 'application/pdf': unknown }
        ? 'file'
        : never;

/**
 * The path and kind of response of every operation, for use at run time. The compiler checks them against the contract: a
 * missing operation, a wrong path or a wrong kind of response doesn't compile.
 */
export const operations = {
  listJobs: { path: '/api/v1/jobs', answer: 'list' },
  getJob: { path: '/api/v1/jobs/{jobId}', answer: 'record' },
  listPeople: { path: '/api/v1/people', answer: 'list' },
  listForms: { path: '/api/v1/forms', answer: 'list' },
  listFormSubmissions: { path: '/api/v1/forms/{formId}/submissions', answer: 'list' },
  listCustomers: { path: '/api/v1/customers', answer: 'list' },
  getCustomer: { path: '/api/v1/customers/{customerId}', answer: 'record' },
  listQuotes: { path: '/api/v1/quotes', answer: 'list' },
  getQuote: { path: '/api/v1/quotes/{quoteId}', answer: 'record' },
  listInvoices: { path: '/api/v1/invoices', answer: 'list' },
  getInvoice: { path: '/api/v1/invoices/{invoiceId}', answer: 'record' },
  getInvoicePdf: { path: '/api/v1/invoices/{invoiceId}/pdf', answer: 'file' },
} as const satisfies { [Id in OperationId]: { path: PathOf<Id>; answer: AnswerOf<Id> } };

/** The query parameters of an operation. */
export type QueryOf<Id extends OperationId> = NonNullable<contract[Id]['parameters']['query']>;

type RecordOf<Id extends OperationId> =
  ContentOf<Id> extends { 'application/json': { data: infer Data } }
    ? Data extends readonly (infer Item)[]
      ? Item
      : Data
    : never;

/** A downloaded file's content and name. */
export interface DownloadedFile {
  /** The content of the file. */
  bytes: Uint8Array<ArrayBuffer>;
  /** The name under which to save the file, from `Content-Disposition`. */
  fileName: string;
}

/** The options that every call accepts. */
export interface CallOptions {
  /** A signal that aborts the call, even while it waits for the rate limit or a retry. */
  signal?: AbortSignal | undefined;
}

type IdsIn<Path> = Path extends `${string}{${string}}${infer Rest}` ? [id: string, ...IdsIn<Rest>] : [];

type QueryArgument<Id extends OperationId> = [QueryOf<Id>] extends [never] ? [] : [query?: QueryOf<Id>];

/** The client's function for an operation. It takes the ids in its path, its query if it has one, and the call's options. */
export type Operation<Id extends OperationId> = (
  ...args: [...IdsIn<(typeof operations)[Id]['path']>, ...QueryArgument<Id>, options?: CallOptions]
) => {
  list: Listing<RecordOf<Id>>;
  record: Promise<RecordOf<Id>>;
  file: Promise<DownloadedFile>;
}[(typeof operations)[Id]['answer']];
