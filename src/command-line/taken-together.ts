/** The limits of a batch: its maximum number of items, and the total size at which it takes no further items. */
interface Limits<T> {
  count: number;
  size: number;
  sizeOf: (item: T) => number;
}

/** Groups the available items into batches: a slow stream is passed on at once, and a ready list in full batches. */
export async function* batched<T>(items: AsyncIterable<T>, limits: Limits<T>): AsyncGenerator<T[]> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    yield* batchesFrom(iterator, limits);
  } finally {
    // Closes the source. That isn't awaited, because a source that is waiting for an item closes later.
    iterator.return?.().catch(() => undefined);
  }
}

async function* batchesFrom<T>(iterator: AsyncIterator<T>, limits: Limits<T>): AsyncGenerator<T[]> {
  const read = () => {
    const next = iterator.next();
    // An error is handled where the item is awaited, perhaps only after the previous batch has been sent.
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

/** Waits one turn of the event loop, by a timer because workers have no `setImmediate`. */
function turn(): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined));
  });
}
