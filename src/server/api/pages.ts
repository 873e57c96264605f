import { hash } from 'node:crypto';

import { listEnvelope } from '../../contract/json-text.ts';
import type { OperationId } from '../../contract/operations.ts';
import { AppError } from '../../errors.ts';
import type { ListPage, PageRequest } from '../store/lists/lists.ts';

/** Filters of a list by parameter name; an undefined one doesn't filter. */
type Filters = Readonly<Record<string, string | number | undefined>>;

/** Parameters of a list. All except `limit` and `cursor` are filters, and a cursor is only valid with the same filters. */
type ListParameters = Filters & { limit: number; cursor?: string | undefined };

const VERSION = '1';
/** Length of a cursor's nine-byte digest in base64url. A multiple of three bytes needs no padding before the id. */
const DIGEST_CHARACTERS = 12;

/**
 * Returns the place and size of the page that a request asks for.
 * @throws AppError `invalid_cursor`.
 */
export function requestedPage(
  operationId: OperationId,
  { limit, cursor, ...filters }: ListParameters,
): PageRequest {
  return { after: cursor === undefined ? '' : openCursor(operationId, filters, cursor), limit };
}

/**
 * Answers a request for a list with one page and the cursor of the next page.
 * @throws AppError `invalid_cursor`.
 */
export async function answerPage<T>(
  operationId: OperationId,
  { limit, cursor, ...filters }: ListParameters,
  read: (page: PageRequest) => Promise<ListPage<T>>,
) {
  const { records, lastId } = await read(requestedPage(operationId, { limit, cursor, ...filters }));
  const nextCursor = lastId === null ? null : sealCursor(operationId, filters, lastId);
  return {
    status: 200 as const,
    body: listEnvelope(
      records.map(({ body }) => body),
      nextCursor,
    ),
    // Includes 'page' so that an empty page's ETag can't equal that of a record.
    digests: ['page', ...records.map(({ digest }) => digest), nextCursor ?? 'end'],
  };
}

/**
 * Returns the cursor of the page that begins after `lastId`: the version, then a digest and the id, both in base64url.
 * The digest ties the cursor to its operation and filters, and reveals any change. It needs no secret, because a forged
 * cursor only gives access to a page of the forger's own company's list.
 */
export function sealCursor(operationId: OperationId, filters: Filters, lastId: string): string {
  return VERSION + digest(operationId, filters, lastId) + Buffer.from(lastId, 'utf8').toString('base64url');
}

/**
 * Returns the id after which a cursor's page begins.
 * @throws AppError `invalid_cursor` unless it is a `nextCursor` from this operation with these filters.
 */
function openCursor(operationId: OperationId, filters: Filters, cursor: string): string {
  const lastId = Buffer.from(cursor.slice(VERSION.length + DIGEST_CHARACTERS), 'base64url').toString('utf8');
  if (cursor !== sealCursor(operationId, filters, lastId)) {
    throw new AppError(
      'invalid_cursor',
      'cursor does not belong to this list with these filters. Start again without it.',
    );
  }
  return lastId;
}

function digest(operationId: OperationId, filters: Filters, lastId: string): string {
  const names = Object.keys(filters)
    .filter((name) => filters[name] !== undefined)
    .sort();
  const text = names.map((name) => `${name}=${filters[name]}`).join('&');
  return hash('sha256', `${VERSION}\n${operationId}\n${text}\n${lastId}`, 'base64url').slice(
    0,
    DIGEST_CHARACTERS,
  );
}
