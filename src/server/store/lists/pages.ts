import type { JsonText } from '../../../contract/json-text.ts';
import type { Connection } from '../dialects/dialect.ts';
import { type ListedRow, type PageRequest, readList, type Selection } from './lists.ts';

/** One page of a list: the records' texts, and the id after which the next page begins, null on the last page. */
export interface Page<T> {
  records: JsonText<T>[];
  /** Each record's, as far as it is known. */
  digests: (string | null)[];
  lastId: string | null;
}

/**
 * Reads one row more than the page holds: its presence says that there is a next page.
 * @param present makes of a stored row what is served of it.
 */
export async function readPage<T>(
  db: Connection,
  { after, limit }: PageRequest,
  selection: Selection,
  present: (row: ListedRow) => ListedRow = (row) => row,
): Promise<Page<T>> {
  const found = await readList(db, selection, { after, limit: limit + 1 });
  const rows = found.slice(0, limit).map(present);
  return {
    // The texts in the table of a resource were rendered from its records.
    records: rows.map(({ body }) => body as JsonText<T>),
    digests: rows.map(({ digest }) => digest),
    lastId: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
  };
}
