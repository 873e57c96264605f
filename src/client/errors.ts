import type { ErrorCode } from '../contract/operations.ts';

/** The details of an answer with an error. */
export type ApiErrorDetail = Pick<ApiError, 'status' | 'code' | 'requestId' | 'retryAfter'>;

/**
 * The service answered with an error, and trying again wouldn't have helped or didn't. Decide by `code`. An answer that says
 * it is right and breaks the contract is such an error too, with status 200 and no code.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** The contract's code. It is undefined where something else than the API answered, a proxy for example. */
  readonly code: ErrorCode | undefined;
  /** The id of the answer (`X-Request-Id`). Quote it when you ask about the answer. */
  readonly requestId: string | undefined;
  /** The seconds to wait before the next try, where the answer says so. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, code, requestId, retryAfter }: ApiErrorDetail) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** The error for an answer that says it is right and breaks the contract. */
export function brokenContract(message: string, requestId?: string): ApiError {
  return new ApiError(message, { status: 200, code: undefined, requestId, retryAfter: undefined });
}

/** No answer came: the service couldn't be reached, the connection broke, or time ran out. `cause` says which. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** The reason for which a webhook was not believed. */
export type WebhookErrorCode =
  /** The header `Service-Signature` is missing or has another form than `t=<unix seconds>,v1=<hex>`. */
  | 'no_signature'
  /** The time of the signature is too far from this machine's clock. */
  | 'wrong_time'
  /** The signature belongs to another secret or another body. */
  | 'wrong_signature'
  /** The signature is right, but the body isn't an event. */
  | 'no_event';

/** A webhook that must not be believed: answer it with 401 and do nothing else. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  /** The reason. */
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
