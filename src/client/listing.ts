import { brokenContract } from './errors.ts';

/** One page of a list. */
export interface Page<Item> {
  /** The page's records, in the order of their ids. */
  data: Item[];
  /** Whether the list has a page after this one. */
  hasMore: boolean;
  /** The cursor to request the next page with; null on the last page. */
  nextCursor: string | null;
  /** The time of the response by the service's clock (`Date`). A sync bases its checkpoint on the first page's. */
  date: Date | undefined;
  /** The store's id (`Store-Generation`), if given; it changes when the service is restored from a backup. */
  generation: string | undefined;
}

/**
 * A list of records, requested page by page. `for await (const record of listing)` goes through all of them, and requests
 * each page when it is needed. Nothing is requested before the loop, and each new loop starts again.
 */
export interface Listing<Item> extends AsyncIterable<Item> {
  /** Returns the list's pages, for a caller that needs more than their records. */
  pages: () => AsyncIterable<Page<Item>>;
}

/**
 * Returns a list that reads its pages with the given function.
 * @param first cursor of the first page, undefined for the beginning
 */
export function createListing<Item>(
  readPage: (cursor: string | undefined) => Promise<Page<Item>>,
  first: string | undefined,
): Listing<Item> {
  async function* pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor = first;
    // Cursors are short: a million records need about a megabyte of them.
    const seen = new Set([first]);
    for (;;) {
      const page = await readPage(cursor);
      yield page;
      if (page.nextCursor === null) return;
      cursor = page.nextCursor;
      // A repeated cursor would make an endless loop.
      if (seen.has(cursor)) throw brokenContract(`The cursor ${cursor} leads back to itself.`);
      seen.add(cursor);
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}
