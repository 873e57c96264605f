/** The number of requests made at once, so that a slow connection doesn't keep a client below its rate limit. */
const AT_ONCE = 4;

/**
 * Runs a function on all items, a few at a time.
 * @returns the results in the order of the items.
 * @throws the first error, after which no further items are started.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const workOff = async () => {
    for (let index = next++; index < items.length; index = next++) {
      try {
        results[index] = await work(items[index] as Item);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, workOff));
  return results;
}
