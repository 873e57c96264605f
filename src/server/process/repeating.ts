import { setTimeout as pause } from 'node:timers/promises';

/**
 * Repeats work, with a pause after each time, until disposed of; disposal waits for work in progress. Failed work is repeated
 * after the pause.
 */
export function keepDoing(
  work: (signal: AbortSignal) => Promise<unknown>,
  { everyMs, onError }: { everyMs: number; onError: (error: unknown) => void },
): AsyncDisposable {
  const stop = new AbortController();
  const running = (async () => {
    while (!stop.signal.aborted) {
      await work(stop.signal).catch(onError);
      await pause(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** Does work for each key, for a few keys at a time. A failure doesn't hold up the other keys. */
export async function forEachConcurrently<Key>(
  keys: readonly Key[],
  {
    atOnce,
    signal,
    onError,
  }: { atOnce: number; signal: AbortSignal | undefined; onError: (error: unknown, key: Key) => void },
  work: (key: Key) => Promise<unknown>,
): Promise<void> {
  const left = keys.values();
  const lane = async () => {
    for (const key of left)
      if (!signal?.aborted) await work(key).catch((error: unknown) => onError(error, key));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
