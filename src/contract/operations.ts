import type { components, operations } from '../../generated/openapi.ts';
import type { operations as webhookOperations } from '../../generated/webhooks.ts';
import type { JsonText } from './json-text.ts';

/** An error code from the contract's closed list (openapi.yaml, "Errors and retries"). */
export type ErrorCode = components['schemas']['ErrorCode'];

/** An operation's `operationId` in the contract, excluding webhooks, which openapi-typescript lists as operations too. */
export type OperationId = Exclude<keyof operations, keyof webhookOperations>;

/** Parameters, other than `limit`, to which the contract gives a default, so that a handler always gets them. */
export interface DefaultedParameters {
  listInvoices: 'status';
  listQuotes: 'versions';
}

type None = object;

type Parameters<K extends OperationId> = operations[K]['parameters'];
type Defaulted<K extends OperationId> =
  'limit' | (K extends keyof DefaultedParameters ? DefaultedParameters[K] : never);

export type PathParameters<K extends OperationId> = Parameters<K> extends { path: infer P } ? P : None;

/** Query parameters of an operation, with defaults filled in. */
export type QueryParameters<K extends OperationId> =
  Parameters<K> extends { query?: infer Q }
    ? Omit<NonNullable<Q>, Defaulted<K>> & Required<Pick<NonNullable<Q>, Defaulted<K> & keyof NonNullable<Q>>>
    : None;

type Responses<K extends OperationId> = operations[K]['responses'];
type JsonBody<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;

/** A file to send in an answer: its headers' values, and a function that reads its bytes, called only if they are needed. */
export interface AnsweredFile {
  mediaType: string;
  contentDisposition: string;
  /** Digest that differs for every version of the file at one URL, for its ETag. */
  digest: string;
  byteCount: number;
  read: () => Promise<Uint8Array>;
}

/** Content of a successful answer: JSON or a file. */
type AnswerContent<Response> = Response extends { content: { 'application/pdf': unknown } }
  ? { file: AnsweredFile & { mediaType: 'application/pdf' } }
  : {
      body: JsonText<JsonBody<Response>>;
      /** Digests of the body's parts, from which the ETag is computed; absent if it is computed from the body. */
      digests?: readonly string[];
    };

/**
 * An operation's possible successful answers: a declared status with the content declared for it.
 * Errors are thrown as `AppError`.
 */
export type Reply<K extends OperationId> = {
  [Status in keyof Responses<K> & 200]: { status: Status } & AnswerContent<Responses<K>[Status]>;
}[keyof Responses<K> & 200];
