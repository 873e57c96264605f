import { setTimeout as pause } from 'node:timers/promises';

/**
 * Does some work again and again, with pauses between, until it is disposed of; then it waits for what is under way. Work
 * that fails is done again after the pause.
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

/** Does work for each of some keys, a few at a time. One that fails keeps no other back. */
export async function inLanes<Key>(
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
