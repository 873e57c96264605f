import type { ErrorCode } from '../contract/operations.ts';

/** The fields of an `ApiError` except its message. */
export type ApiErrorDetail = Pick<ApiError, 'status' | 'code' | 'requestId' | 'retryAfter'>;

/**
 * An error response from the service, after any retries that could have helped. Handle it by its `code`. A successful
 * response that breaks the contract is reported this way too, with status 200 and no code.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The response's HTTP status. */
  readonly status: number;
  /** The contract's error code; undefined if the response didn't come from the API, but from a proxy for example. */
  readonly code: ErrorCode | undefined;
  /** The response's id (`X-Request-Id`), undefined if it has none. Quote it when you ask for help. */
  readonly requestId: string | undefined;
  /** The seconds to wait before the next attempt; undefined if the response doesn't give them. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, code, requestId, retryAfter }: ApiErrorDetail) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** Returns the error for a successful response that breaks the contract. */
export function brokenContract(message: string, requestId?: string): ApiError {
  return new ApiError(message, { status: 200, code: undefined, requestId, retryAfter: undefined });
}

/** An error for a missing response: the service was unreachable, the connection broke or time ran out. See `cause`. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** The reason why a webhook was rejected. */
export type WebhookErrorCode =
  /** A `Service-Signature` header that is missing or not of the form `t=<unix seconds>,v1=<hex>`. */
  | 'no_signature'
  /** A signature whose timestamp is too far from this machine's clock. */
  | 'wrong_time'
  /** A signature that was made with another secret or for another body. */
  | 'wrong_signature'
  /** A valid signature for a body that isn't an event. */
  | 'no_event';

/** An error for a webhook that must be rejected: answer it with 401 and do nothing else. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  /** The reason why the webhook was rejected. */
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
