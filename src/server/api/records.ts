import { recordEnvelope } from '../../contract/json-text.ts';
import { AppError } from '../../errors.ts';
import type { Found } from '../store/lists/lists.ts';

/**
 * Answers one record.
 * @throws AppError `not_found` when there is none: the same for another company's record as for nobody's.
 */
export function answerRecord<T>(record: Found<T> | undefined) {
  if (record === undefined) throw noRecord();
  return { status: 200 as const, body: recordEnvelope(record.body), digests: [record.digest] };
}

/** The refusal of an id that the company has no record with. */
export function noRecord(): AppError {
  return new AppError('not_found', 'There is no record with this id.');
}
