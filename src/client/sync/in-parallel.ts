/** Requests that are made at once, so that a slow line doesn't keep a client from using its allowance. */
const AT_ONCE = 4;

/**
 * Does the same to all items, a few at a time.
 * @returns the results in the order of the items.
 * @throws the first failure, after which nothing more is begun.
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
