import type { components, operations } from '../../generated/openapi.ts';
import type { operations as webhookOperations } from '../../generated/webhooks.ts';
import type { JsonText } from './json-text.ts';

/** The closed list of error codes (openapi.yaml, "Errors and retries"). */
export type ErrorCode = components['schemas']['ErrorCode'];

/** The name of an operation: its operationId in the contract. openapi-typescript lists the webhooks among them. */
export type OperationId = Exclude<keyof operations, keyof webhookOperations>;

/**
 * Parameters beside `limit` that the contract gives a default, so that a handler always finds them; a test compares the two.
 */
export interface DefaultedParameters {
  listInvoices: 'status';
  listQuotes: 'versions';
}

type None = object;

type Parameters<K extends OperationId> = operations[K]['parameters'];
type Defaulted<K extends OperationId> =
  'limit' | (K extends keyof DefaultedParameters ? DefaultedParameters[K] : never);

export type PathParameters<K extends OperationId> = Parameters<K> extends { path: infer P } ? P : None;

/** The query parameters of an operation, defaults filled in. */
export type QueryParameters<K extends OperationId> =
  Parameters<K> extends { query?: infer Q }
    ? Omit<NonNullable<Q>, Defaulted<K>> & Required<Pick<NonNullable<Q>, Defaulted<K> & keyof NonNullable<Q>>>
    : None;

type Responses<K extends OperationId> = operations[K]['responses'];
type JsonBody<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;

/** A file as it is answered: what its headers say, and the way to its bytes, which not every answer needs. */
export interface AnsweredFile {
  mediaType: string;
  contentDisposition: string;
  /** Tells the bytes from all others that may be at the same address. */
  digest: string;
  byteCount: number;
  read: () => Promise<Uint8Array>;
}

/** A successful answer in JSON, or with a file. */
type AnswerContent<Response> = Response extends { content: { 'application/pdf': unknown } }
  ? { file: AnsweredFile & { mediaType: 'application/pdf' } }
  : {
      body: JsonText<JsonBody<Response>>;
      /** The digests of what the body is put together from, so that an ETag isn't computed from the body. */
      digests?: readonly string[];
    };

/**
 * The answers that an operation's handler may give: a declared successful status with the content declared for it.
 * Errors are thrown as `AppError`.
 */
export type Reply<K extends OperationId> = {
  [Status in keyof Responses<K> & 200]: { status: Status } & AnswerContent<Responses<K>[Status]>;
}[keyof Responses<K> & 200];
