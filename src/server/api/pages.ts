import { type JsonText, listEnvelope } from '../../contract/json-text.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Page, PageRequest } from '../store/lists/lists.ts';
import { type Filters, openCursor, sealCursor } from './cursors.ts';

/** All that was asked of a list: whatever isn't the page is a filter, to which a cursor belongs. */
type ListParameters = Filters & { limit: number; cursor?: string | undefined };

/**
 * The page that a request asks for.
 * @throws AppError `invalid_cursor`.
 */
export function requestedPage(
  operationId: OperationId,
  { limit, cursor, ...filters }: ListParameters,
): PageRequest {
  return { after: cursor === undefined ? '' : openCursor(operationId, filters, cursor), limit };
}

/** Answers a page, with the cursor of the next one. */
export function answerPage<T>(
  operationId: OperationId,
  { limit: _limit, cursor: _cursor, ...filters }: ListParameters,
  { records, lastId }: Page<T>,
): {
  status: 200;
  body: JsonText<{ data: T[]; nextCursor: string | null }>;
  digests: (string | null)[];
} {
  const nextCursor = lastId === null ? null : sealCursor(operationId, filters, lastId);
  return {
    status: 200,
    body: listEnvelope(
      records.map(({ body }) => body),
      nextCursor,
    ),
    // Includes 'page', so that an empty page's ETag can't equal a record's.
    digests: ['page', ...records.map(({ digest }) => digest), nextCursor ?? 'end'],
  };
}
