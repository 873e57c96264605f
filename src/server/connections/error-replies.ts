import type { ErrorCode } from '../../contract/operations.ts';
import { AppError, unavailable } from '../../errors.ts';

export interface ErrorReply {
  status: number;
  code: ErrorCode;
  body: string;
  headers: Record<string, string>;
}

/** The HTTP status of each error code (openapi.yaml, "Errors and retries"). */
export const errorStatuses: Record<ErrorCode, number> = {
  invalid_parameter: 400,
  invalid_cursor: 400,
  invalid_request: 400,
  invalid_key: 401,
  revoked_key: 401,
  missing_scope: 403,
  api_not_enabled: 403,
  company_unavailable: 403,
  module_not_licensed: 403,
  not_found: 404,
  method_not_allowed: 405,
  rate_limited: 429,
  unavailable: 503,
  invoicing_not_enabled: 503,
};

/** Seconds in the Retry-After header of a fault of unknown duration. */
const UNAVAILABLE_SECONDS = 5;

/**
 * Returns the error response for anything thrown. Anything but an `AppError` is an internal fault, for which the response is
 * a fixed sentence, and the cause is only logged.
 */
export function errorReply(thrown: unknown): ErrorReply {
  const error = thrown instanceof AppError ? thrown : unavailable({ cause: thrown });
  const status = errorStatuses[error.code];
  const headers: Record<string, string> = {};
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  const retryAfterSeconds =
    error.retryAfterSeconds ?? (error.code === 'unavailable' ? UNAVAILABLE_SECONDS : undefined);
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  return { status, code: error.code, body: errorBody(error.code, error.message), headers };
}

/** Returns the JSON body of an error response (openapi.yaml, "Errors and retries"). */
export function errorBody(code: ErrorCode, message: string): string {
  return JSON.stringify({ error: { code, message } });
}
