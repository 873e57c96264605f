/** The limits of a batch. `size` is the sum of sizes from which on it takes no more. */
interface Limits<T> {
  count: number;
  size: number;
  sizeOf: (item: T) => number;
}

/** Takes together what has come, so that what comes for ever goes on at once, and what is all there in full batches. */
export async function* takenTogether<T>(items: AsyncIterable<T>, limits: Limits<T>): AsyncGenerator<T[]> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    yield* batchesFrom(iterator, limits);
  } finally {
    // The source ends with its reader; one that is waited for ends by itself.
    iterator.return?.().catch(() => undefined);
  }
}

async function* batchesFrom<T>(iterator: AsyncIterator<T>, limits: Limits<T>): AsyncGenerator<T[]> {
  const read = () => {
    const next = iterator.next();
    // A failure is met where the item is awaited, which may be after the batch before was sent.
    next.catch(() => undefined);
    return next;
  };
  let next = read();
  for (;;) {
    const first = await next;
    if (first.done) return;
    const batch = [first.value];
    let size = limits.sizeOf(first.value);
    next = read();
    while (batch.length < limits.count && size < limits.size) {
      const come = await Promise.race([next, turn()]);
      if (come === undefined || come.done) break;
      batch.push(come.value);
      size += limits.sizeOf(come.value);
      next = read();
    }
    yield batch;
  }
}

/** A turn of the event loop, by web standards: workers have no other. */
function turn(): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined));
  });
}
