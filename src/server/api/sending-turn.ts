/** Answers that are sent together at most, so that none waits more than a millisecond for others. */
const TOGETHER = 16;

/**
 * Has the answers of a turn of the event loop sent together at its end. Sending leaves little in the processor's caches
 * of what the next answer needs: one by one, those of eight connections at once took a fifth more of the server's time.
 * An answer that is alone in its turn waits for no other.
 * @returns a function whose promise comes true when an answer is to be sent.
 */
export function createSendingTurn(): () => Promise<void> {
  let begun: PromiseWithResolvers<void> | undefined;
  let count = 0;
  const end = () => {
    begun?.resolve();
    begun = undefined;
  };
  return () => {
    if (!begun) {
      begun = Promise.withResolvers();
      count = 0;
      setImmediate(end);
    }
    const { promise } = begun;
    count += 1;
    if (count === TOGETHER) end();
    return promise;
  };
}
