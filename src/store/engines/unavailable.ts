import { AppError } from '../../errors.ts';

/** The error for callers while the database can't be used; the database's own reason is the cause, for log and operator. */
export function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The service is temporarily unavailable. Retry shortly.', { cause });
}
