import type { JsonText } from '../../contract/json-text.ts';
import type { ReadList, Selection } from './lists.ts';

/** One page of a list: the records' texts, and the id after which the next page begins, null on the last page. */
export interface Page<T> {
  records: JsonText<T>[];
  /** Each record's, as far as it is known. */
  digests: (string | null)[];
  lastId: string | null;
}

/** Where a page begins (`after` an id; `''` is the beginning) and how many records it holds at most. */
export interface PageRequest {
  after: string;
  limit: number;
}

/** Reads one row more than the page holds: its presence says that there is a next page. */
export async function readPage<T>(
  read: ReadList,
  { after, limit }: PageRequest,
  selection: Selection,
): Promise<Page<T>> {
  const found = await read(selection, after, limit + 1);
  const hasMore = found.length > limit;
  const rows = hasMore ? found.slice(0, limit) : found;
  return {
    // The texts in the table of a resource were rendered from its records.
    records: rows.map(({ body }) => body as JsonText<T>),
    digests: rows.map(({ digest }) => digest),
    lastId: hasMore ? (rows.at(-1)?.id ?? null) : null,
  };
}
