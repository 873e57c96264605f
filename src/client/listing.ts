import { brokenContract } from './errors.ts';

/** One page of a list. */
export interface Page<Item> {
  /** The records of the page, in the order of their ids. */
  data: Item[];
  /** Whether another page follows. */
  hasMore: boolean;
  /** The cursor of the next page; null on the last one. */
  nextCursor: string | null;
  /** The time of the answer by the service's clock (`Date`). The checkpoint of a sync is made of the first page's. */
  date: Date | undefined;
  /** Names the store that the records come from (`Store-Generation`). It differs once the service was put back from a backup. */
  generation: string | undefined;
}

/**
 * A list. `for await (const record of listing)` goes through all of its records, and asks for the next page when it is
 * needed. Nothing is asked before that, and each new loop starts again.
 */
export interface Listing<Item> extends AsyncIterable<Item> {
  /** The pages, one after the other. */
  pages: () => AsyncIterable<Page<Item>>;
}

/**
 * Makes a list of a function that reads one page.
 * @param first cursor of the first page, undefined for the beginning
 */
export function createListing<Item>(
  readPage: (cursor: string | undefined) => Promise<Page<Item>>,
  first: string | undefined,
): Listing<Item> {
  async function* pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor = first;
    // Cursors are short: those of a million records take a megabyte.
    const seen = new Set([first]);
    for (;;) {
      const page = await readPage(cursor);
      yield page;
      if (page.nextCursor === null) return;
      cursor = page.nextCursor;
      // A repeated cursor would never end.
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
