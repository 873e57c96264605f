import { recordEnvelope } from '../../contract/json-text.ts';
import { AppError } from '../../errors.ts';
import type { Found } from '../store/lists/lists.ts';

/**
 * Returns the answer with a single record.
 * @throws AppError `not_found` if there is none; another company's record is treated as if it didn't exist.
 */
export function answerRecord<T>(record: Found<T> | undefined) {
  if (record === undefined) throw noRecord();
  return { status: 200 as const, body: recordEnvelope(record.body), digests: [record.digest] };
}

/** Returns the error for an id that no record of the company has. */
export function noRecord(): AppError {
  return new AppError('not_found', 'There is no record with this id.');
}
