import { type JsonText, listEnvelope } from '../../contract/json-text.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { PageRequest } from '../store/lists/lists.ts';
import type { Page } from '../store/lists/pages.ts';
import { type Filters, openCursor, sealCursor } from './cursors.ts';

/**
 * Answers a list: opens the cursor, has the page read, and seals the cursor of the next one.
 * @param parameters all that was asked: whatever isn't the page is a filter, to which a cursor belongs.
 * @throws AppError `invalid_cursor`.
 */
export async function answerPage<T>(
  operationId: OperationId,
  parameters: Filters & { limit: number; cursor?: string | undefined },
  read: (page: PageRequest) => Promise<Page<T>>,
): Promise<{
  status: 200;
  body: JsonText<{ data: T[]; nextCursor: string | null }>;
  digests: (string | null)[];
}> {
  const { limit, cursor, ...filters } = parameters;
  const after = cursor === undefined ? '' : openCursor(operationId, filters, cursor);
  const { records, digests, lastId } = await read({ after, limit });
  const nextCursor = lastId === null ? null : sealCursor(operationId, filters, lastId);
  return {
    status: 200,
    body: listEnvelope(records, nextCursor),
    // Includes 'page', so that an empty page's ETag can't equal a record's.
    digests: ['page', ...digests, nextCursor ?? 'end'],
  };
}
